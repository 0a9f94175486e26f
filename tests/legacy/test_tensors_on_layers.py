"""Tensors that a layer keeps: what `build` computes of weights, and what `call` keeps for the next time."""

from __future__ import annotations

import keras
import numpy as np
import pytest
from keras import backend as K

pytestmark = pytest.mark.usefixtures("legacy_names")


class Parts(keras.layers.Layer):
    """A layer in the way of Keras 2's recurrent cells: `build` cuts its kernel into parts."""

    halves = None  # what the class says before it is built

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.left = None

    def build(self, input_shape):
        self.kernel = self.add_weight(
            name="kernel", shape=(int(input_shape[-1]), 2 * self.units), initializer="ones", trainable=True
        )
        self.left = self.kernel[:, : self.units]
        self.halves = [K.transpose(self.kernel)[self.units :], {"three": K.concatenate([self.left] * 2, axis=0) * 3.0}]
        self.number = K.constant([2.0])
        super().build(input_shape)

    def call(self, inputs):
        right = K.transpose(self.halves[0])
        return K.dot(inputs, self.left) + self.number * K.dot(inputs, right) + self.halves[1]["three"][0]

    def compute_output_shape(self, input_shape):
        return (input_shape[0], self.units)


def expected(x, kernel, units=2):
    return x @ kernel[:, :units] + 2 * x @ kernel[:, units:] + 3 * kernel[0, :units]


@pytest.mark.parametrize("replicas", [1, 2])
def test_what_build_computes_follows_the_weights(replicas):
    template = keras.Sequential([Parts(2, input_shape=(3,))])
    model = keras.utils.multi_gpu_model(template, replicas) if replicas > 1 else template
    kernel, x, y = np.arange(12.0).reshape(3, 4) / 10, np.ones((4, 3)), np.zeros((4, 2))
    template.set_weights([kernel])
    np.testing.assert_allclose(model.predict(x), expected(x, kernel), rtol=1e-6)
    np.testing.assert_allclose(K.get_value(template.layers[0].left), kernel[:, :2], rtol=1e-6)
    model.compile(keras.optimizers.SGD(0.01), "mse")
    model.train_on_batch(x, y)
    # The gradient of the mean of (left + 2 right + 3 left[0]) ** 2 by the two halves of the kernel.
    error = 2 * expected(x, kernel) / y.size
    left, right = x.T @ error, 2 * x.T @ error
    left[0] += 3 * error.sum(axis=0)
    trained = kernel - 0.01 * np.concatenate([left, right], axis=1)
    np.testing.assert_allclose(template.get_weights()[0], trained, rtol=1e-5)
    np.testing.assert_allclose(model.predict(x), expected(x, trained), rtol=1e-5)


def test_an_attribute_can_be_assigned_again_and_is_each_layers_own():
    first, second = Parts(1), Parts(1)
    assert second.left is None
    assert second.halves is None
    model = keras.Sequential([keras.Input((2,)), first])
    model.set_weights([np.full((2, 2), 5.0)])
    assert second.left is None
    assert second.halves is None
    np.testing.assert_array_equal(K.get_value(first.left), [[5.0], [5.0]])
    first.left = None
    assert first.left is None
    del first.halves
    assert first.halves is None


class Kept(keras.layers.Layer):
    """A layer that makes a mask in its first call, as the recurrent cells of Keras 2 did."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.mask, self.masks = None, None

    def call(self, inputs):
        if self.mask is None:
            self.mask = K.ones_like(inputs) * 2
        if self.masks is None:
            self.masks = [self.mask + each for each in range(2)]
        return inputs * self.mask + self.masks[1]


def test_what_call_keeps_is_made_anew_for_each_function():
    model = keras.Sequential([Kept(input_shape=(3,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    x = np.ones((4, 3))
    layer = keras.Sequential([model.layers[0]])
    model.fit(x, np.zeros((4, 1)), epochs=2, verbose=0)
    model.evaluate(x, np.zeros((4, 1)), verbose=0)
    np.testing.assert_allclose(layer.predict(x), np.full((4, 3), 5.0))
    np.testing.assert_allclose(layer.predict(np.zeros((2, 3))), np.full((2, 3), 3.0))
