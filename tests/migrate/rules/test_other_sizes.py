from __future__ import annotations

import pytest

from parallel_compat.migrate.rules import other_sizes
from tests.migrate.check import check_noop, migrated

HEAD = "from tensorflow import keras\n"
LOADED = "model = keras.models.load_model('m.keras')\n"


@pytest.mark.parametrize(
    "lines",
    [
        f"{LOADED}x = keras.Input((None, None, 3))\ny = model(x)\n",
        f"{LOADED}y = model(keras.layers.Input(shape=[None, None, 1]))\nmodel = keras.models.Model(x, y)\n",
        "model = keras.models.Model(a, b)\nx = keras.Input((None, None, 3))\nmodel = keras.Model(x, model(x))\n",
    ],
)
def test_its_layers_are_called(lines):
    after = migrated(HEAD + lines)
    assert "called_on_any_size(model, " in after
    assert migrated(after) == after


def test_names_that_are_bound_very_often_are_looked_up_once(monkeypatch):
    """A chain of 300 layers in one name took 90,000 look-ups, and a source of 8,000 two minutes."""
    looked_up = []
    original = other_sizes._is_of_any_size
    monkeypatch.setattr(other_sizes, "_is_of_any_size", lambda *node: looked_up.append(node) or original(*node))
    migrated(HEAD + LOADED + "x = model.output\n" + "x = keras.layers.Dense(3)(x)\n" * 300)
    assert len(looked_up) < 3_000


def test_what_is_called_layer_by_layer():
    import keras
    import numpy as np

    from parallel_compat.legacy.models import called_on_any_size

    x = keras.Input((8, 8, 3))
    inner = keras.layers.Conv2D(2, 3)
    model = keras.Model(x, keras.layers.PReLU(shared_axes=[1, 2])(inner(x)))
    y = keras.Input((None, None, 3))
    again = keras.Model(y, called_on_any_size(model, y))
    pictures = np.random.default_rng(0).random((2, 12, 10, 3))
    np.testing.assert_array_equal(
        again.predict(pictures, verbose=0)[:, :6, :6], model.predict(pictures[:, :8, :8], verbose=0)
    )
    assert again.layers[1] is inner


@pytest.mark.parametrize(
    "lines",
    [
        f"{LOADED}x = keras.Input((64, 64, 3))\ny = model(x)\n",
        f"{LOADED}x = keras.Input((None, 3))\ny = model(x)\n",
        "x = keras.Input((None, None, 3))\ny = keras.layers.Dense(3)(x)\n",
        f"{LOADED}def call(x):\n    return model(x)\n",
    ],
)
def test_leaves_alone(lines):
    check_noop(HEAD + lines, rule="other-sizes")
