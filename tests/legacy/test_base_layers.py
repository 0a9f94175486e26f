"""What layers of users derived from in Keras 2, and asked layers for: `_Conv`, `_Pooling2D`."""

from __future__ import annotations

import numpy as np
import pytest

X = np.arange(2 * 5 * 4 * 2, dtype="float32").reshape(2, 5, 4, 2) % 7


def test_layers_are_instances_of_what_they_derived_from():
    from keras import layers

    from parallel_compat.legacy.layers import _Conv
    from parallel_compat.legacy.poolings import _Pooling1D, _Pooling2D, _Pooling3D

    kinds = (_Conv, _Pooling1D, _Pooling2D, _Pooling3D)
    made = [layers.Conv2D(2, 3), layers.Conv1D(2, 3), layers.MaxPooling1D(), layers.AveragePooling2D(pool_size=(2, 2))]
    made += [layers.MaxPooling3D(), layers.Dense(1), layers.GlobalMaxPooling2D()]
    found = [[isinstance(layer, kind) for kind in kinds] for layer in made]
    assert [each.index(True) if any(each) else None for each in found] == [0, 0, 1, 2, 3, None, None]
    assert all(sum(each) <= 1 for each in found)


@pytest.mark.parametrize(("padding", "shape"), [("valid", (None, 2, 2, 2)), ("same", (None, 3, 2, 2))])
def test_a_pooling_of_ones_own(padding, shape):
    from keras.models import Sequential

    from parallel_compat.legacy import backend as K
    from parallel_compat.legacy.poolings import _Pooling2D

    class MinPooling2D(_Pooling2D):
        def _pooling_function(self, inputs, pool_size, strides, padding, data_format):
            return -K.pool2d(-inputs, pool_size, strides, padding, data_format, pool_mode="max")

    layer = MinPooling2D((2, 2), padding=padding, input_shape=(5, 4, 2))
    model = Sequential([layer])
    assert tuple(model.output_shape) == shape
    assert isinstance(layer, _Pooling2D)
    expected = X[:, :4].reshape(2, 2, 2, 2, 2, 2).min((2, 4))
    np.testing.assert_array_equal(model.predict(X)[:, :2], expected)
    again = Sequential.from_config(model.get_config(), {"MinPooling2D": MinPooling2D})
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_steps_are_pooled_as_pictures_of_one_row():
    from keras.models import Sequential

    from parallel_compat.legacy import backend as K
    from parallel_compat.legacy.poolings import _Pooling1D

    class Means(_Pooling1D):
        def _pooling_function(self, inputs, pool_size, strides, padding, data_format):
            assert K.ndim(inputs) == 4
            assert pool_size == (2, 1)
            return K.pool2d(inputs, pool_size, strides, padding, data_format, pool_mode="avg")

    x = X[:, :4, 0, 0]
    model = Sequential([Means(2, input_shape=(4, 1))])
    np.testing.assert_allclose(model.predict(x[..., None])[..., 0], x.reshape(2, 2, 2).mean(2))


def test_poolings_of_ones_own_of_channels_that_come_first():
    """Numbers of Keras 2.2.4."""
    from keras.models import Sequential

    from parallel_compat.legacy import backend as K
    from parallel_compat.legacy.poolings import _Pooling1D, _Pooling2D

    class Lowest(_Pooling2D):
        def _pooling_function(self, inputs, pool_size, strides, padding, data_format):
            return -K.pool2d(-inputs, pool_size, strides, padding, data_format, pool_mode="max")

    class Means(_Pooling1D):
        def _pooling_function(self, inputs, pool_size, strides, padding, data_format):
            assert K.int_shape(inputs)[1:] == ((5, 4, 1) if data_format == "channels_first" else (5, 1, 4))
            return K.pool2d(inputs, pool_size, strides, padding, data_format, pool_mode="avg")

    model = Sequential([Lowest((3, 2), 2, padding="SAME", data_format="channels_first", input_shape=(5, 4, 2))])
    assert tuple(model.output_shape) == (None, 5, 2, 1)
    assert model.layers[0].get_config()["padding"] == "same"
    assert model.predict(X)[0, ..., 0].tolist() == [[0, 0], [1, 0], [0, 0], [0, 0], [0, 1]]
    model = Sequential([Means(2, 1, data_format="channels_first", input_shape=(5, 4))])
    assert tuple(model.output_shape) == (None, 5, 3)
    expected = [[1, 3, 5], [2, 4, 2.5], [3, 5, 3.5], [4, 2.5, 1], [5, 3.5, 2]]
    assert model.predict(X[..., 0])[0].tolist() == expected
    model = Sequential([Means(2, padding="SAME", input_shape=(5, 4))])
    assert model.predict(X[..., 0])[0].tolist() == [[0.5, 2.5, 4.5, 3], [2.5, 4.5, 3, 1.5], [4, 6, 1, 3]]


def test_the_base_of_convolutions_in_tensorflow():
    from tensorflow.keras import layers

    from parallel_compat.legacy.layers import _Conv as Conv

    assert isinstance(layers.Conv2D(2, 3), Conv)
    assert not isinstance(layers.Dense(2), Conv)


def test_a_convolution_of_ones_own_says_its_rank():
    from keras.models import Sequential

    from parallel_compat.legacy import backend as K
    from parallel_compat.legacy.layers import _Conv

    class Standardized(_Conv):
        def __init__(self, filters, kernel_size, **keywords):
            super().__init__(rank=2, filters=filters, kernel_size=kernel_size, **keywords)

        def call(self, inputs):
            kernel = self.kernel - K.mean(self.kernel, axis=[0, 1, 2])
            return K.bias_add(K.conv2d(inputs, kernel, padding=self.padding), self.bias)

    model = Sequential([Standardized(3, 5, padding="valid", kernel_initializer="ones", input_shape=(5, 5, 1))])
    np.testing.assert_allclose(model.predict(np.random.rand(2, 5, 5, 1)), np.zeros((2, 1, 1, 3)), atol=1e-6)
    assert [w.shape for w in model.get_weights()] == [(5, 5, 1, 3), (3,)]


@pytest.mark.parametrize("replicas", [1, 2])
def test_statistics_of_a_layers_weights(replicas):
    from keras.layers import Layer
    from keras.models import Sequential

    from parallel_compat import multi_gpu_model
    from parallel_compat.legacy import backend as K

    class Centred(Layer):
        def build(self, input_shape):
            self.kernel = self.add_weight(name="kernel", shape=(4, 3), initializer="ones")
            super().build(input_shape)

        def call(self, x):
            parts = [K.mean(self.kernel), K.mean(self.kernel, axis=0), K.var(self.kernel), K.std(self.kernel)]
            spread = parts[2] + parts[3] + K.sum(K.stack([self.kernel, self.kernel]))
            return K.dot(x, self.kernel - parts[1]) + parts[0] * spread

        def compute_output_shape(self, input_shape):
            return (input_shape[0], 3)

    template = Sequential([Centred(input_shape=(4,))])
    template.set_weights([np.arange(12, dtype="float32").reshape(4, 3)])
    model = template if replicas == 1 else multi_gpu_model(template, replicas)
    model.compile("sgd", "mse")
    kernel = np.arange(12.0).reshape(4, 3)
    x = np.arange(20.0).reshape(5, 4)
    expected = x @ (kernel - kernel.mean(0)) + kernel.mean() * (kernel.var() + kernel.std() + 2 * kernel.sum())
    np.testing.assert_allclose(model.predict(x), expected, rtol=1e-5)
    assert np.isfinite(model.train_on_batch(x, expected))


NORMALISED = """
import numpy as np
import keras
from parallel_compat.legacy import backend as K
from keras.layers import Dense, Input, Wrapper
from keras.models import Model

class WeightNorm(Wrapper):  # as they were copied
    def build(self, input_shape):
        self.layer.build(input_shape)
        self.layer.built = True
        self.v = self.layer.kernel
        self.g = self.layer.add_weight(name="g", shape=(2,), initializer="ones")
        super(WeightNorm, self).build()

    def call(self, inputs):
        self.layer.kernel = K.l2_normalize(self.v, axis=[0]) * self.g
        return self.layer.call(inputs)

    def compute_output_shape(self, input_shape):
        return self.layer.compute_output_shape(input_shape)

inputs = Input((2,))
model = Model(inputs, WeightNorm(Dense(2))(inputs))
weights = [np.array([[3.0, 0.0], [4.0, 1.0]]), np.array([1.0, 2.0]), np.array([5.0, 7.0])]
model.set_weights(weights)
outputs = model.predict(np.array([[1.0, 1.0]]))
model.compile("sgd", "mse")
loss = model.train_on_batch(np.array([[1.0, 1.0]]), np.zeros((1, 2)))
after = model.get_weights()
"""
