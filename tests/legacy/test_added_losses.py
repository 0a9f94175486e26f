"""Losses that are added to a functional model, from its own tensors."""

from __future__ import annotations

import keras
import numpy as np
import pytest

import parallel_compat
from parallel_compat.legacy.added_losses import add_loss, add_metric

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


@pytest.mark.parametrize("gpus", [1, 2])
def test_metrics_of_tensors_are_logged(gpus):
    model = network()
    add_metric(model, keras.ops.max(model.input, axis=-1), name="largest", aggregation="mean")
    add_loss(model, keras.ops.mean(model.output**2))
    add_metric(model, model.input, "all")
    trained = model if gpus == 1 else parallel_compat.parallelize(model, gpus=gpus)
    trained.compile("sgd")
    logs = trained.fit(X, None, batch_size=4, epochs=2, verbose=0, validation_data=(X, None)).history
    for before in ("", "val_"):
        np.testing.assert_allclose(logs[before + "largest"], [X.max(-1).mean()] * 2, rtol=1e-5)
        np.testing.assert_allclose(logs[before + "all"], [X.mean()] * 2, rtol=1e-5)


class Logging(keras.layers.Layer):
    def call(self, x):
        add_metric(self, keras.ops.mean(x), name="mean", aggregation="mean")
        return 2 * x


@pytest.mark.parametrize("gpus", [1, 2])
def test_metrics_that_a_layer_adds_are_logged(gpus):
    x = keras.Input((3,))
    model = keras.Model(x, Logging()(x))
    if gpus == 2:
        model = parallel_compat.parallelize(model, gpus=2)
    model.compile("sgd", "mse")
    logs = model.fit(X, X, batch_size=4, epochs=2, verbose=0, shuffle=False).history
    np.testing.assert_allclose(logs["mean"], [X.mean()] * 2, rtol=1e-5)


def test_metrics_without_a_name():
    class Own(keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.seen = keras.metrics.Sum("seen")

        def call(self, x):
            add_metric(self, self.seen(x))
            return x

    layer = Own()
    layer(X)
    np.testing.assert_allclose(layer.metrics[0].result(), X.sum(), rtol=1e-5)
    with pytest.raises(ValueError, match="`name` for the metric"):
        add_metric(network(), keras.Input((3,)))
    with pytest.raises(ValueError, match="`name` for the metric"):
        add_metric(Logging(), X)


def test_the_own_method_of_another_class_adds_the_metric():
    class Log:
        def add_metric(self, value, aggregation, name):
            self.value = value, name

    log = Log()
    add_metric(log, 3, name="x")
    assert log.value == (3, "x")
