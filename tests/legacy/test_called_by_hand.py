"""Losses, metrics and optimizers that a program calls itself, in loops of its own: by TensorFlow 2.2's formulas."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from parallel_compat.legacy import layers


def _masked():
    """A model with a mask, and steps that it predicts 1 of, but for one of padding, of which it predicts 5."""
    from tensorflow import keras

    model = keras.Sequential([layers.Embedding(3, 1, mask_zero=True), layers.Dense(1)])
    steps = np.array([[1, 0], [2, 2]])
    model(steps)
    model.set_weights([np.array([[5.0], [1.0], [1.0]]), np.ones((1, 1)), np.zeros(1)])
    return model, tf.constant(steps)


# By TensorFlow 2.2.3, of the targets ((1, 0), (0, 1)) and the predictions ((1, 1), (0, 1)).
OF_WHOLE_NUMBERS = {
    "CosineSimilarity": 0.85355, "KLDivergence": 0.0, "Poisson": 0.75, "LogCoshError": 0.10845, "Hinge": 0.75,
    "SquaredHinge": 1.25, "CategoricalHinge": 0.5, "BinaryCrossentropy": 3.83331, "CategoricalCrossentropy": 0.34657,
}  # fmt: skip
