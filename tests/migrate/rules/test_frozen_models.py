from __future__ import annotations

import pytest

from tests.migrate.check import check_noop, found

HEAD = """\
from tensorflow.keras.applications import VGG16
from tensorflow.keras.layers import Dense
from tensorflow.keras.models import Model, Sequential
base = VGG16()
base.trainable = False
"""
CALLED = "model = Sequential([base, Dense(2)])\n"
BUILT_ON = "model = Model(base.input, Dense(2)(base.output))\n"
KERAS_2 = HEAD.replace("tensorflow.keras", "keras")


@pytest.mark.parametrize(
    ("thawed", "line"),
    [
        ("base.layers[-1].trainable = True\n", 6),
        ("base.get_layer('fc2').trainable = True\n", 6),
        ("last = base.layers[-1]\nlast.trainable = True\n", 7),
        ("for i, layer in enumerate(base.layers[2:]):\n    layer.trainable = i > 3\n", 7),
    ],
)
def test_reports_layers_thawed_in_a_frozen_model(thawed, line):
    """Recorded: `trainable_weights` of such a model were those of the last layer in all three eras."""
    for head in (HEAD, KERAS_2):
        assert found(f"{head}{thawed}{CALLED}", "frozen-models") == [(line, "attention")]
        assert found(f"{head}{thawed}output = Dense(2)(base(inputs))\n", "frozen-models") == [(line, "attention")]


@pytest.mark.parametrize(
    "rest",
    [
        f"base.layers[-1].trainable = True\n{BUILT_ON}",  # its layers stand in the other model, one by one
        f"base.layers[-1].trainable = True\nbase.trainable = True\n{CALLED}",
        f"for layer in base.layers:\n    layer.trainable = False\n{CALLED}",
        f"other = VGG16()\nother.layers[-1].trainable = True\n{CALLED}",
        CALLED,
        BUILT_ON,
    ],
)
def test_says_nothing_of(rest):
    check_noop(f"{HEAD}{rest}", rule="frozen-models", unsafe=False)


@pytest.mark.parametrize(
    "built",
    [
        BUILT_ON,
        "model = Model(base.input, Dense(2)(base.get_layer('fc1').output))\n",
        "model = Sequential()\nfor layer in base.layers[:-1]:\n    model.add(layer)\n",
    ],
)
def test_reports_what_keras_2_trained_of_a_frozen_model(built):
    """Recorded: all weights of both were trained in Keras 2.2.4, and in tf.keras those of the new layer alone."""
    assert found(f"{KERAS_2}{built}", "frozen-models") == [(5, "attention")]
    assert found(f"{KERAS_2}base.layers[1].trainable = True\n{built}", "frozen-models") == [(5, "attention")]
    assert found(f"{HEAD}{built}", "frozen-models") == []
    frozen = "for layer in base.layers:\n    layer.trainable = False\n"
    assert found(f"{KERAS_2}{frozen}{built}", "frozen-models") == []
    assert found(f"{KERAS_2}{CALLED}", "frozen-models") == []
