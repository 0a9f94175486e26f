"""The model that two workers and two local replicas train, in `test_several_workers.py`."""

from __future__ import annotations

import keras
import numpy as np
from one_device import classes


def build():
    """With moving statistics, a mask-free loss of the whole batch, a regularizer and an added loss."""
    inputs = keras.Input((8,))
    hidden = keras.layers.BatchNormalization()(inputs)
    hidden = keras.layers.Dense(6, activation="tanh", kernel_regularizer="l2", activity_regularizer="l2")(hidden)
    return keras.Model(inputs, keras.layers.Dense(3, activation="softmax", name="probs")(hidden))


def train(parallel):
    """Train on batches that are even, uneven and of one row; return history, evaluation and predictions."""
    x, y = classes(97)
    parallel.compile(keras.optimizers.Adam(0.05), "categorical_crossentropy", metrics=["accuracy"])
    history = parallel.fit(x, y, batch_size=31, epochs=3, shuffle=False, verbose=0).history
    history = {name: [float(v) for v in values] for name, values in sorted(history.items())}
    evaluation = [float(value) for value in parallel.evaluate(x, y, verbose=0)]
    return [history, evaluation, np.asarray(parallel.predict(x[:5], verbose=0)).tolist()]
