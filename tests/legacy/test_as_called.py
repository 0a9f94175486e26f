"""What a script sets on layers that were called: in no graph that is there, in what is called next."""

from __future__ import annotations

import keras
import numpy as np
import pytest

import parallel_compat
from parallel_compat import parallelize

X = np.array([[1.0], [-2.0], [3.0], [-4.0]], "float32")


def _model(layers):
    inputs = layers.Input((1,))
    inner = layers.Dense(1, use_bias=False, kernel_initializer="ones", activation="relu", name="inner")
    return keras.models.Model(inputs, layers.BatchNormalization(epsilon=0.0, name="norm")(inner(inputs)))


def _layers(era):
    if era == "keras-2.2.4":
        from keras import layers
    else:
        from tensorflow.keras import layers
    return layers


def _halved(values):
    return values / 2


@pytest.mark.parametrize("called_before", [False, True])
def test_an_activation_that_is_set_is_in_later_calls_alone(era, called_before):
    layers = _layers(era)
    model = _model(layers)
    if called_before:
        model.predict(X, verbose=0)
    model.get_layer("inner").activation = _halved
    changed = np.maximum(X, 0) if era != "tf.keras-2.2" or called_before else X / 2
    np.testing.assert_allclose(model.predict(X, verbose=0), changed)
    inputs = layers.Input((1,))
    again = keras.models.Model(inputs, layers.Flatten()(model(inputs)))
    np.testing.assert_allclose(again.predict(X, verbose=0), X / 2)
    model.get_layer("inner").activation = np.negative
    np.testing.assert_allclose(model.predict(X, verbose=0), changed)
    assert model.get_layer("inner").activation is np.negative


def test_statistics_move_as_the_layer_was_called(era):
    layers = _layers(era)
    model = _model(layers)
    model.get_layer("norm").momentum = 0.5
    model.compile(keras.optimizers.SGD(0.0), "mse")
    for factor in (1.0, 2.0):
        model.train_on_batch(factor * X, X)
    mean = model.get_layer("norm").get_weights()[2]
    # Batches of means 1 and 2: with 0.99, in Keras 2.2.4 without the bias of the first steps, and with 0.5.
    wanted = {"keras-2.2.4": 0.0299 / (1 - 0.99**2), "tf.keras-1.15": 0.0299, "tf.keras-2.2": 1.25}
    np.testing.assert_allclose(mean, wanted[era], rtol=1e-4)


@pytest.mark.parametrize("era", ["keras-2.2.4", "tf.keras-1.15"], indirect=True)
def test_a_parallel_model_has_what_its_template_had_when_it_was_made(era):
    layers = _layers(era)
    model = _model(layers)
    model.get_layer("inner").activation = _halved
    parallel = parallelize(model, gpus=2)
    model.get_layer("inner").activation = np.negative
    np.testing.assert_allclose(parallel.predict(X, verbose=0), X / 2)
    np.testing.assert_allclose(model.predict(X, verbose=0), np.maximum(X, 0))


def test_a_slope_is_set_by_its_old_name(era):
    layers = _layers(era)
    inputs, leaky = layers.Input((1,)), layers.LeakyReLU(0.5)
    model = keras.models.Model(inputs, leaky(inputs))
    assert leaky.alpha == 0.5
    assert leaky.alpha.dtype == "float32"
    leaky.alpha = 0.25
    assert leaky.get_config()["alpha"] == 0.25
    now = 0.25 if era == "tf.keras-2.2" else 0.5
    np.testing.assert_allclose(model.predict(X, verbose=0), np.maximum(X, now * X))
    again = keras.models.Model(inputs, leaky(inputs))
    np.testing.assert_allclose(again.predict(X, verbose=0), np.maximum(X, 0.25 * X))
    for layer in layers.SeparableConv2D(2, 2), layers.DepthwiseConv2D(2):
        assert layer.kernel_initializer is not None
        assert layer.kernel_regularizer is layer.kernel_constraint is None


def test_what_call_keeps_on_its_layer_is_no_change():
    with parallel_compat.legacy_names(era="keras-2.2.4"):

        class Counting(keras.layers.Layer):
            def __init__(self):
                super().__init__()
                self.scale = 1.0

            def call(self, inputs):
                self.scale = self.scale * 2.0
                return inputs * self.scale

        layer, inputs = Counting(), keras.layers.Input((1,))
        model = keras.models.Model(inputs, layer(layer(inputs)))
        np.testing.assert_allclose(model.predict(X, verbose=0), X * 8)
