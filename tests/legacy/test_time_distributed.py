"""`TimeDistributed` that folds time into the batch, as Keras 2's did. It changes the process, and runs in its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests import scripts

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
import keras, numpy as np, tensorflow as tf
from keras import layers
from parallel_compat.legacy.time_distributed import TimeDistributed

x = np.random.default_rng(0).normal(size=(6, 3, 2)).astype("float32") * [[[1], [5], [9]]]

inside = layers.BatchNormalization(momentum=0.5, epsilon=0)
y = TimeDistributed(inside)(x, training=True)
np.testing.assert_allclose(y, (x - x.mean((0, 1))) / x.std((0, 1)), rtol=1e-3, atol=1e-4)
np.testing.assert_allclose(inside.moving_mean, x.mean((0, 1)) / 2, rtol=1e-4, atol=1e-5)

tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})
steps = keras.Input((None, 2))
masked = layers.Masking()(steps)
network = keras.Sequential([keras.Input((2,)), layers.Dense(4), layers.Dropout(0.5), layers.Dense(3)])
model = keras.Model(steps, TimeDistributed(network)(layers.LSTM(2, return_sequences=True)(masked)))
model.compile("sgd", "mse")
for length in (3, 4, 5, 7):
    model.train_on_batch(np.ones((6, length, 2)), np.zeros((6, length, 3)))
assert model.predict(x, verbose=0).shape == (6, 3, 3)

letters = keras.Input((None, None))
words = TimeDistributed(layers.Bidirectional(layers.LSTM(3)))(layers.Embedding(9, 4, mask_zero=True)(letters))
model = keras.Model(letters, words)
mask = model.layers[-1].compute_mask(model.layers[1](np.array([[[1, 0], [0, 0]]])), np.array([[[1, 0], [0, 0]]]) > 0)
assert mask.numpy().tolist() == [[True, False]]
model.compile("sgd", "mse")
for length in (3, 4, 5):
    model.train_on_batch(np.ones((6, length, length + 2)), np.zeros((6, length, 6)))

inside = layers.Dense(1, activity_regularizer="l2")
assert TimeDistributed(inside)(x).shape == (6, 3, 1) and len(inside.losses) == 1
assert "TimeDistributed" in [layer["class_name"] for layer in model.get_config()["layers"]]

import parallel_compat.legacy.frozen_normalization
from parallel_compat.legacy.settled_trainable import settle_trainable

def normalizing():
    layer = layers.BatchNormalization(momentum=0.5, epsilon=0)
    model = keras.Sequential([keras.Input((2,)), layer])
    return model, layer

x = x[:, 0]
model, layer = normalizing()
model.trainable = False
np.testing.assert_allclose(layer(x, training=True), (x - x.mean(0)) / x.std(0), rtol=1e-3, atol=1e-4)
np.testing.assert_allclose(layer(x, training=False), x, rtol=1e-3, atol=1e-4)
assert layer.moving_mean.numpy().tolist() == [0, 0]
for first in (True, False):  # what `compile` finds, and the opposite before the first batch
    model, layer = normalizing()
    model.trainable = first
    model.compile("sgd", "mse")
    settle_trainable(model)
    model.trainable = not first
    model.train_on_batch(x, x + 1)
    assert (layer.moving_mean.numpy().tolist() == [0, 0]) is first
    assert (layer.gamma.numpy().tolist() == [1, 1]) is not first
    assert layer.trainable is not first
"""


def test_all_steps_are_one_batch(tmp_path: Path) -> None:
    ran = scripts.python("-c", SCRIPT, folder=tmp_path)
    assert ran.returncode == 0, ran.stderr[-2000:]
