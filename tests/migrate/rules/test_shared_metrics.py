from __future__ import annotations

import pytest

from parallel_compat.migrate.engine import Options, analyse
from tests.migrate.check import check_noop, check_transformed, found, rewritten

RULE = "shared-metrics"
MODEL = "from keras.models import Model\nmodel = Model(i, [a, b])\n"


@pytest.mark.parametrize(
    ("model", "before", "after"),
    [
        (MODEL, "metrics=['mae']", "metrics=[['mae']] * 2"),
        (MODEL, "metrics=['mae', f, g]", "metrics=[['mae', f, g]] * 2"),
        (MODEL, "weighted_metrics=['mae']", "weighted_metrics=[['mae']] * 2"),
        (MODEL.replace("[a, b]", "outputs=(a, b, c)"), "metrics=[f]", "metrics=[[f]] * 3"),
        (
            "from keras.models import Model\nouts = []\nfor each in steps:\n    outs.append(f(each))\n"
            "model = Model(i, outputs=outs)\n",
            "metrics=['mae']",
            "metrics=[['mae']] * len(model.outputs)",
        ),
        (
            "from keras.models import Model\nfrom parallel_compat import multi_gpu_model\n"
            "outs = [f(x) for x in (a, b)]\nsingle = Model(i, outs)\nmodel = multi_gpu_model(single, 2)\n",
            "metrics=['mae']",
            "metrics=[['mae']] * 2",
        ),
    ],
)
def test_each_output_gets_the_list(model, before, after):
    check_transformed(
        f"{model}model.compile('sgd', 'mse', {before})\n", f"{model}model.compile('sgd', 'mse', {after})\n"
    )


IMPORTS = "from keras.models import Model\n"


@pytest.mark.parametrize(
    "source",
    [
        IMPORTS + "def build():\n    return Model(i, [a, b])\nnet = build()\nnet.compile('sgd', 'mse', metrics={})\n",
        IMPORTS + "class GAN:\n    def __init__(self):\n        self.net = self.build()\n"
        "        self.net.compile('sgd', 'mse', metrics={})\n    def build(self):\n        return Model(i, [a, b])\n",
        IMPORTS + "def train(net):\n    net.compile('sgd', loss=['mse', 'mae'], metrics={})\n",
        IMPORTS + "def train(net):\n    net.compile('sgd', {'a': 'mse', 'b': 'mae'}, metrics={})\n",
        IMPORTS + "losses = ['mse', 'mae']\nnet = make()\nnet.compile('sgd', losses, metrics={})\n",
        IMPORTS + "net = make()\nnet.compile('sgd', 'mse', loss_weights=[1, 2], metrics={})\n",
    ],
)
def test_outputs_are_counted_where_the_model_is_made_or_by_its_losses(source):
    check_transformed(source.replace("{}", "['accuracy']"), source.replace("{}", "[['accuracy']] * 2"))


def test_outputs_are_counted_in_another_file(tmp_path):
    (tmp_path / "nets.py").write_text(IMPORTS + "def build():\n    return Model(i, [a, b])\n")
    source = "import keras\nfrom nets import build\nnet = build()\nnet.compile('sgd', 'mse', metrics=['acc'])\n"
    text = rewritten(analyse(source, Options(), str(tmp_path / "train.py")))
    assert "metrics=[['acc']] * 2" in text


def test_as_many_metrics_as_outputs_may_be_one_each_in_newer_code():
    source = f"{MODEL}model.compile('sgd', 'mse', metrics=['mae', 'mse'])\n"
    check_noop(source, unsafe=False)
    assert found(source, RULE) == [(3, "unsafe")]
    old = f"{MODEL}from keras.layers.core import Dense\nmodel.compile('sgd', 'mse', metrics=['mae', 'mse'])\n"
    assert found(old, RULE) == [(4, "rewritten")]


@pytest.mark.parametrize(
    "source",
    [
        f"{MODEL}model.compile('sgd', 'mse', metrics=[['mae'], ['mse']])\n",
        f"{MODEL}model.compile('sgd', 'mse', metrics={{'a': ['mae']}})\n",
        f"{MODEL}model.compile('sgd', 'mse', metrics=chosen)\n",
        "from keras.models import Model\nmodel = Model(i, [a])\nmodel.compile('sgd', 'mse', metrics=['mae'])\n",
        "from keras.models import Model\nmodel = Model(i, outputs)\nmodel.compile('sgd', 'mse', metrics=['mae'])\n",
        f"{MODEL}model = other(model)\nmodel.compile('sgd', 'mse', metrics=['mae'])\n",
    ],
)
def test_what_is_not_known_or_is_nested_stays(source):
    assert found(source, RULE) == []


def test_keras_3_computes_them_for_each_output():
    import keras
    import numpy as np

    inputs = keras.Input((3,))
    model = keras.Model(inputs, [keras.layers.Dense(1, name=name)(inputs) for name in "ab"])
    model.compile("sgd", "mse", metrics=["mae"])
    with pytest.raises(ValueError, match=r"`metrics`"):
        model.fit(np.ones((2, 3)), [np.ones((2, 1))] * 2, verbose=0)
    model.compile("sgd", "mse", metrics=[["mae"]] * 2)
    history = model.fit(np.ones((2, 3)), [np.ones((2, 1))] * 2, verbose=0).history
    assert {"a_mae", "b_mae"} <= set(history)
