from __future__ import annotations

import pytest

from parallel_compat.migrate.engine import Options, analyse
from tests.migrate.check import check_noop

LAYER = "from keras.layers import Layer\nimport tensorflow as tf\nclass Seen(Layer):\n    def {}(self, x):\n{}"
MADE = "        seen = tf.Variable(0.)\n        return x * tf.assign_add(seen, 1.)\n"
LOSS = "import keras\nimport tensorflow as tf\ndef loss(y_true, y_pred):\n    return y_pred - tf.Variable(0.)\n"


@pytest.mark.parametrize("source", [LAYER.format("call", MADE), LOSS])
def test_reports_code_of_graphs(source):
    (finding,) = [each for each in analyse(source, Options()).findings if each.rule == "variables-of-calls"]
    assert finding.status.value == "attention"
    assert "self.add_weight" in finding.message


@pytest.mark.parametrize(
    "source",
    [
        LAYER.format("build", "        self.seen = tf.Variable(0.)\n"),
        "import tensorflow as tf\nfrom tensorflow.keras.layers import Layer\n" + LOSS.partition("tf\n")[2],
    ],
)
def test_others_stay(source):
    check_noop(source, rule="variables-of-calls")
