"""`K.batch_dot` since Keras 2.3 and TensorFlow 2.0: of four and more axes, only the first is the batch's.

`(2, 3, 4)` with `(2, 3, 4)` gives `(2, 3, 2, 3)`, where it was `(2, 3, 3)` before.
"""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from parallel_compat.legacy.op_layers import layer_of


def batch_dot(x: Any, y: Any, axes: Any = None) -> Any:
    """Multiply `x` and `y` along one axis of each, sample by sample, as `K.batch_dot` does since Keras 2.3.

    >>> batch_dot(tf.ones((2, 5, 3, 4)), tf.ones((2, 5, 4, 6))).shape.as_list()
    [2, 5, 3, 5, 6]

    Args:
        x: a tensor of 2 or more axes, the first that of the samples; also a symbolic one.
        y: the same.
        axes: the axis of `x` and that of `y` that are summed over, or one for both; the last and the last but one
            if None.
    """
    if isinstance(x, keras.KerasTensor) or isinstance(y, keras.KerasTensor):
        return layer_of(tf.keras.backend.batch_dot, (x, y), {"axes": axes}, "keras.backend.batch_dot")
    return tf.keras.backend.batch_dot(tf.convert_to_tensor(x), tf.convert_to_tensor(y), axes=axes)
