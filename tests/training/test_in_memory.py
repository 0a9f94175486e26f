"""Calls on arrays in memory, which go past Keras's loops, give what they gave through them."""

from __future__ import annotations

import io
import re
import traceback
from contextlib import redirect_stdout

import keras
import numpy as np
import pytest

from parallel_compat import parallelize
from parallel_compat.training import in_memory

SAMPLES = 23


def general(*given):
    return "as asked"


class Record(keras.callbacks.Callback):
    """Writes down every call."""

    def __init__(self, stop_after=None):
        super().__init__()
        self.calls = []
        self.stop_after = stop_after

    def __getattribute__(self, name):
        if not name.startswith("on_"):
            return super().__getattribute__(name)

        def hook(*given, **keywords):
            logs = given[-1] if given and isinstance(given[-1], dict) else keywords.get("logs")
            position = [each for each in given if isinstance(each, int)]
            rounded = {key: np.round(np.mean(value), 4) for key, value in (logs or {}).items()}
            self.calls.append((name, position, list(rounded), list(rounded.values())))
            if name == self.stop_after:
                self.model.stop_training = True

        return hook


class Relabel(keras.callbacks.Callback):
    """Changes the weights between epochs."""

    def on_epoch_end(self, epoch, logs=None):
        self.model.optimizer.learning_rate = 0.01 / (epoch + 1)


def data():
    generator = np.random.default_rng(0)
    x = generator.normal(size=(SAMPLES, 6))  # float64
    return x, {"cls": generator.integers(0, 3, SAMPLES), "reg": generator.normal(size=(SAMPLES, 2)).astype("float32")}


def compiled(outputs=1, **arguments):
    keras.utils.set_random_seed(0)
    inputs = keras.Input((6,))
    hidden = keras.layers.BatchNormalization()(keras.layers.Dense(8, "tanh")(inputs))
    cls = keras.layers.Dense(3, "softmax", name="cls")(hidden)
    reg = keras.layers.Dense(2, name="reg")(hidden)
    parallel = parallelize(keras.Model(inputs, {"cls": cls, "reg": reg} if outputs == 2 else cls), 2)
    losses = {"cls": "sparse_categorical_crossentropy", "reg": "mse"}
    metrics = {"cls": ["accuracy", keras.metrics.SparseTopKCategoricalAccuracy(2, name="top")], "reg": ["mae"]}
    parallel.compile(
        keras.optimizers.SGD(0.05, momentum=0.9),
        losses if outputs == 2 else losses["cls"],
        metrics=metrics if outputs == 2 else metrics["cls"],
        **arguments,
    )
    return parallel


def numbers(value):
    return [np.asarray(leaf, "float64") for leaf in keras.tree.flatten(value)]


def assert_same(first, second):
    for a, b in zip(numbers(first), numbers(second), strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-6)


def forget_momentum(model):
    for variable in model.optimizer.variables:
        if "momentum" in variable.path:
            variable.assign(np.zeros(variable.shape))


GRID = {
    "plain": {},
    "whole batch": {"batch_size": SAMPLES},
    "split": {"validation_split": 0.3},
    "validation": {"validation_data": "arrays", "validation_freq": 2, "validation_batch_size": 9},
    "weights": {"sample_weight": np.linspace(0, 2, SAMPLES)},
    "classes": {"class_weight": {0: 1.0, 1: 0.2, 2: 3.0}, "batch_size": 7},
    "epochs": {"epochs": 5, "initial_epoch": 3},
    "no epochs": {"epochs": 0},
    "stops after a batch": {"stop_after": "on_train_batch_end"},
    "stops after an epoch": {"stop_after": "on_epoch_end"},
}


@pytest.fixture(scope="module")
def models():
    """Two models that are alike, traced once for the grid; the second one goes the general way."""
    return compiled(), compiled()


@pytest.mark.one_in(2)
@pytest.mark.parametrize("case", GRID)
def test_fit_is_that_of_keras(case, models, monkeypatch):
    x, targets = data()
    arguments = {"batch_size": 8, "epochs": 2, "shuffle": False, **GRID[case]}
    stop_after = arguments.pop("stop_after", None)
    if arguments.get("validation_data") == "arrays":
        arguments["validation_data"] = (x[:10], targets["cls"][:10])
    start = models[0].get_weights()
    found = []
    for model, reason in zip(models, (None, "as asked"), strict=True):
        model.set_weights(start)
        forget_momentum(model)
        record = Record(stop_after)
        printed = io.StringIO()
        with monkeypatch.context() as patch, redirect_stdout(printed):
            if reason:
                patch.setattr(in_memory, "why_keras_loop", general)
            history = model.fit(x, targets["cls"], callbacks=[record, Relabel()], verbose=2, **arguments)
        lines = re.sub(r"\d+[mu]?s\b", "time", printed.getvalue())
        found.append((history.history, history.epoch, record.calls, model.get_weights(), record.params, lines))
    (history, epoch, calls, weights, params, lines), other = found
    assert (epoch, params, lines) == (other[1], other[4], other[5])
    assert list(history) == list(other[0])
    assert_same(history, other[0])
    assert_same(weights, other[3])
    assert [call[:3] for call in calls] == [call[:3] for call in other[2]]
    np.testing.assert_allclose(
        [v for call in calls for v in call[3]], [v for call in other[2] for v in call[3]], atol=2e-4
    )


def test_the_other_calls_are_those_of_keras(monkeypatch):
    x, y = data()
    model = compiled(outputs=2)
    weight = {"cls": np.linspace(0, 2, SAMPLES), "reg": np.ones(SAMPLES)}
    calls = {
        "evaluate": lambda: model.evaluate(x, y, batch_size=8, verbose=0),
        "weighed": lambda: model.evaluate(x, y, batch_size=8, sample_weight=weight, return_dict=True, verbose=0),
        "test": lambda: model.test_on_batch(x, y, sample_weight=weight),
        "test, named": lambda: model.test_on_batch(x, y, return_dict=True),
        "predict": lambda: model.predict(x, batch_size=9, verbose=0),
        "predict one": lambda: model.predict(x[:1], verbose=0),
        "predict_on_batch": lambda: model.predict_on_batch(x),
        "train": lambda: model.train_on_batch(x, y),
        "evaluate after it": lambda: model.evaluate(x, y, return_dict=True, verbose=0),
    }
    start = model.get_weights()
    found = {}
    for reason in (None, "as asked"):
        model.set_weights(start)
        forget_momentum(model)
        with monkeypatch.context() as patch:
            if reason:
                patch.setattr(in_memory, "why_keras_loop", general)
            for name, call in calls.items():
                found[name, reason] = call()
    for name in calls:
        fast, slow = found[name, None], found[name, "as asked"]
        assert type(fast) is type(slow), name
        if isinstance(fast, dict):
            assert list(fast) == list(slow), name
        assert_same(fast, slow)


def test_errors_are_those_of_keras(monkeypatch):
    x, y = data()
    model = compiled()
    wrong = {
        "lengths": lambda: model.fit(x, y["cls"][:5], verbose=0),
        "both weights": lambda: model.fit(x, y["cls"], sample_weight=np.ones(SAMPLES), class_weight={0: 1.0}),
        "split": lambda: model.fit(x, y["cls"], validation_split=0.99, verbose=0),
        "shape": lambda: model.fit(np.ones((4, 5)), y["cls"][:4], verbose=0),
        "shape, predicted": lambda: model.predict(np.ones((4, 5)), verbose=0),
        "unknown argument": lambda: model.fit(x, y["cls"], epoch=3),
        "no targets": lambda: model.fit(x, verbose=0),
    }
    for name, call in wrong.items():
        errors = []
        for reason in (None, "as asked"):
            with monkeypatch.context() as patch:
                if reason:
                    patch.setattr(in_memory, "why_keras_loop", general)
                try:
                    call()
                    errors.append(None)
                except Exception as error:  # compared below
                    errors.append(error)
        assert errors[1] is not None, name
        assert type(errors[0]) is type(errors[1]), (name, errors)
        assert str(errors[0])[:60] == str(errors[1])[:60], name


def test_one_trace_for_all_numbers_of_samples():
    x, y = data()
    model = compiled()
    for n in (23, 8, 5, 1, 2, 17):
        model.fit(x[:n], y["cls"][:n], batch_size=4, verbose=0)
        model.evaluate(x[:n], y["cls"][:n], batch_size=4, verbose=0)
        model.predict(x[:n], batch_size=4, verbose=0)
        model.train_on_batch(x[:n], y["cls"][:n])
        model.test_on_batch(x[:n], y["cls"][:n])
        model.predict_on_batch(x[:n])
    functions = vars(model)["_parallel_compat_step_functions"]
    assert {key: function.traces for key, function in functions.items()} == dict.fromkeys(functions, 1)
    assert len(functions) == 5  # metrics that go on, and metrics of one batch, are two functions


def test_a_loss_that_wants_the_number_of_samples_is_traced_for_it():
    keras.utils.set_random_seed(0)
    parallel = parallelize(keras.Sequential([keras.Input((6,)), keras.layers.Dense(1)]), 2)
    parallel.compile("sgd", lambda y, p: keras.ops.sum((y - p) ** 2) / float(y.shape[0]))
    x, y = np.ones((8, 6)), np.zeros((8, 1))
    expected = float(np.mean(parallel.predict_on_batch(x) ** 2))
    assert parallel.test_on_batch(x, y) == pytest.approx(expected, rel=1e-5)
    assert parallel.test_on_batch(x[:4], y[:4]) == pytest.approx(expected, rel=1e-5)


def test_what_keras_loop_runs():
    x, y = data()[0], data()[1]["cls"]
    model = compiled()
    assert in_memory.why_keras_loop("fit", model, {"x": x, "y": y}) is None

    class Own(keras.Model):
        def train_step(self, data):
            return {"loss": 0.0}

    for arguments in (
        {"x": [[1.0]]},
        {"x": x, "steps_per_epoch": 2},
        {"x": x, "validation_data": iter([x])},
        {"x": None},
    ):
        assert in_memory.why_keras_loop("fit", model, arguments), arguments
    own = Own(model.template.inputs, model.template.outputs)
    own.compile("sgd", "mse")
    assert "overrides" in in_memory.why_keras_loop("fit", own, {"x": x})
    assert in_memory.why_keras_loop("predict", own, {"x": x}) is None
    model.train_function = lambda iterator: {"loss": 0.0}
    assert "set by the user" in in_memory.why_keras_loop("fit", model, {"x": x, "y": y})
    model.compile("sgd", "sparse_categorical_crossentropy", run_eagerly=True)
    assert "run_eagerly" in in_memory.why_keras_loop("fit", model, {"x": x, "y": y})


def test_a_template_that_was_never_called_trains_as_with_keras():
    x, y = data()[0], data()[1]["reg"]
    model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(2)])
    model.compile("sgd", "mse", metrics=["mae"])
    arguments = {"x": x, "y": y, "return_dict": True}
    expected = model.test_on_batch(**arguments)
    found = in_memory.call("test_on_batch", model, model.test_on_batch, arguments)
    assert list(found) == list(expected)
    np.testing.assert_allclose(list(found.values()), list(expected.values()), rtol=1e-5)
    history = in_memory.call("fit", model, model.fit, {"x": x, "y": y, "batch_size": SAMPLES, "verbose": 0}).history
    assert history["loss"] == pytest.approx([float(expected["loss"])], rel=1e-5)


def test_a_step_is_traced_once_and_its_errors_are_raised_once():
    x, y = data()[0], data()[1]["reg"]
    calls = []

    def loss(y_true, y_pred):
        calls.append(y_true.shape)
        if error is not None:
            raise type(error)(*error.args)
        return keras.ops.mean((y_true - y_pred) ** 2, -1)

    def fit():
        calls.clear()
        model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(2)])
        model.compile("adam", loss)
        in_memory.call("fit", model, model.fit, {"x": x, "y": y, "verbose": 0})

    error = None
    fit()  # an optimizer that made its variables in the step would have TensorFlow trace it again
    assert calls == [(None, 2)]
    error = RuntimeError("not about the number of samples")
    with pytest.raises(RuntimeError, match="not about"):
        fit()
    assert calls == [(None, 2)]
    error = ValueError("perhaps about the number of samples")
    with pytest.raises(ValueError, match="perhaps") as raised:
        fit()
    assert calls == [(None, 2), (SAMPLES, 2)]
    shown = "".join(traceback.format_exception(raised.value))
    assert shown.count("in loss\n") == 1  # a traceback with one error, not with both


class Switching(keras.metrics.Mean):
    """A mean of a user's own, whose state is written within a branch of the graph."""

    def update_state(self, y_true, y_pred, sample_weight=None):
        keras.ops.cond(y_pred[0, 0] > -1e9, lambda: self.total.assign_add(2.0), lambda: self.total.assign_add(1.0))
        self.count.assign_add(1.0)


@pytest.mark.parametrize("replicas", [1, 2])
def test_metrics_hold_what_the_last_call_gave(replicas):
    x, y = data()[0], data()[1]["reg"]
    model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(2)])
    model = parallelize(model, gpus=2) if replicas == 2 else model
    model.compile("adam", "mse", metrics=["mae", Switching(name="own")])
    for name, arguments in (
        ("train_on_batch", {}),
        ("test_on_batch", {}),
        ("evaluate", {"batch_size": 5, "verbose": 0}),  # goes on from batch to batch
    ):
        arguments = {"x": x, "y": y, "return_dict": True, **arguments}
        assert in_memory.why_keras_loop(name, model, arguments) is None
        logs = in_memory.call(name, model, getattr(model, name), arguments)
        assert {each: float(value) for each, value in model.get_metrics_result().items()} == pytest.approx(logs)
        assert logs["own"] == 2.0
    assert logs["loss"] == pytest.approx(np.mean((model.predict(x, verbose=0) - y) ** 2), rel=1e-5)
