from __future__ import annotations

import numpy as np
import pytest

from parallel_compat.migrate.engine import Options, analyse
from tests.migrate.check import check_transformed, found

RULE = "compiled-again"
OLD = "from keras.layers.core import Dense\n"


@pytest.mark.parametrize(
    "source",
    [
        "model.compile('adam', 'mse', metrics=['mae'])\nmodel.compile(optimizer='sgd', loss='mse'{})\n",
        "model.compile(optimizer='sgd', loss='mse'{})\nmodel.compile('adam', 'mse', weighted_metrics=['mae'])\n",
        "class Net:\n    def first(self):\n        self.m.compile('sgd', 'mse', metrics=chosen)\n"
        "    def second(self):\n        self.m.compile(loss='mse', optimizer='sgd'{})\n",
        "from keras.models import load_model\nmodel = load_model('m.h5')\nmodel.compile(loss='mse'{})\n",
        "m.compile('sgd', 'mse', metrics=['mae'])\nother = many(m) if gpus else m\nother.compile('sgd', 'mse'{})\n",
        "class Net:\n    def fit(self, m):\n        self.one = self.two = m\n        self.m = self.one\n"
        "        m.compile('sgd', 'mse', metrics=['mae'])\n        self.m.compile(loss='mse', optimizer='sgd'{})\n",
    ],
)
def test_metrics_of_before_do_not_stay(source):
    import_ = "from keras.models import Sequential\nfrom parallel_compat.legacy.models import predict_classes\n"
    after = source.format(", metrics=[]").replace("from keras.models", "from parallel_compat.legacy.models")
    check_transformed(import_ + source.format(""), import_ + after)


@pytest.mark.parametrize(
    "source",
    [
        f"{OLD}model.compile('sgd', 'mse', metrics=['mae'])\nother.compile(loss='mse', optimizer='sgd')\n",
        f"{OLD}if a:\n    m.compile('sgd', 'mse', metrics=['mae'])\nelse:\n    m.compile(loss='mse', optimizer='a')\n",
        f"{OLD}def f():\n    m = g()\n    m.compile('sgd', 'mse', metrics=['mae'])\n"
        "def h():\n    m = g()\n    m.compile(loss='mse', optimizer='sgd')\n",
        f"{OLD}import re\nmodel.compile('sgd', 'mse', metrics=['mae'])\nre.compile('x')\nmodel.compile(**given)\n",
        f"{OLD}from keras.models import load_model\nm = load_model('m.h5', compile=False)\nm.compile(loss='mse')\n",
        f"{OLD}model.compile(loss='mse', optimizer='sgd')\nmodel.compile(loss='mse', optimizer='adam')\n",
        f"{OLD}for m in a, b:\n    now = m\nnow = c\nm.compile('sgd', 'mse', metrics=['mae'])\nc.compile(loss='mse')\n",
    ],
)
def test_others_stay(source):
    assert found(source, RULE) == []


def test_it_counts_in_old_code_alone():
    source = "import keras\nm.compile('sgd', 'mse', metrics=['mae'])\nm.compile(loss='mse')\n"
    (finding,) = analyse(source, Options()).findings
    assert finding.hint


def test_keras_3_returns_a_number_again():
    import keras

    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    x, y = np.ones((2, 2)), np.ones((2, 1))
    model.compile("sgd", "mse", metrics=["mae"])
    assert np.shape(model.evaluate(x, y, verbose=0)) == (2,)
    model.compile("sgd", "mse")
    assert np.shape(model.evaluate(x, y, verbose=0)) == (2,)  # what the rule is for
    model.compile("sgd", "mse", metrics=[])
    assert np.shape(model.evaluate(x, y, verbose=0)) == np.shape(model.train_on_batch(x, y)) == ()
