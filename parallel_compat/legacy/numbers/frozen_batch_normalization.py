"""A frozen `BatchNormalization` in training: Keras 2 went on normalising a batch with its own statistics.

It left the moving ones alone; Keras 3 normalises with the moving ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import keras

from parallel_compat.backend.keras3 import patch_points

if TYPE_CHECKING:
    from collections.abc import Callable


def with_own_statistics(original: Any, applies: Callable[[Any], bool]) -> Any:
    """Return `BatchNormalization.call` as it was.

    Args:
        original: today's.
        applies: called with the layer; says whether it shall do as in Keras 2.
    """

    def call(self: Any, inputs: Any, training: bool | None = None, mask: Any = None) -> Any:
        if not training or self.trainable or not applies(self):
            return original(self, inputs, training=training, mask=mask)
        dtype = keras.backend.result_type(inputs.dtype, "float32")
        x = keras.ops.cast(inputs, dtype)
        mean, variance = patch_points.moments(self, x, mask)
        offset = keras.ops.cast(self.beta, dtype) if self.center else None
        scale = keras.ops.cast(self.gamma, dtype) if self.scale else None
        outputs = keras.ops.batch_normalization(
            x, mean, variance, self.axis, offset=offset, scale=scale, epsilon=self.epsilon
        )
        return keras.ops.cast(outputs, self.compute_dtype)

    return call
