"""Layers and models of tf.keras that were made with `dynamic=True`."""

from __future__ import annotations

import pytest

SCRIPT = """
import numpy as np
import tensorflow as tf
from tensorflow import keras

class Twice(keras.layers.Layer):
    def __init__(self, **keywords):
        super().__init__(dynamic=True, **keywords)

    def call(self, x):
        return tf.constant(x.numpy() * 2)

    def compute_output_shape(self, shape):
        return shape

class Model(keras.Model):
    def __init__(self, **keywords):
        super().__init__(**keywords)
        self.last = keras.layers.Dense(1, kernel_initializer="ones")

    def call(self, x):
        return self.last(x)

x = np.ones((2, 3), "float32")
x_in = keras.Input((3,))
functional = keras.Model(x_in, keras.layers.Dense(1, kernel_initializer="ones")(Twice()(x_in)))
for model in (functional, Model(dynamic=True), Model(dynamic=False)):
    model.compile("sgd", "mse")
    if model.dynamic:
        print(model.run_eagerly, model.predict(x)[0], model.train_on_batch(x, x[:, :1]))
    else:
        print(model.run_eagerly)
"""


@pytest.mark.slow
def test_they_run_line_by_line(run, tmp_path):
    """As TensorFlow 2.2 printed."""
    (tmp_path / "train.py").write_text(SCRIPT)
    done = run("train.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["True [6.] 25.0", "True [3.] 4.0", "False"]
