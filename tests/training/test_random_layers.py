"""Random layers draw different numbers on different replicas, and the same ones for the same seed."""

from __future__ import annotations

import keras
import numpy as np
import pytest

from parallel_compat import parallelize
from tests.one_device import classes, mlp


class AlwaysDropout(keras.layers.Dropout):
    def call(self, inputs, training=None):
        return super().call(inputs, training=True)


class Noise(keras.layers.Layer):
    """Draws from Keras's global generator."""

    def call(self, inputs):
        return inputs + keras.random.normal(keras.ops.shape(inputs))


def draws(layer, replicas=4, times=1):
    inputs = keras.Input((64,))
    parallel = parallelize(keras.Model(inputs, layer()(inputs)), replicas)
    return [parallel.predict_on_batch(np.ones((replicas, 64), "float32")) for _ in range(times)]


@pytest.mark.parametrize("layer", [lambda: AlwaysDropout(0.5), lambda: AlwaysDropout(0.5, seed=3), Noise])
def test_replicas_draw_differently(layer):
    (rows,) = draws(layer)
    for i in range(4):
        for j in range(i):
            assert not np.allclose(rows[i], rows[j])


@pytest.mark.parametrize("layer", [lambda: AlwaysDropout(0.5), Noise])
def test_each_batch_draws_anew(layer):
    first, second = draws(layer, times=2)
    assert not np.allclose(first, second)


@pytest.mark.parametrize("layer", [lambda: AlwaysDropout(0.5), Noise])
def test_reproducible_from_the_seed(layer):
    runs = []
    for _ in range(2):
        keras.utils.clear_session()
        keras.utils.set_random_seed(7)
        runs.append(draws(layer, times=3))
    np.testing.assert_array_equal(*runs)


def test_first_replica_draws_what_one_device_draws():
    keras.utils.set_random_seed(7)
    inputs = keras.Input((64,))
    template = keras.Model(inputs, AlwaysDropout(0.5, seed=5)(inputs))
    x = np.ones((2, 64), "float32")
    parallel = parallelize(template, 2)
    on_replicas = parallel.predict_on_batch(x)
    keras.utils.set_random_seed(7)
    inputs = keras.Input((64,))
    alone = keras.Model(inputs, AlwaysDropout(0.5, seed=5)(inputs)).predict_on_batch(x[:1])
    np.testing.assert_array_equal(on_replicas[:1], alone)


def test_wrapping_takes_no_random_numbers():
    """What is built after a parallel model starts from the same weights as without it."""
    weights = []
    for wrap in (False, True):
        keras.utils.clear_session()
        keras.utils.set_random_seed(7)
        template = mlp()
        if wrap:
            parallel = parallelize(template, 2)
            parallel.compile("sgd", "mse")
            parallel.train_on_batch(*classes(8))
        weights.append(mlp().get_weights())
    for a, b in zip(*weights, strict=True):
        np.testing.assert_array_equal(a, b)


def test_dropout_in_training():
    keras.utils.set_random_seed(7)
    inputs = keras.Input((8,))
    hidden = keras.layers.Dropout(0.5)(keras.layers.Dense(64, activation="relu")(inputs))
    parallel = parallelize(keras.Model(inputs, keras.layers.Dense(3, activation="softmax")(hidden)), 4)
    parallel.compile("adam", "categorical_crossentropy")
    losses = parallel.fit(*classes(64), epochs=30, verbose=0).history["loss"]
    assert losses[-1] < losses[0]
