from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from parallel_compat.command import main
from parallel_compat.legacy import models
from tests.migrate.check import check_noop, check_transformed

HEAD = "from tensorflow import keras\n"
CLASS = "class Net(keras.Model):\n    def call(self, x):\n        return self.dense(x)\n"
FUNCTION = "build"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("net = Net()\nnet.build(input_shape=(None, 3))", f"net = Net()\n{FUNCTION}(net, input_shape=(None, 3))"),
        (
            "class GAN:\n    def __init__(self):\n        self.g = Net()\n        self.g.build((4, n))",
            f"class GAN:\n    def __init__(self):\n        self.g = Net()\n        {FUNCTION}(self.g, (4, n))",
        ),
    ],
)
def test_models_of_classes_of_this_file(before, after):
    imported = HEAD + "from parallel_compat.legacy.models import build\n"
    check_transformed(f"{HEAD}{CLASS}{before}\n", f"{imported}{CLASS}{after}\n")


def test_a_class_of_another_file(tmp_path):
    (tmp_path / "net.py").write_text(HEAD + CLASS)
    (tmp_path / "train.py").write_text(HEAD + "from net import Net\nnet = Net()\nnet.build((None, 3))\n")
    assert main(["migrate", "--write", str(tmp_path)]) == 0
    assert f"{FUNCTION}(net, (None, 3))" in (tmp_path / "train.py").read_text()


@pytest.mark.parametrize(
    "source",
    [
        "net = keras.Sequential()\nnet.build((None, 3))",
        f"{CLASS}    def build(self, shape):\n        pass\nnet = Net()\nnet.build((None, 3))",
        "def make(net):\n    net.build((None, 3))",
        f"{CLASS}tuner = Tuner()\ntuner.build(Net())",
    ],
)
def test_leaves_alone(source):
    check_noop(f"{HEAD}{source}\n", rule="subclassed-build")


def test_the_function_makes_the_weights():
    class Net(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = tf.keras.layers.Dense(2)

        def call(self, x):
            return self.dense(tf.reshape(x, (-1, 6)))

    net = Net()
    models.build(net, (None, 3, 2))
    assert [weight.shape for weight in net.weights] == [(6, 2), (2,)]
    assert net(np.ones((4, 3, 2), "float32")).shape == (4, 2)
