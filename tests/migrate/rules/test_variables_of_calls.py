from __future__ import annotations

from typing import Any

import keras
import numpy as np
import pytest

from parallel_compat.legacy import backend as K
from parallel_compat.migrate.engine import Options, analyse
from tests.migrate.check import check_noop, check_transformed, found, migrated

LAYER = "from keras.layers import Layer\nimport tensorflow as tf\nclass Seen(Layer):\n    def {}(self, x):\n{}"
MADE = "        seen = tf.Variable(0.)\n        return x * tf.assign_add(seen, 1.)\n"
LOSS = "import keras\nimport tensorflow as tf\ndef loss(y_true, y_pred):\n    return y_pred - tf.Variable(0.)\n"


@pytest.mark.parametrize("source", [LAYER.format("call", MADE.replace("0.", "f(x)")), LOSS])
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


def test_dropout_that_is_made_in_each_call():
    """Keras 3: "tf.function only supports singleton tf.Variables created on the first call"."""
    head = "from keras import backend as K\nfrom keras.layers import Dense, Dropout, Layer\nclass Own(Layer):\n"
    check_transformed(
        f"{head}    def call(self, x):\n        return Dropout(self.rate)(x)\n",
        f"{head.replace('from keras import b', 'from parallel_compat.legacy import b')}    def call(self, x):\n"
        "        return K.in_train_phase(K.dropout(x, self.rate), x)\n",
    )
    for body in ("return Dense(3)(x)", "return Dropout(.5)(x + 1)", "return Dropout(.5, seed=3)(x)"):
        assert found(f"{head}    def call(self, x):\n        {body}\n", "variables-of-calls") == [(5, "attention")]
    assert found(f"{head}    def build(self, shape):\n        self.drop = Dropout(.5)\n", "variables-of-calls") == []


class Dropping(keras.layers.Layer):
    def call(self, x):
        return K.in_train_phase(K.dropout(x, 0.5), x)


def test_what_is_written_trains():
    model = keras.Sequential([keras.Input((100,)), Dropping()])
    model.compile("sgd", "mse")
    x = np.ones((8, 100))
    assert np.array_equal(model.predict(x, verbose=0), x)
    assert set(np.unique(model(x, training=True))) == {0.0, 2.0}
    losses = [model.train_on_batch(x, x) for _ in range(2)]
    assert losses == [1.0, 1.0]  # each number is 0 or 2


KEPT = MADE.replace("tf.Variable(0.)", 'kept(self, "seen", lambda: tf.Variable(0.))').replace(
    "tf.assign_add", "tf.compat.v1.assign_add"
)


def test_a_counter_of_call_is_kept_by_the_layer():
    """YOLO's layer counts the batches of its warm-up."""
    source = LAYER.format("call", MADE)
    assert found(source, "variables-of-calls") == [(5, "unsafe")]
    after = migrated(source, unsafe=True)
    assert after.endswith(LAYER.format("call", KEPT).partition("class ")[2])
    assert found(after, "variables-of-calls") == []
    space: dict[str, Any] = {"__name__": "script"}
    exec(after, space)
    model = keras.Sequential([keras.Input((1,)), space["Seen"]()])
    model.compile("sgd", "mse")
    one = np.ones((1, 1))
    assert [model.train_on_batch(one, one) for _ in range(3)] == [0.0, 1.0, 4.0]
    assert not model.weights


def test_a_second_run_reports_what_the_first_one_did():
    """The first run gives the layer a base class of this package."""
    source = LAYER.format("call", MADE.replace("0.", "f(x)")).replace("from keras", "from parallel_compat.legacy")
    assert found(f"import keras\n{source}", "variables-of-calls") == [(6, "attention")]
