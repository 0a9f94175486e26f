"""Layers that write variables while they are called: merged as on one device, or refused."""

from __future__ import annotations

import keras
import numpy as np
import pytest
import tensorflow as tf

from parallel_compat import parallelize
from tests.one_device import classes, train_both


def spectral():
    normalized = keras.layers.SpectralNormalization(keras.layers.Dense(8, activation="tanh", kernel_regularizer="l2"))
    return keras.Sequential([keras.Input((8,)), normalized, keras.layers.Dense(3, activation="softmax")])


@pytest.mark.parametrize("rows", [96, 101, 2])
def test_spectral_normalization_writes_its_kernel(rows):
    arguments = {"loss": "categorical_crossentropy"}
    train_both(spectral, lambda: {"optimizer": keras.optimizers.SGD(0.1), **arguments}, *classes(rows), replicas=3)


def test_in_a_custom_loop_it_is_refused():
    parallel = parallelize(spectral(), 2)
    x, _ = classes(8)
    before = parallel.get_weights()

    def step(rows):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(parallel(rows, training=True))
        return tape.gradient(loss, parallel.trainable_variables)

    for (rows,) in parallel.distribute(tf.data.Dataset.from_tensor_slices((x,)).batch(8)):
        with pytest.raises(ValueError, match=r"write no trainable variable[\s\S]*kernel"):
            parallel.run(step, args=(rows,))
    for one, other in zip(before, parallel.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_variable_outside_of_the_model_is_refused_by_name():
    """A function that closes over it: nobody would merge what the replicas write."""
    counter = keras.Variable(0.0, name="counter")

    class Counts(keras.layers.Layer):
        def __init__(self, count):
            super().__init__()
            self.count = count

        def call(self, inputs):
            self.count()
            return inputs

    inputs = keras.Input((8,))
    template = keras.Model(inputs, keras.layers.Dense(3)(Counts(lambda: counter.assign(counter + 1.0))(inputs)))
    parallel = parallelize(template, 2)
    parallel.compile("sgd", "mse")
    with pytest.raises(ValueError, match=r"only variables of the model[\s\S]*counter"):
        parallel.fit(*classes(8), verbose=0)
