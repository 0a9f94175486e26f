"""`hard_sigmoid` as Keras 2 computed it; Keras 3's function of that name is another."""

from __future__ import annotations

from typing import Any

import keras


@keras.saving.register_keras_serializable(package="parallel_compat")  # type: ignore[untyped-decorator]
def hard_sigmoid(x: Any) -> Any:
    """Compute clip(0.2 x + 0.5, 0, 1), the gates of Keras 2's `LSTM` and `GRU`.

    >>> import numpy as np
    >>> [round(float(v), 2) for v in hard_sigmoid(np.array([-3.0, 0.0, 1.0]))]
    [0.0, 0.5, 0.7]

    Keras 3's `hard_sigmoid` is clip(x / 6 + 0.5, 0, 1).
    """
    return keras.ops.clip(0.2 * keras.ops.convert_to_tensor(x) + 0.5, 0.0, 1.0)


# As a config names it, also one of a layer inside a wrapper, whose names of functions Keras does not look up.
REGISTERED_HARD_SIGMOID = {
    "module": "builtins",
    "class_name": "function",
    "config": "parallel_compat>hard_sigmoid",
    "registered_name": "function",
}
