from __future__ import annotations

import pytest

from tests.migrate.check import messages

HEAD = "from keras import backend as K\nfrom keras.layers import Dense, Flatten\nfrom keras.models import load_model\n"


@pytest.mark.parametrize(
    ("made", "name"),
    [("Dense(3)(y_pred)", "Dense"), ("load_model('m.h5')(y_pred)", "load_model")],
)
def test_it_is_reported(made, name):
    source = f"{HEAD}class Losses(object):\n    def content(self, y_true, y_pred):\n        return K.mean({made})\n"
    said = [each for each in messages(source) if "in each call" in each]
    assert len(said) == 1
    assert f"`content` makes `{name}`" in said[0]


@pytest.mark.parametrize(
    "source",
    [
        f"{HEAD}def loss(y_true, y_pred):\n    return K.mean(Flatten()(y_pred))\n",
        f"{HEAD}def net(x, y):\n    return Dense(3)(x)\n",
        f"{HEAD}model = load_model('m.h5')\n",
        "from tensorflow.keras.layers import Dense\ndef loss(y_true, y_pred):\n    return Dense(3)(y_pred)\n",
    ],
)
def test_left_alone(source):
    found = [each for each in messages(source) if "in each call" in each]
    assert found == []
