"""Layers of tf.keras, of which TensorFlow 2.2 called every one to find what it gives."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from parallel_compat.legacy import layers


def test_a_layer_is_called_for_its_outputs_shape():
    class Halves(tf.keras.layers.Layer):
        def call(self, inputs):
            return inputs[0][:, :2] + tf.cast(inputs[1], "float32")

        def compute_output_shape(self, input_shape):  # takes one shape for two
            return (input_shape[0], input_shape[1] // 2)

    x, n = tf.keras.Input((4,)), tf.keras.Input((2,), dtype="int32")
    outputs = Halves()([x, n])
    assert tuple(outputs.shape) == (None, 2)
    model = tf.keras.Model([x, n], outputs)
    np.testing.assert_array_equal(model.predict([np.ones((1, 4)), np.ones((1, 2), "int32")], verbose=0), [[2.0, 2.0]])


def test_a_lambda_layer_is_called_whatever_its_output_shape_says():
    x = tf.keras.Input((4, 4, 3))
    outputs = tf.layers.Lambda(lambda x: x[:, ::2], output_shape=[None, 8, 8, None])(x)
    assert tuple(outputs.shape) == (None, 2, 4, 3)


def test_arrays_beyond_the_inputs_of_a_model_are_left_out():
    """`Network._run_internal_graph` of TensorFlow 2.2 pairs inputs and arrays with `zip`."""
    x, y = tf.keras.Input((2,)), tf.keras.Input((2,))
    model = tf.keras.Model([x, y], tf.keras.layers.add([x, y]))
    ones = np.ones((3, 2), "float32")
    np.testing.assert_array_equal(model.predict([ones, 2 * ones, ones[:, :1]], verbose=0), 3 * ones)


def test_outputs_of_a_shared_model_are_told_apart():
    """By tf.keras, in `output_names`, in what `fit` logs, and by `multi_gpu_model`."""
    from tensorflow import keras
    from tensorflow.keras.utils import multi_gpu_model

    twin = keras.models.Sequential([layers.Dense(1, input_shape=(3,))], name="twin")
    first, second = keras.Input((3,)), keras.Input((3,))
    model = keras.models.Model([first, second], [twin(first), twin(second)])
    assert model.output_names == ["twin", "twin_1"]
    assert multi_gpu_model(model, 2).output_names == ["twin", "twin_1"]
    model.compile("sgd", "mse")
    x, y = [np.ones((2, 3))] * 2, [np.ones((2, 1))] * 2
    assert list(model.fit(x, y, verbose=0).history) == ["loss", "twin_loss", "twin_1_loss"]


@pytest.mark.parametrize("trainable", [True, False])
def test_training_that_a_graph_puts_together(trainable):
    """`tf.logical_and(training, self.trainable)` in a `call` of the user's: the number is known, as to `smart_cond`."""

    class Frozen(tf.keras.layers.BatchNormalization):
        def call(self, x, training=False):
            return super().call(x, tf.logical_and(training, self.trainable))

    layer = Frozen(trainable=trainable)
    x = np.arange(8, dtype="float32").reshape(4, 2)
    layer.build(x.shape)
    given = tf.function(lambda batch: layer(batch, training=True), autograph=False)(x)
    of_batch = (x - x.mean(0)) / np.sqrt(x.var(0) + 1e-3)
    np.testing.assert_allclose(given, of_batch if trainable else x / np.sqrt(1.001), rtol=1e-5)
    np.testing.assert_allclose(layer.get_weights()[2], 0.01 * x.mean(0) if trainable else [0, 0], rtol=1e-5)


def test_a_model_is_called_on_arrays_and_tensors_together():
    """As in TensorFlow 2.2.3; Keras 3 refuses the two in one list."""
    dense, sparse = tf.layers.Input((3,)), tf.layers.Input((3,), sparse=True)
    outputs = tf.layers.Lambda(lambda x: x[0] + tf.sparse.to_dense(x[1]))([dense, sparse])
    model = tf.keras.models.Model([dense, sparse], outputs)
    row = np.array([[1.0, 2.0, 3.0]])
    result = model([row, tf.SparseTensor([[0, 1]], np.ones(1, "float32"), [1, 3])])
    assert result.dtype == "float32"
    np.testing.assert_array_equal(result, [[1, 3, 3]])
    other = tf.layers.Input((3,))
    model = tf.keras.models.Model([dense, other], tf.keras.layers.add([dense, other]))
    np.testing.assert_array_equal(model([row, tf.ones((1, 3))]), [[2, 3, 4]])


def test_a_variable_of_any_size():

    class Last(tf.keras.layers.Layer):
        def build(self, input_shape):
            self.w = self.add_weight(name="w", shape=(3,), initializer="ones")
            shape = tf.TensorShape(None)
            self.seen = tf.Variable(0.0, trainable=False, validate_shape=False, shape=shape)
            self.built = True

        def call(self, x):
            with tf.control_dependencies([self.seen.assign(x[:, 0])]):
                return tf.identity(x * self.w)

    inputs = tf.layers.Input((3,))
    model = tf.keras.models.Model(inputs, Last()(inputs))
    np.testing.assert_array_equal(model.predict(np.array([[1.0, 2, 3], [4, 5, 6]])), [[1, 2, 3], [4, 5, 6]])
    np.testing.assert_array_equal(model.layers[1].seen, [1, 4])
    assert [tuple(weight.shape) for weight in model.weights] == [(3,)]


def test_a_sequential_takes_complex_and_whole_numbers_and_text_as_they_are():
    """As in TensorFlow 1.15.5 (`predict`) and 2.2.3; Keras 3 took the real part, and a float of a whole number."""

    def of(function):
        return tf.keras.Sequential([tf.layers.Lambda(function)])

    numbers = np.array([[3 + 4j, 1j]], "complex64")
    np.testing.assert_allclose(of(tf.abs)(numbers), [[5, 1]])
    np.testing.assert_allclose(of(tf.abs).predict(numbers, verbose=0), [[5, 1]])
    whole = np.array([[2**24 + 1, 3]], "int32")
    np.testing.assert_array_equal(of(lambda x: x % 2).predict(whole, verbose=0), [[1, 1]])
    np.testing.assert_array_equal(of(tf.strings.length)(np.array([["ab", "c"]])), [[2, 1]])
    dense = tf.keras.Sequential([tf.layers.Dense(1, kernel_initializer="ones")])
    np.testing.assert_array_equal(dense(np.array([[1, 2]])), [[3]])
