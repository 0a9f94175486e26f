"""Layers of tf.keras, of which TensorFlow 2.2 called every one to find what it gives."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf


@pytest.mark.parametrize("trainable", [True, False])
def test_training_that_a_graph_puts_together(trainable):
    """`tf.logical_and(training, self.trainable)` in a `call` of the user's: the number is known, as to `smart_cond`."""

    class Frozen(tf.keras.layers.BatchNormalization):
        def call(self, x, training=False):
            return super().call(x, bool(training and self.trainable))

    layer = Frozen(trainable=trainable)
    x = np.arange(8, dtype="float32").reshape(4, 2)
    layer.build(x.shape)
    given = tf.function(lambda batch: layer(batch, training=True), autograph=False)(x)
    of_batch = (x - x.mean(0)) / np.sqrt(x.var(0) + 1e-3)
    np.testing.assert_allclose(given, of_batch if trainable else x / np.sqrt(1.001), rtol=1e-5)
    np.testing.assert_allclose(layer.get_weights()[2], 0.01 * x.mean(0) if trainable else [0, 0], rtol=1e-5)
