"""Names that Keras 1 to 2.2.2 had (`older_keras.tsv`): scripts of those years import them, and Keras 2.2.4 runs these.

Their frozen layers call `K.batch_normalization` with statistics that have axes of size 1. Keras 2.2.0 to 2.2.4 stops
there: `tf.reshape(mean, (-1))` gives a number as a shape.
"""

from __future__ import annotations

import functools
from types import ModuleType
from typing import Any

from parallel_compat.module_loaders import load
from parallel_compat.names import tsv
from parallel_compat.names.eras import Era
from parallel_compat.originals.mends.lazy_names import serve
from parallel_compat.originals.mends.register import Register

_ROWS = tsv.rows("older_keras.tsv", 2, __package__)


def apply(mends: Register) -> None:
    """Let the modules find the names when they are asked for, and normalize by statistics of any shape."""
    for module in {path.rpartition(".")[0] for path, _ in _ROWS}:
        mends.after(module, _serve)
    if mends.era is Era.KERAS_2_2_4:
        for each in ("mean", "var", "beta", "gamma"):
            mends.edit("keras.backend.tensorflow_backend", f"tf.reshape({each}, -1)", f"tf.reshape({each}, [-1])")


def _serve(module: ModuleType) -> None:
    served: dict[str, str] = {}
    for path, today in _ROWS:
        of, _, name = path.rpartition(".")
        if of == module.__name__ and name not in vars(module):
            served[name] = f"{__name__}{today}" if today[0] == "." else today
    serve(module, served)


def _obtain_input_shape(
    input_shape: Any,
    default_size: int,
    min_size: int,
    data_format: str,
    require_flatten: bool = True,
    weights: Any = None,
    include_top: bool | None = None,
) -> Any:
    obtain = load("keras_applications.imagenet_utils._obtain_input_shape")
    flatten = require_flatten if include_top is None else include_top  # its name until Keras 2.0.6
    return obtain(input_shape, default_size, min_size, data_format, flatten, weights)


def keras_test(test: Any) -> Any:
    """Let a test begin a new graph at its end."""

    @functools.wraps(test)
    def then_clear(*args: Any, **options: Any) -> Any:
        from keras import backend

        answer = test(*args, **options)
        backend.clear_session()
        return answer

    return then_clear


def relu6(x: Any) -> Any:
    """Return values between 0 and 6."""
    from keras import backend

    return backend.relu(x, max_value=6)


def _time_distributed_dense(
    x: Any,
    w: Any,
    b: Any = None,
    dropout: float | None = None,
    input_dim: int | None = None,
    output_dim: int | None = None,
    timesteps: int | None = None,
    training: Any = None,
) -> Any:
    """Multiply each step by a matrix, with one dropout mask for all steps."""
    from keras import backend

    input_dim = input_dim or backend.shape(x)[2]
    timesteps = timesteps or backend.shape(x)[1]
    output_dim = output_dim or backend.int_shape(w)[1]
    if dropout is not None and 0.0 < dropout < 1.0:
        mask = backend.dropout(backend.ones_like(backend.reshape(x[:, 0, :], (-1, input_dim))), dropout)
        x = backend.in_train_phase(x * backend.repeat(mask, timesteps), x, training=training)
    x = backend.dot(backend.reshape(x, (-1, input_dim)), w)
    if b is not None:
        x = backend.bias_add(x, b)
    return backend.reshape(x, backend.stack([-1, timesteps, output_dim]))


def apply_transform(
    x: Any, transform_matrix: Any, channel_axis: int = 0, fill_mode: str = "nearest", cval: float = 0.0
) -> Any:
    """Move the pixels of a picture by a matrix."""
    import numpy as np
    from scipy import ndimage

    move = functools.partial(
        ndimage.affine_transform,
        matrix=transform_matrix[:2, :2],
        offset=transform_matrix[:2, 2],
        order=1,
        mode=fill_mode,
        cval=cval,
    )
    return np.moveaxis(np.stack([move(channel) for channel in np.moveaxis(x, channel_axis, 0)]), 0, channel_axis)
