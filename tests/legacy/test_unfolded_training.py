"""`log(1 - p + 1e-7)` where `p` is 1. Expected are the losses of the real stacks.

TensorFlow's graph optimizer computes `1.0000001 - p`, where 1e-7 becomes 1.19e-7; TensorFlow 1 did so in evaluation
alone, as in training the gradients needed `1 - p` too.
"""

from __future__ import annotations

import importlib

import keras
import numpy as np
import pytest

from parallel_compat import parallelize

ONE = np.ones((4, 1), "float32")


@pytest.mark.parametrize("gpus", [1, 2])
def test_a_logarithm_of_a_saturated_probability(era, gpus):
    K = importlib.import_module("keras.backend" if era == "keras-2.2.4" else "tensorflow.keras.backend")

    def loss(y_true, y_pred):
        return K.log(1.0 - y_pred + K.epsilon())

    template = keras.models.Sequential(
        [keras.Input((1,)), keras.layers.Dense(1, use_bias=False, kernel_initializer="ones")]
    )
    model = parallelize(template, gpus=gpus) if gpus > 1 else template
    model.compile(keras.optimizers.SGD(0.0), loss)
    moved, written = np.log(np.float32(1.0 + 1e-7) - np.float32(1.0)), np.log(np.float32(1e-7))
    trained = moved if era == "tf.keras-2.2" else written
    of_batch = model.train_on_batch(ONE, ONE)
    of_arrays = model.fit(ONE, ONE, verbose=0).history["loss"]
    of_generator = model.fit(iter([(ONE, ONE)]), steps_per_epoch=1, verbose=0).history["loss"]
    np.testing.assert_allclose([of_batch, *of_arrays, *of_generator], [trained] * 3, rtol=1e-6)
    np.testing.assert_allclose(model.test_on_batch(ONE, ONE), moved, rtol=1e-6)
