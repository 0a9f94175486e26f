from __future__ import annotations

import pytest

from tests.migrate.check import check_noop, check_transformed, found

HEAD = "import keras\nfrom keras.optimizers import Adam\n"
AFTER = (
    "import keras\nfrom parallel_compat.legacy.optimizers import for_one_compile\nfrom keras.optimizers import Adam\n"
)
FUNCTION = "for_one_compile"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "def net(n, optimizer=Adam(1e-3)):\n"
            "    m = keras.Sequential()\n"
            "    m.compile('adam' if n else optimizer, 'mse')\n"
            "    m.compile(optimizer, 'mse')\n",
            "def net(n, optimizer=Adam(1e-3)):\n"
            "    m = keras.Sequential()\n"
            "    m.compile('adam' if n else optimizer, 'mse')\n"
            f"    m.compile({FUNCTION}(optimizer), 'mse')\n",
        ),
        (
            "adam = Adam(1e-3)\nfor seed in range(3):\n    m = make(seed)\n    m.compile(loss='mse', optimizer=adam)\n",
            "adam = Adam(1e-3)\n"
            "for seed in range(3):\n"
            "    m = make(seed)\n"
            f"    m.compile(loss='mse', optimizer={FUNCTION}(adam))\n",
        ),
        (
            "class Gan:\n"
            "    def __init__(self):\n"
            "        self.adam = Adam(1e-3)\n"
            "        self.d.compile(loss='mse', optimizer=self.adam)\n"
            "        self.g.compile(loss='mse', optimizer=self.adam)\n",
            "class Gan:\n"
            "    def __init__(self):\n"
            "        self.adam = Adam(1e-3)\n"
            f"        self.d.compile(loss='mse', optimizer={FUNCTION}(self.adam))\n"
            f"        self.g.compile(loss='mse', optimizer={FUNCTION}(self.adam))\n",
        ),
    ],
)
def test_one_optimizer_for_several_models(before, after):
    check_transformed(HEAD + before, AFTER + after)


@pytest.mark.parametrize(
    "source",
    [
        "adam = Adam(1e-3)\nm.compile(loss='mse', optimizer=adam)\n",
        "for seed in range(3):\n    adam = Adam(1e-3)\n    make(seed).compile(loss='mse', optimizer=adam)\n",
        "adam = Adam(1e-3)\n"
        "if large:\n"
        "    m.compile(loss='mse', optimizer=adam)\n"
        "else:\n"
        "    m.compile(loss='mae', optimizer=adam)\n",
        "how = 'adam'\nd.compile(loss='mse', optimizer=how)\ng.compile(loss='mse', optimizer=how)\n",
        "import re\nre.compile(adam)\nre.compile(adam)\n",
    ],
)
def test_leaves_alone(source):
    check_noop(HEAD + source, rule="shared-optimizers")


def test_in_code_of_today_it_is_a_hint():
    source = "import keras\nadam = keras.optimizers.Adam()\na.compile(adam, 'mse')\nb.compile(adam, 'mse')\n"
    assert found(source, "shared-optimizers") == [(3, "rewritten"), (4, "rewritten")]


LOOP = """\
import tensorflow as tf
from parallel_compat import parallelize
opt, other = tf.keras.optimizers.Adam(), tf.keras.optimizers.Adam()
def step(a, b):
    opt.apply_gradients(zip(ga, a.trainable_variables))
    {}.apply_gradients(zip(gb, {}))
"""


def test_one_optimizer_for_several_lists_of_variables():
    """Keras 3: "Unknown variable", where tf.keras added the second list."""
    assert found(LOOP.format("opt", "b.trainable_variables"), "shared-optimizers") == [(6, "attention")]
    assert found(LOOP.format("opt", "a.trainable_variables"), "shared-optimizers") == []
    assert found(LOOP.format("other", "b.trainable_variables"), "shared-optimizers") == []
