"""A frozen `BatchNormalization` trains as in Keras 2 and TensorFlow 1.

It normalizes by the statistics of the batch, and keeps the moving ones; Keras 3 normalizes by these. In a GAN that is
every `BatchNormalization` of the discriminator while the generator trains. Which moving statistics move is decided by
the first batch, not by `compile`. Importing this lets each layer of the process do so; the class, and what a file says,
stay Keras's own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from keras import layers, ops

from parallel_compat.backend.patches import CORE
from parallel_compat.training.trainable_flags import own_flag


def _as_then(
    original: Callable[..., Any], self: Any, inputs: Any, training: bool | None = None, mask: Any = None
) -> Any:
    trains, moves = self.trainable, own_flag(self)
    if not training or (trains and moves):
        return original(self, inputs, training=training, mask=mask)
    if moves:
        self.trainable = True
        try:
            return original(self, inputs, training=training, mask=mask)
        finally:
            self.trainable = False
    axis = self.axis % len(inputs.shape)
    mean, variance = ops.moments(inputs, [each for each in range(len(inputs.shape)) if each != axis])
    shift, scale = self.beta if self.center else None, self.gamma if self.scale else None
    return ops.batch_normalization(inputs, mean, variance, axis, shift, scale, self.epsilon)


CORE.around(layers.BatchNormalization, "call", _as_then, why="frozen, it normalizes by the batch in migrated code")
