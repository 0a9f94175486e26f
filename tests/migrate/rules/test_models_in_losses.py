from __future__ import annotations

from textwrap import dedent

import pytest

from tests.migrate.check import messages, migrated

HEAD = """from keras import backend as K
from keras.layers import Conv2D, Dense, Flatten
from keras.models import load_model
"""


@pytest.mark.parametrize(
    ("made", "name"),
    [("Dense(3)(y_pred)", "Dense"), ("Conv2D(3, 3)(y_pred)", "Conv2D")],
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


def test_a_network_is_made_once():
    source = """\
    from keras import backend as K
    from keras.applications.vgg19 import VGG19
    class Losses(object):
        def content(self, y_true, y_pred):
            vgg = VGG19(include_top=False, input_shape=self.shape)
            return K.mean(vgg(y_true) - vgg(y_pred))
    """
    assert "vgg = made_once(VGG19)(include_top=False, input_shape=self.shape)" in migrated(dedent(source))
    assert messages(source) == []
