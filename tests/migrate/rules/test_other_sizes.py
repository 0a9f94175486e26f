from __future__ import annotations

import pytest

from tests.migrate.check import check_noop, found

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
def test_reports(lines):
    assert [status for _, status in found(HEAD + lines, "other-sizes")] == ["attention"]
    check_noop(HEAD + lines)


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
