"""Files whose old address is gone: `get_file` downloads them from Keras 3's address of the same file.

Addresses as in Keras 3.15 (`keras/src/datasets`, `keras/src/applications/imagenet_utils.py`). Old Keras still checks
its digests.
"""

from __future__ import annotations

from typing import Any

from parallel_compat.originals.mends.register import Register

_DATASETS = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/"
_MOVED = {
    **{f"https://s3.amazonaws.com/{kind}-datasets/": _DATASETS for kind in ("keras", "img", "text")},
    "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/": _DATASETS,
    "https://s3.amazonaws.com/deep-learning-models/image-models/": (
        "https://storage.googleapis.com/download.tensorflow.org/data/"
    ),
}


def apply(mends: Register) -> None:
    def get_file(get: Any, fname: Any, origin: Any, *args: Any, **options: Any) -> Any:
        return get(fname, address_today(origin), *args, **options)

    for module in ("keras.utils.data_utils", "tensorflow.python.keras.utils.data_utils"):
        mends.around(module, "get_file", get_file, shown=True)


def address_today(origin: str) -> str:
    """Return where a file is today.

    >>> address_today("https://s3.amazonaws.com/img-datasets/mnist.npz")
    'https://storage.googleapis.com/tensorflow/tf-keras-datasets/mnist.npz'
    """
    for old, today in _MOVED.items():
        if origin.startswith(old):
            return today + origin.removeprefix(old)
    return origin
