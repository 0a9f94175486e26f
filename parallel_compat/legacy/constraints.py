"""`RadialConstraint` of tf.keras 1.13 to 2.2, which Keras dropped."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf


@keras.saving.register_keras_serializable(package="parallel_compat")
class RadialConstraint(keras.constraints.Constraint):  # type: ignore[misc]  # Keras carries no types
    """Let the kernels of a Conv2D be the same at the same distance from their middle, counted in rings of squares.

    A ring has the weight that stands on the diagonal, below the middle: with `n` rows, ring `i` that of row and column
    `n // 2 + i`; the middle itself is taken of row and column `n // 2 - 1`, as TensorFlow 2.2 took it.

    >>> kernel = tf.reshape(tf.range(9.0), (3, 3, 1, 1))
    >>> RadialConstraint()(kernel)[:, :, 0, 0].numpy().tolist()
    [[4.0, 4.0, 4.0], [4.0, 0.0, 4.0], [4.0, 4.0, 4.0]]
    """

    def __call__(self, w: Any) -> Any:
        """Return the constrained kernel, of shape (height, width, channels, filters) as the one given."""
        w = tf.convert_to_tensor(w)
        if w.shape.rank != 4:
            raise ValueError(f"The weight tensor must be of rank 4, but is of shape: {w.shape}")
        half, is_odd = int(w.shape[0]) // 2, int(w.shape[0]) % 2
        ring = w[half - 1 : half, half - 1 : half]
        if not is_odd:
            ring = tf.tile(ring, [2, 2, 1, 1])
        for i in range(0 if is_odd else 1, half):
            around = ring.shape[0] + 2
            inside = tf.pad(tf.ones_like(ring), [[1, 1], [1, 1], [0, 0], [0, 0]])
            outer = tf.tile(w[half + i : half + i + 1, half + i : half + i + 1], [around, around, 1, 1])
            ring = tf.pad(ring, [[1, 1], [1, 1], [0, 0], [0, 0]]) + (1 - inside) * outer
        return ring
