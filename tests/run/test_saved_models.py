"""Models that TensorFlow 1.15 was asked to save as a SavedModel."""

from __future__ import annotations

import pytest

SCRIPT = """
import numpy as np
import tensorflow as tf

tf.compat.v1.enable_eager_execution()
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,), kernel_initializer="ones")])
model.compile("sgd", "mse")
for _ in range(2):
    model.save("models/1", save_format="tf")
print(tf.keras.models.load_model("models/1").predict(np.ones((1, 3)))[0])
"""


@pytest.mark.slow
def test_the_folders_above_are_made(run, tmp_path):
    """As TensorFlow 1.15 printed."""
    (tmp_path / "train.py").write_text(SCRIPT)
    done = run("--era", "tf.keras-1.15", "train.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["[3.]"]
