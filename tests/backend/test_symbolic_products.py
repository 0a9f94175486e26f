"""Products of symbolic tensors with numbers, arrays and tensors that are none."""

from __future__ import annotations

import keras
import numpy as np
import tensorflow as tf

import parallel_compat.backend.keras3  # noqa: F401


class Positions(keras.layers.Layer):
    def call(self, x):
        return x + tf.range(3.0)[: tf.shape(x)[1]]


def test_they_are_sparse_only_if_a_factor_is():
    x = keras.Input((3,))
    for product in (x * 2.0, 2.0 * x, x * np.ones(3, "float32"), x * tf.sqrt(4.0), x * x, keras.ops.multiply(x, 2)):
        assert not product.sparse
        assert Positions()(product).shape == (None, 3)
    assert (keras.Input((3,), sparse=True) * 2.0).sparse
    got = keras.Model(x, Positions()(x * 2.0)).predict(np.ones((1, 3)), verbose=0)
    np.testing.assert_array_equal(got, [[2.0, 3.0, 4.0]])
