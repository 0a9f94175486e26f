from __future__ import annotations

import pytest

from tests.migrate.check import check_noop, check_transformed

HEAD = """\
import tensorflow as tf
class Norm({base}):
    def call(self, x, training=None):
        """
LAYER = HEAD.format(base="tf.keras.layers.BatchNormalization")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "return super().call(x, tf.logical_and(training, self.trainable))",
            "return super().call(x, bool(training and self.trainable))",
        ),
        (
            "training = tf.math.logical_or(tf.constant(False), training)",
            "training = bool(False or training)",
        ),
        ("if not training: training = tf.constant(False)", "if not training: training = False"),
    ],
)
def test_becomes_a_number(before, after):
    check_transformed(f"{LAYER}{before}\n", f"{LAYER}{after}\n")


@pytest.mark.parametrize(
    "source",
    [
        LAYER + "return tf.logical_and(x, training)\n",
        LAYER + "training = x > 0; return tf.logical_and(training, self.trainable)\n",
        LAYER + "zero = tf.constant(False); return zero\n",
        HEAD.format(base="object") + "return tf.logical_and(training, self.trainable)\n",
    ],
)
def test_leaves_alone(source):
    check_noop(source, rule="training-flags")
