from __future__ import annotations

import keras
import numpy as np
import pytest

import parallel_compat
from parallel_compat.legacy import models
from tests.migrate.check import check_noop, check_transformed, found, migrated

HEAD = "from keras.models import Model\nmodel = Model(x, {})\n"
SEVERAL = HEAD.format("[a, b]") + "model.compile('sgd', 'mse', metrics={'a': ['mae']})\n"


@pytest.mark.parametrize(
    ("before", "name", "after"),
    [
        ("scores = model.evaluate(x, y)", "evaluate", "scores = evaluate(model, x, y)"),
        ("print(model.train_on_batch(x, y))", "train_on_batch", "print(train_on_batch(model, x, y))"),
        ("loss, first = model.test_on_batch(x, y)", "test_on_batch", "loss, first = test_on_batch(model, x, y)"),
        ("print(model.metrics_names[1])", "metrics_names", "print(metrics_names(model)[1])"),
    ],
)
def test_becomes_a_function(before, name, after):
    imported = SEVERAL.replace("\nmodel =", f"\nfrom parallel_compat.legacy.models import {name}\nmodel =", 1)
    check_transformed(f"{SEVERAL}{before}\n", f"{imported}{after}\n")


@pytest.mark.parametrize(
    "compiled",
    [
        "'sgd', ['mse', 'mae'], metrics=['mae']",
        "'sgd', {'a': 'mse', 'b': 'mae'}, ['mae']",
        "'sgd', loss='mse', metrics={'a': 'mae'}",
        "'sgd', loss=losses, metrics=['mae']",
    ],
)
def test_what_compile_is_told_says_that_there_are_several_outputs(compiled):
    source = f"import keras\nlosses = ['mse', 'mae']\nmodel.compile({compiled})\nscores = model.evaluate(x, y)\n"
    assert found(source, "order-of-results") == [(4, "unsafe")]


@pytest.mark.parametrize(
    "source",
    [
        HEAD.format("a") + "model.compile('sgd', 'mse', metrics=['mae'])\nscores = model.evaluate(x, y)\n",
        HEAD.format("[a, b]") + "model.compile('sgd', 'mse')\nscores = model.evaluate(x, y)\n",
        SEVERAL + "model.train_on_batch(x, y)\nscores = model.evaluate(x, y, return_dict=True)\n",
        SEVERAL + "class Net(Model):\n    def names(self): return self.metrics_names\n",
    ],
)
def test_leaves_alone(source):
    check_noop(source, rule="order-of-results")


def test_names_of_what_may_be_no_model():
    assert found("import keras\nprint(net.metrics_names)\n", "order-of-results") == [(2, "unsafe")]
    assert "metrics_names(net)" in migrated("import keras\nprint(net.metrics_names)\n", unsafe=True)


def test_results_and_names_are_in_the_order_of_then():
    """TensorFlow 2.2.3 printed these; Keras 3 gives 0.5, 0.4823 before 0.10388, 0.27113."""
    inputs = keras.Input((4,))
    outputs = [
        keras.layers.Dense(1, name="zeta")(inputs),
        keras.layers.Dense(1, activation="sigmoid", name="alpha")(inputs),
    ]
    model = keras.Model(inputs, outputs)
    kernels = [np.random.RandomState(i + 3).uniform(-0.5, 0.5, each.shape) for i, each in enumerate(model.weights)]
    model.set_weights(kernels)
    metrics = {"zeta": ["mse", "mae"], "alpha": ["acc", "mae"]}
    model.compile("sgd", ["mse", "binary_crossentropy"], metrics=metrics)
    x, y = np.random.RandomState(10).rand(6, 4), np.random.RandomState(7).rand(6, 1)
    targets = [y, (np.arange(6) % 2).reshape(6, 1)]
    then = [0.79307, 0.10657, 0.6865, 0.10657, 0.27614, 0.5, 0.4824]
    np.testing.assert_allclose(models.train_on_batch(model, x, targets), then, atol=1e-5)
    then = [0.78981, 0.10388, 0.68593, 0.10388, 0.27113, 0.5, 0.4823]
    np.testing.assert_allclose(models.evaluate(model, x, targets, verbose=0), then, atol=1e-5)
    np.testing.assert_allclose(models.test_on_batch(model, x, targets), then, atol=1e-5)
    wanted = ["loss", "zeta_loss", "alpha_loss", "zeta_mse", "zeta_mae", "alpha_acc", "alpha_mae"]
    assert models.metrics_names(model) == wanted


def half(y_true, y_pred):
    return keras.ops.mean(y_pred) / 2


@pytest.mark.parametrize(
    ("outputs", "arguments"),
    [
        (1, {"loss": "mse"}),
        (1, {"loss": "mse", "metrics": ["acc", half, keras.metrics.mean_absolute_error], "weighted_metrics": ["mae"]}),
        (1, {"loss": ["mse"], "metrics": [["mae", "acc"]]}),
        (1, {"loss": "mse", "metrics": {"b": keras.metrics.MeanSquaredError()}}),
        (1, {"loss": "mse", "metrics": [lambda y_true, y_pred: keras.ops.mean(y_pred)]}),
        (2, {"loss": "mse", "metrics": [["acc"], ["mae", half]]}),
        (2, {"loss": ["mse", "mae"], "metrics": {"a": ["acc", "mse"], "b": "mae"}, "weighted_metrics": [["mse"], []]}),
        (2, {"loss": {"a": "mae", "b": "mse"}, "metrics": [["acc"], None]}),
        (2, {"loss": ["mse", None]}),
    ],
)
@pytest.mark.filterwarnings("ignore:The object being serialized includes a `lambda`")
def test_names_before_the_first_batch_are_those_after_it(outputs, arguments):
    inputs = keras.Input((3,))
    model = keras.Model(inputs, [keras.layers.Dense(1, name=name)(inputs) for name in ("b", "a")[:outputs]])
    model.compile("sgd", **arguments)
    before = models.metrics_names(model)
    model.train_on_batch(np.ones((2, 3)), [np.ones((2, 1))] * outputs)
    assert models.metrics_names(model) == before


def test_names_of_a_parallel_model_before_the_first_batch():
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
    parallel = parallel_compat.parallelize(model, devices=["CPU:0", "CPU:1"])
    parallel.compile("sgd", "mse", metrics=["mae"])
    assert models.metrics_names(parallel) == ["loss", "mae"]


def test_names_that_keras_makes_with_the_first_batch():
    class Own(keras.Model):
        def call(self, inputs):
            return inputs

    model = Own()
    with pytest.raises(ValueError, match="compiled model"):
        models.metrics_names(model)
    model.compile("sgd", "mse")
    with pytest.raises(ValueError, match="has seen a batch"):
        models.metrics_names(model)
    inputs = keras.Input((3,))
    model = keras.Model(inputs, {"p": keras.layers.Dense(1, name="a")(inputs), "q": inputs})
    model.compile("sgd", {"p": "mse", "q": "mse"})
    with pytest.raises(ValueError, match="has seen a batch"):
        models.metrics_names(model)


def test_the_function_that_is_written_by_its_path_is_not_taken_for_a_model():
    source = "from keras.layers import *\ndef f(m):\n    print(m.metrics_names)\n"
    after = migrated(source, unsafe=True)
    assert after.endswith("print(parallel_compat.legacy.models.metrics_names(m))\n")
    assert migrated(after, unsafe=True) == after


@pytest.mark.parametrize(("second", "is_found"), [("critic(b)", True), ("other(b)", False)])
def test_losses_of_outputs_of_one_layer(second, is_found):
    source = (
        "from keras.layers import Dense\nfrom keras.models import Model\ncritic, other = Dense(1), Dense(1)\n"
        f"fake = {second}\nmodel = Model([a, b], [critic(a), fake])\n"
        "model.compile('sgd', ['mse', 'mae'])\nlosses = model.train_on_batch(x, y)\n"
    )
    assert (found(source, "order-of-results") == [(7, "rewritten")]) is is_found
