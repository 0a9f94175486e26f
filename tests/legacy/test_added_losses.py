"""Losses that are added to a functional model, from its own tensors."""

from __future__ import annotations

import keras
import numpy as np
import pytest

import parallel_compat
from parallel_compat.legacy.added_losses import add_loss

X = np.random.default_rng(0).normal(size=(8, 3)).astype("float32")


def network():
    keras.utils.set_random_seed(0)
    x = keras.Input((3,))
    y = keras.layers.Dense(3)(keras.layers.Dense(4, activation="tanh")(x))
    return keras.Model(x, y)


@pytest.mark.parametrize("gpus", [1, 2])
def test_it_trains_as_the_same_loss_of_compile_does(gpus):
    expected, model = network(), network()
    expected.compile("sgd", "mse")
    add_loss(model, keras.ops.mean((model.input - model.output) ** 2) / 2)
    add_loss(model, [keras.ops.mean((model.input - model.output) ** 2) / 4, lambda: 0.25])
    add_loss(model, keras.ops.mean((model.input - model.output) ** 2) / 4)
    trained = model if gpus == 1 else parallel_compat.parallelize(model, gpus=gpus)
    trained.compile("sgd")
    losses = trained.fit(X, None, batch_size=4, epochs=2, shuffle=False, verbose=0).history["loss"]
    wanted = expected.fit(X, X, batch_size=4, epochs=2, shuffle=False, verbose=0).history["loss"]
    np.testing.assert_allclose(losses, np.add(wanted, 0.25), rtol=1e-5)
    np.testing.assert_allclose(model.predict(X, verbose=0), expected.predict(X, verbose=0), rtol=1e-4, atol=1e-6)


def test_layers_of_the_loss_are_trained():
    model = network()
    critic = keras.layers.Dense(1)
    add_loss(model, keras.ops.mean(critic(model.output) ** 2))
    model.compile("sgd")
    before = critic.get_weights()[0]
    model.fit(X, None, verbose=0)
    assert np.abs(critic.get_weights()[0] - before).max() > 1e-6


def test_the_method_of_another_class_is_called():
    class Own(keras.layers.Layer):
        def call(self, x):
            add_loss(self, keras.ops.mean(x))
            return x

    layer = Own()
    layer(X)
    assert len(layer.losses) == 1
