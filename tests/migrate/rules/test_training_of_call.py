from __future__ import annotations

import keras
import numpy as np
import pytest

from tests.migrate.check import check_noop, check_transformed, found, migrated

HEAD = "from tensorflow import keras\nfrom tensorflow.keras.layers import {layer}\n\n"
CLASS = "class Net(keras.Model):\n    def call({arguments}):\n        return self.layer(x)\n"


@pytest.mark.parametrize(
    ("arguments", "after"),
    [
        ("self, x", "self, x, training=None"),
        ("self, x, mask=None", "self, x, mask=None, training=None"),
        ("self, x, **kwargs", "self, x, training=None, **kwargs"),
        ("self, *inputs", "self, *inputs, training=None"),
        ("self, *inputs, scale=(1, 2)", "self, *inputs, scale=(1, 2), training=None"),
        ("self, x: 'Tensor', y: int = 3", "self, x: 'Tensor', y: int = 3, training=None"),
        ("self, x, *, scale", "self, x, *, scale, training=None"),
        ("self, x, mask=(1),", "self, x, mask=(1), training=None,"),
    ],
)
def test_call_takes_training(arguments, after):
    head = HEAD.format(layer="Dropout")
    check_transformed(head + CLASS.format(arguments=arguments), head + CLASS.format(arguments=after))


def test_classes_of_other_files_may_hold_such_layers():
    head = "from tensorflow import keras\nfrom blocks import Block\n\n"
    class_ = "class Net(keras.Model):\n    def __init__(self):\n        self.a = Block(3)\n\n    def call(self, x):\n"
    assert "def call(self, x, training=None):" in migrated(f"{head}{class_}        return self.a(x)\n")


@pytest.mark.parametrize(
    "source",
    [
        HEAD.format(layer="Dropout") + CLASS.format(arguments="self, x, training=False"),
        HEAD.format(layer="Dense") + CLASS.format(arguments="self, x"),
        HEAD.format(layer="Dropout, Layer") + CLASS.format(arguments="self, x").replace("keras.Model", "Layer"),
        HEAD.format(layer="Dropout") + "class Net:\n    def call(self, x):\n        return x\n",
    ],
)
def test_leaves_alone(source):
    check_noop(source, rule="training-of-call")


def test_another_thing_of_that_name_is_reported():
    source = HEAD.format(layer="Dropout") + CLASS.format(arguments="self, x, **kwargs").replace(
        "(x)\n", "(x, kwargs.get('training'))\n"
    )
    assert found(source, "training-of-call") == [(5, "attention")]


def test_the_migrated_model_trains():
    source = (
        "from tensorflow import keras\nclass Net(keras.Model):\n    def __init__(self):\n        super().__init__()\n"
        "        self.dropout = keras.layers.Dropout(0.5)\n        self.dense = keras.layers.Dense(1)\n"
        "    def call(self, x):\n        return self.dense(self.dropout(x))\n"
    )
    losses = []
    for text in (source, migrated(source)):
        user = {}
        exec(text, user)
        keras.utils.set_random_seed(0)
        model = user["Net"]()
        model.build((None, 400))
        model(np.ones((1, 400)))
        model.set_weights([np.ones((400, 1)), np.zeros(1)])
        model.compile(keras.optimizers.SGD(0.0), "mse")
        losses.append(model.train_on_batch(np.ones((8, 400)), np.full((8, 1), 400.0)))
    assert losses[0] == 0.0  # Keras 3's Dropout is at inference
    assert losses[1] > 1.0
