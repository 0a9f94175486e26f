"""Classes of which TensorFlow had two versions side by side: the spelling says which, whatever TensorFlow it was.

`tf.keras.layers.LSTM` was the first in TensorFlow 1 and the second in 2; `tf.compat.v1.keras.layers.LSTM` and
`tensorflow.python.keras.layers.recurrent.LSTM` were always the first. The optimizers that Keras 2.2.4 had stood in
`tensorflow.python.keras.optimizers` until TensorFlow 2.3. Read in TensorFlow 1.15.5 and 2.2.3.
"""

from __future__ import annotations

from functools import cache

from parallel_compat.names.eras import Era
from parallel_compat.names.table import root_of

_RECURRENT = ("LSTM", "GRU", "LSTMCell", "GRUCell")
_NORMALIZATION = "BatchNormalization"
_OPTIMIZERS = ("SGD", "RMSprop", "Adagrad", "Adadelta", "Adam", "Adamax", "Nadam")
# Whose defaults and numbers each version has.
_PRIVATE: dict[str, Era] = {
    **{f"layers.recurrent.{name}": Era.TF_KERAS_1_15 for name in _RECURRENT},
    **{f"layers.recurrent_v2.{name}": Era.TF_KERAS_2_2 for name in _RECURRENT},
    f"layers.normalization.{_NORMALIZATION}": Era.TF_KERAS_1_15,
    f"layers.normalization_v2.{_NORMALIZATION}": Era.TF_KERAS_2_2,
    **{f"optimizers.{name}": Era.KERAS_2_2_4 for name in _OPTIMIZERS},
}
_VERSIONS: dict[str, dict[str, Era]] = {
    "tensorflow.python.keras": _PRIVATE,
    "tensorflow.compat.v1.keras": {f"layers.{name}": Era.TF_KERAS_1_15 for name in (*_RECURRENT, _NORMALIZATION)},
    "tensorflow.compat.v2.keras": {f"layers.{name}": Era.TF_KERAS_2_2 for name in (*_RECURRENT, _NORMALIZATION)},
}


@cache
def era_of_path(path: str) -> Era | None:
    """Return the era whose defaults the class of a path always had, or None where the TensorFlow decided.

    >>> era_of_path("tensorflow.compat.v1.keras.layers.LSTM").value
    'tf.keras-1.15'
    >>> era_of_path("tensorflow.keras.layers.LSTM")
    """
    if path.startswith("tf."):
        path = "tensorflow" + path[2:]
    root = root_of(path)
    return None if root is None else _VERSIONS.get(root, {}).get(path[len(root) + 1 :])
