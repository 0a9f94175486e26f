from __future__ import annotations

import pytest

from tests.migrate.check import check_noop, check_transformed, found

HEAD = """\
from tensorflow.keras.models import Sequential
model = Sequential(layers)
"""
FROZEN = "model.layers[0].trainable = False\n"


def test_keeps_the_block():
    check_transformed(
        f"{HEAD}{FROZEN}if fine:\n    model.trainable = True\n    model.compile('sgd', 'mse')\n",
        f"{HEAD}{FROZEN}if fine:\n    model.trainable = False  # Keras 3 passes on changes only\n"
        "    model.trainable = True\n    model.compile('sgd', 'mse')\n",
    )
    check_transformed(
        f"{HEAD}{FROZEN}if fine: model.trainable = True\n",
        f"{HEAD}{FROZEN}if fine: model.trainable = False; model.trainable = True\n",
    )


@pytest.mark.parametrize(
    "text",
    [
        f"{HEAD}model.trainable = False\nmodel.trainable = True\n",  # a discriminator: its own flag changes
        f"{HEAD}{FROZEN}model.layers[1].trainable = True\n",
        f"{HEAD}{FROZEN}model.trainable = fine\n",
        f"{HEAD}{FROZEN}model.trainable = False\nmodel.trainable = True\n",
        f"{HEAD}model.trainable = True\nfor layer in model.layers[:3]:\n    layer.stays = False\n",
    ],
)
def test_leaves(text):
    check_noop(text, rule="thawed-models")


def test_reports_what_keras_2_kept_frozen():
    text = f"{HEAD}{FROZEN}model.trainable = True\n".replace("tensorflow.keras", "keras")
    assert found(text, "thawed-models") == [(4, "attention")]
