"""Models that a script makes under a `MirroredStrategy` of its own, and trains by `fit`."""

from __future__ import annotations

import pytest

import parallel_compat

# One step of SGD from kernels of 1 and targets of 0: the numbers of one device, as TensorFlow 2.2.3 gave them.
SCRIPT = """
import numpy as np
import tensorflow as tf

of_a_package = tf.saved_model.load  # which both TensorFlow 1 and 2 had
x, y = np.ones((8, 4)), np.zeros((8, 1))
losses = ["mse", tf.keras.losses.MeanSquaredError(), lambda a, b: tf.reduce_mean(tf.square(a - b), -1)]
for loss in losses:
    with tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"]).scope():
        regularizer = tf.keras.regularizers.l2(0.01)
        layer = tf.keras.layers.Dense(1, input_shape=(4,), kernel_initializer="ones", kernel_regularizer=regularizer)
        model = tf.keras.Sequential([layer])
        model.compile(tf.keras.optimizers.SGD(0.05), loss, metrics=["mae"])
    logs = model.fit(x, y, batch_size=8, epochs=2, verbose=0).history
    np.testing.assert_allclose(logs["loss"], [16.04, 3.9983678], rtol=1e-5)
    weighted = model.fit(x, y, sample_weight=np.full(8, 0.5), batch_size=8, verbose=0).history["loss"]
    np.testing.assert_allclose(weighted, [0.5019752], rtol=1e-5)
"""


@pytest.mark.parametrize("era", ["tf.keras-1.15", "tf.keras-2.2"])
def test_losses_and_steps_are_those_of_the_whole_batch(era, tmp_path):
    with parallel_compat.legacy_names(era=era):
        exec(compile(SCRIPT, str(tmp_path / "train.py"), "exec"), {"__name__": "__main__"})
