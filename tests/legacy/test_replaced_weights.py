"""Layers that replace a weight by what they compute of it. Expected are weights and losses of the real stacks."""

from __future__ import annotations

import importlib

import keras
import numpy as np
import pytest

X = np.random.RandomState(0).rand(6, 3).astype("float32")
Y = X[:, :1]


def layers_of(K, layers):
    class InCall(layers.Dense):
        def call(self, x):
            self.kernel = self.kernel / K.sqrt(K.sum(K.square(self.kernel)))
            return super().call(x)

    class PutBack(layers.Dense):
        def call(self, x):
            kernel = self.kernel
            self.kernel = kernel / K.sqrt(K.sum(K.square(kernel)))
            outputs = super().call(x)
            self.kernel = kernel
            return outputs

    class OfHeld(layers.Wrapper):
        def build(self, shape):
            if not self.layer.built:
                self.layer.build(shape)
                self.layer.built = True
            super().build()

        def compute_output_shape(self, shape):
            return self.layer.compute_output_shape(shape)

        def call(self, x):
            kernel = self.layer.kernel
            self.layer.kernel = K.in_train_phase(kernel * 0.5, kernel)
            return self.layer.call(x)

    class InBuild(layers.Layer):
        def build(self, shape):
            self.kernel = self.add_weight(name="kernel", shape=(3, 3), initializer="ones")
            self.kernel = K.abs(self.kernel) * 0.5
            super().build(shape)

        def compute_output_shape(self, shape):
            return shape

        def call(self, x):
            return K.dot(x, self.kernel)

    return {
        "in_call": InCall(3, kernel_initializer="ones"),
        "put_back": PutBack(3, kernel_initializer="ones"),
        "of_held": OfHeld(layers.Dense(3, kernel_initializer="ones")),
        "in_build": InBuild(),
    }


# By era and layer: how many weights the model has, and its losses in three steps and in evaluation.
EXPECTED = {
    ("keras-2.2.4", "in_call"): (4, 1.631371, 0.505822, 0.225067, 0.131288),
    ("keras-2.2.4", "put_back"): (4, 1.631371, 0.505822, 0.225067, 0.131288),
    ("keras-2.2.4", "of_held"): (4, 22.056564, 0.215973, 0.124293, 0.078710),
    ("keras-2.2.4", "in_build"): (3, 4.539576, 1.779423, 0.810368, 0.403378),
    ("tf.keras-1.15", "in_call"): (3, 1.631371, 0.507661, 0.226572, 0.132510),
    ("tf.keras-1.15", "put_back"): (4, 1.631371, 0.505822, 0.225067, 0.131288),
    ("tf.keras-1.15", "of_held"): (3, 4.539576, 0.975903, 0.412259, 5.084483),
    ("tf.keras-1.15", "in_build"): (2, 4.539576, 2.145448, 1.025088, 0.500752),
    ("tf.keras-2.2", "put_back"): (4, 1.631371, 0.505822, 0.225067, 0.131288),
    ("tf.keras-2.2", "in_build"): (2, 4.539576, 2.145448, 1.025088, 0.500752),
}


# TensorFlow 2.2 refuses the others, tensors of one function in another.
@pytest.mark.parametrize(("era", "case"), list(EXPECTED), indirect=["era"])
def test_a_weight_that_is_replaced(era, case):
    package = "keras" if era == "keras-2.2.4" else "tensorflow.keras"
    K, layers = (importlib.import_module(f"{package}.{name}") for name in ("backend", "layers"))
    layer = layers_of(K, layers)[case]
    inputs = layers.Input((3,))
    model = keras.models.Model(inputs, layers.Dense(1, kernel_initializer="ones")(layer(inputs)))
    model.compile(keras.optimizers.SGD(0.05), "mse")
    weights, *losses = EXPECTED[era, case]
    assert len(model.get_weights()) == len(model.trainable_weights) == weights
    found = [*(model.train_on_batch(X, Y) for _ in range(3)), model.test_on_batch(X, Y)]
    np.testing.assert_allclose(found, losses, rtol=2e-5)
