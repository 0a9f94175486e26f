from __future__ import annotations

import keras
import numpy as np
import pytest

from parallel_compat.legacy.metrics import metric_function
from parallel_compat.migrate.native import legacy_numerics
from parallel_compat.names.identifiers import NEED_TARGETS_OF_RANK
from tests.migrate.check import check_noop, check_transformed

HEAD = "import keras\nfrom keras.models import Sequential\n"
AFTER = (
    "import keras\nfrom parallel_compat.legacy.metrics import metric_function\nfrom keras.models import Sequential\n"
)
FUNCTION = "metric_function"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "model.compile('sgd', 'mse', metrics=['acc', 'hinge'])",
            f"model.compile('sgd', 'mse', metrics=['acc', {FUNCTION}('hinge')])",
        ),
        (
            "from tools import f1\nmodel.compile('sgd', 'mse', metrics={'a': [f1]})",
            f"from tools import f1\nmodel.compile('sgd', 'mse', metrics={{'a': [{FUNCTION}(f1)]}})",
        ),
        (
            "from tools import f1\nmodel = Sequential()\nmodel.compile('sgd', 'mse', ['mae', f1])",
            f"from tools import f1\nmodel = Sequential()\nmodel.compile('sgd', 'mse', metrics=['mae', {FUNCTION}(f1)])",
        ),
        (
            "def top(k):\n    def top_k(y, p):\n        return y\n    return top_k\n"
            "METRICS = [top(3)]\nmodel.compile('sgd', 'mse', metrics=METRICS)",
            "def top(k):\n    def top_k(y, p):\n        return y\n    return top_k\n"
            f"METRICS = [{FUNCTION}(top(3))]\nmodel.compile('sgd', 'mse', metrics=METRICS)",
        ),
        (
            "import tools\ndef ready(model, metrics=None):\n    if metrics is None:\n        metrics = ['mse']\n"
            "    metrics.extend(metrics)\n"
            "    metrics += [tools.f1]\n    metrics.append(tools.dice)\n    metrics = metrics + [keras.metrics.AUC()]\n"
            "    model.compile('sgd', 'mse', metrics=metrics)",
            "import tools\ndef ready(model, metrics=None):\n    if metrics is None:\n        metrics = ['mse']\n"
            "    metrics.extend(metrics)\n"
            f"    metrics += [{FUNCTION}(tools.f1)]\n    metrics.append({FUNCTION}(tools.dice))\n"
            "    metrics = metrics + [keras.metrics.AUC()]\n    model.compile('sgd', 'mse', metrics=metrics)",
        ),
    ],
)
def test_is_given_old_targets(before, after):
    source = HEAD.replace("import keras\n", "import keras\n", 1)
    check_transformed(f"{source}{before}\n", f"{AFTER}{after}\n")


@pytest.mark.parametrize(
    "line",
    [
        "model.compile('sgd', 'mse', metrics=['mae', keras.metrics.AUC()])",
        "class F1(keras.metrics.Metric):\n    pass\nmodel.compile('sgd', 'mse', metrics=[F1, F1()])",
        "pattern.compile(metrics)",
    ],
)
def test_leaves_alone(line):
    check_noop(f"{HEAD}{line}\n", rule="metric-functions")


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("metrics", "metrics"),
        ("self.metrics", "self.metrics"),
        ("[metrics, 'mae']", "metrics"),
        ("{'out': self.chosen['out']}", "self.chosen['out']"),
    ],
)
def test_metrics_that_come_from_elsewhere(given, name):
    head, imported = "from keras.models import Model\n", "from parallel_compat.legacy.metrics import metric_function\n"
    made = "def train(self, x, y, metrics):\n    model = Model(x, y)\n    model.compile('sgd', 'mse', metrics="
    after = given.replace(name, f"metric_function({name})")
    check_transformed(f"{head}{made}{given})\n", f"{head}{imported}{made}{after})\n")


def test_an_attribute_of_a_library_or_of_another_file_is_no_metric_of_elsewhere():
    head = "import numpy as np, scores\nfrom keras.models import Model\nmodel = Model(x, y)\n"
    check_noop(f"{head}model.compile('sgd', 'mse', metrics=[np.mean, model.layers[0]])\n", rule="metric-functions")


def product(y_true, y_pred):
    assert y_true.dtype == y_pred.dtype
    return keras.ops.mean(y_true * y_pred)


def test_targets_with_and_without_their_axis_give_the_same_number():
    """Keras 3 alone gives another number for each, or raises (seen in 3.15)."""
    x = np.random.default_rng(0).normal(size=(16, 3)).astype("float32")
    y = np.arange(16) % 2
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1, activation="sigmoid")])
    names = sorted(NEED_TARGETS_OF_RANK - {"kld", "KLD", "kullback_leibler_divergence"})
    seen = []
    for targets in (y, y[:, None]):
        model.compile("sgd", "mse", metrics=[metric_function(each) for each in ("mse", *names, product)])
        seen.append(model.evaluate(x, targets, verbose=0, return_dict=True))
    flat = seen[0]
    assert flat == pytest.approx(seen[1])
    assert flat["product"] == pytest.approx(np.mean(y * model.predict(x, verbose=0)[:, 0]), rel=1e-5)
    assert "product" in flat
    assert "hinge" in flat
    assert metric_function("accuracy") == "accuracy"
    for wrapped in (metric_function, legacy_numerics.metric_function):
        assert wrapped({"a": "accuracy", "b": ["acc"]}) == {"a": "accuracy", "b": ["acc"]}
        inside = [wrapped({"a": product})["a"], wrapped([product])[0]]
        assert not {product} & {*inside}
        assert [each.__name__ for each in inside] == ["product"] * 2
    auc = keras.metrics.AUC()
    assert metric_function(auc) is auc


def test_a_function_is_logged_under_its_own_name():
    """Keras 3 makes snake case of it; a checkpoint named `{val_PSNR:.2f}` finds no such number then."""

    def PSNR(y_true, y_pred):
        return keras.ops.mean(y_true - y_pred)

    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse", metrics=[metric_function(PSNR)])
    x, y = np.ones((4, 3), "float32"), np.ones((4, 1), "float32")
    history = model.fit(x, y, validation_data=(x, y), verbose=0).history
    assert sorted(history) == ["PSNR", "loss", "val_PSNR", "val_loss"]
