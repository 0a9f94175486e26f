"""Functions of TensorFlow that take other arguments today take those of TensorFlow 1, in the user's code."""

from __future__ import annotations

import pytest

SCRIPT = """import numpy as np
import tensorflow as tf
from keras import backend as K
from keras.layers import Input, Lambda
from keras.layers.merge import _Merge
from keras.models import Model

x = np.arange(6.0).reshape(2, 3).astype("float32")
inputs = Input((3,))
kept = tf.reduce_max(inputs, axis=1, keep_dims=True)
soft = Lambda(lambda t: tf.nn.softmax(t, dim=0))(inputs)


class Difference(_Merge):
    def _merge_function(self, inputs):
        return inputs[0] - 2 * inputs[1]


model = Model(inputs, [kept, soft, Difference()([inputs, inputs])])
for value in model.predict(x):
    print(np.round(value.astype(float), 4).tolist())
print(tf.reduce_sum(x, reduction_indices=[0]).numpy().tolist(), tf.expand_dims(x, dim=1).shape)
tf.set_random_seed(1)
dropped = tf.nn.dropout(tf.ones((1000,)), 0.8).numpy()
print(dropped.max(), 700 < (dropped > 0).sum() < 900)
print(tf.reduce_max(x, 1, True).shape, tf.nn.softmax is tf.nn.softmax, tf.transpose(x, [1, 0]).shape)
"""


@pytest.mark.slow
def test_by_name_and_by_place(tmp_path, run):
    (tmp_path / "train.py").write_text(SCRIPT)
    ours = run("train.py")
    assert ours.returncode == 0, ours.stderr
    assert ours.stdout.splitlines()[-6:] == [
        "[[2.0], [5.0]]",
        "[[0.0474, 0.0474, 0.0474], [0.9526, 0.9526, 0.9526]]",
        "[[0.0, -1.0, -2.0], [-3.0, -4.0, -5.0]]",
        "[3.0, 5.0, 7.0] (2, 1, 3)",
        "1.25 True",
        "(2, 1) True (3, 2)",
    ]
    assert "tensorflow.reduce_max(keep_dims=) -> tensorflow.compat.v1.reduce_max" in ours.stderr


@pytest.mark.slow
def test_code_of_tensorflow_2_means_todays(tmp_path, run):
    (tmp_path / "train.py").write_text(
        "import tensorflow as tf\n\n\n@tf.function\ndef dropped(x):\n    return tf.nn.dropout(x, 0.2)\n\n\n"
        "with tf.GradientTape():\n    print(dropped(tf.ones((10,))).numpy().max())\n"
    )
    ours = run("train.py")
    assert ours.stdout.splitlines()[-1] == "1.25", ours.stderr
