from __future__ import annotations

import pytest

from tests.migrate.check import check_noop, found

HEAD = "from keras.models import Model\nmodel = Model(x, y)\n"


@pytest.mark.parametrize(
    "use",
    [
        "model.to_yaml()",
        "model.total_loss",
        "model.layers[1].inbound_nodes",
        "model.optimizer.get_weights()",
        "net.to_yaml()",
    ],
)
def test_reports(use):
    source = HEAD + use + "\n"
    check_noop(source)
    assert found(source, "gone-members") == [(3, "attention")]


def test_reports_optimizers_of_their_own():
    source = (
        "from keras.optimizers import Optimizer\nclass O(Optimizer):\n    def get_updates(self, loss, params): pass\n"
    )
    assert found(source, "gone-members") == [(3, "attention")]


@pytest.mark.parametrize("source", [HEAD + "model.to_json()\n", HEAD + "net.get_weights()\n", "a.total_loss\n"])
def test_leaves_alone(source):
    check_noop(source, rule="gone-members")


def test_a_loss_that_is_added_to_a_model():
    """Keras 3 takes it in the `call` of a layer."""
    source = "from keras.models import Model\nmodel = Model(x, y)\nmodel.add_loss(z)\n"
    assert found(source, "gone-members") == [(3, "attention")]
    layer = "from keras.layers import Layer\nclass Own(Layer):\n    def call(self, x):\n        self.add_loss(x)\n"
    assert found(layer, "gone-members") == []
