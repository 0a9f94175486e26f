"""Metrics that attributes of layers and models hold: layers in tf.keras. The numbers are of its real stacks."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np
import pytest
import tensorflow as tf

import parallel_compat

if TYPE_CHECKING:
    from collections.abc import Iterator

X = np.random.RandomState(0).rand(8, 3).astype("float32")
Y = X[:, :1]
BOTH = pytest.mark.parametrize("era", ["tf.keras-1.15", "tf.keras-2.2"])


@contextmanager
def classes(era: str) -> Iterator[tuple[Any, Any]]:
    """Yield `keras` of an era, and a layer that logs the mean of what it computes."""
    with parallel_compat.legacy_names(era=era):
        from tensorflow import keras

        keras.backend.clear_session()

        class Endpoint(keras.layers.Layer):
            def __init__(self, **keywords: Any) -> None:
                super().__init__(**keywords)
                self.mean = keras.metrics.Mean(name="mm")

            def build(self, shape: Any) -> None:
                self.w = self.add_weight("w", (3, 1), initializer="ones")
                self.c = self.add_weight("c", (), trainable=False, initializer="zeros")

            def call(self, x: Any) -> Any:
                y = tf.matmul(x, self.w)
                self.add_metric(self.mean(y), name="mm", aggregation=None)
                return y

        yield keras, Endpoint


def functional(keras: Any, endpoint: Any) -> Any:
    x = keras.layers.Input((3,))
    return keras.Model(x, keras.layers.Dense(1, name="d", kernel_initializer="ones")(endpoint(name="one")(x)))


def sums(model: Any) -> list[float]:
    return [round(float(np.sum(weight)), 4) for weight in model.get_weights()]


@BOTH
@pytest.mark.parametrize("replicas", [1, 2])
def test_what_the_metric_of_a_layer_counts_with_is_among_the_weights(era: str, replicas: int, tmp_path: Any) -> None:
    with classes(era) as (keras, endpoint):
        model = functional(keras, endpoint)
        assert [tuple(weight.shape) for weight in model.weights] == [(3, 1), (), (), (), (1, 1), (1,)]
        assert [tuple(weight.shape) for weight in model.non_trainable_weights] == [(), (), ()]
        assert (len(model.trainable_weights), model.count_params(), model.layers[1].count_params()) == (3, 8, 6)
        trained = parallel_compat.parallelize(model, replicas) if replicas > 1 else model
        trained.compile("sgd", "mse")
        history = trained.fit(X, Y, epochs=2, batch_size=4, verbose=0, shuffle=False).history
        np.testing.assert_allclose(history["mm"], [1.81526, 1.76163], atol=1e-5)
        after = [2.8385, 0.0, 14.093, 8.0, 0.8311, -0.0886]
        assert sums(model) == pytest.approx(after, abs=1e-3)

        path = str(tmp_path / "weights.h5")
        model.save_weights(path)
        with h5py.File(path) as file:
            assert [len(file[name].attrs["weight_names"]) for name in file.attrs["layer_names"]] == [0, 4, 2]
        zeros = [np.zeros_like(weight) for weight in model.get_weights()]
        for by_name in (False, True):
            model.set_weights(zeros)
            assert sums(model) == [0.0] * 6
            model.load_weights(path, by_name=by_name)
            assert sums(model) == pytest.approx(after, abs=1e-3)
        model.save_weights(str(tmp_path / "checkpoint"), save_format="tf")
        keys = [name.partition("/.ATTR")[0] for name, _ in tf.train.list_variables(str(tmp_path / "checkpoint"))]
        assert {"layer_with_weights-0/mean/total", "layer_with_weights-0/mean/count"} <= set(keys)
        model.set_weights(zeros)
        model.load_weights(str(tmp_path / "checkpoint"))
        assert sums(model) == pytest.approx(after, abs=1e-3)
        with pytest.raises(ValueError, match="those of its metrics among them"):
            model.set_weights([np.zeros((3, 1)), 0.0, np.zeros((1, 1)), np.zeros(1)])
        model.layers[1].trainable = False
        assert [len(model.trainable_weights), len(model.non_trainable_weights)] == [2, 4]


@pytest.mark.parametrize(("era", "weights", "layers"), [("tf.keras-1.15", 2, "d"), ("tf.keras-2.2", 5, "d t u")])
def test_what_is_assigned_to_a_model_of_a_graph_counts_since_tensorflow_2(era: str, weights: int, layers: str) -> None:
    with classes(era) as (keras, _):
        x = keras.layers.Input((3,))
        dense = keras.layers.Dense(1, name="d")
        for model in (keras.Model(x, dense(x)), keras.Sequential([keras.layers.Dense(1, input_shape=(3,), name="d")])):
            model.tracker, model.listed = keras.metrics.Mean(name="t"), [keras.metrics.Sum(name="u")]
            assert len(model.get_weights()) == weights
            assert [layer.name for layer in model.layers if layer.weights] == layers.split()
            lines: list[str] = []
            model.summary(print_fn=lines.append)
            assert f"Total params: {weights + 2}" in lines  # the kernel has three
            assert any("t (Mean)" in line for line in lines) is (weights == 5)
            if era == "tf.keras-2.2":
                model.compile("sgd", "mse")
                assert sorted(model.fit(X, Y, verbose=0).history) == ["loss", "t"]  # no list is looked into
        deferred = keras.Sequential([keras.layers.Dense(1)])
        deferred.tracker = keras.metrics.Mean()
        deferred(tf.constant(X))
        assert len(deferred.get_weights()) == 2


@BOTH
def test_those_of_a_script_s_own_model_stand_where_their_attributes_do(era: str, tmp_path: Any) -> None:
    with classes(era) as (keras, endpoint):

        class Net(keras.Model):
            def __init__(self) -> None:
                super().__init__()
                self.first = keras.metrics.Mean(name="first")
                self.d = keras.layers.Dense(1, name="d")
                self.some = [keras.metrics.MeanSquaredError(name="x"), keras.layers.Dense(1, name="e")]
                self.one = endpoint(name="one")
                self.last = keras.metrics.AUC(num_thresholds=5, name="last")

            def call(self, x: Any) -> Any:
                return self.some[1](self.d(x)) + self.one(x)

        model = Net()
        model.predict(X, batch_size=8)
        assert [layer.name for layer in model.layers] == ["first", "d", "x", "e", "one", "last"]
        shapes = [(), (), (3, 1), (1,), (1, 1), (1,), (), (), (3, 1), (), (), (), (5,), (5,), (5,), (5,)]
        assert [tuple(weight.shape) for weight in model.weights] == shapes
        assert model.get_layer("x") is model.some[0]
        assert model.get_layer(index=0) is model.first

        # As TensorFlow 2.2.3 writes it.
        groups = {
            "first": ["total:0", "count:0"],
            "d": ["net/d/kernel:0", "net/d/bias:0"],
            "x": ["total:0", "count:0"],
            "e": ["net/e/kernel:0", "net/e/bias:0"],
            "one": ["net/one/w:0", "net/one/c:0", "total:0", "count:0"],
            "last": [f"{kind}s:0" for kind in ("true_positive", "true_negative", "false_positive", "false_negative")],
        }
        of_file = [(), (), (3, 1), (1,), (), (), (1, 1), (1,), (3, 1), (), (), (), (5,), (5,), (5,), (5,)]
        path = str(tmp_path / "weights.h5")
        with h5py.File(path, "w") as file:
            file.attrs["layer_names"] = [name.encode() for name in groups]
            file.attrs["backend"], file.attrs["keras_version"] = b"tensorflow", b"2.3.0-tf"
            number = 0
            for layer, names in groups.items():
                group = file.create_group(layer)
                group.attrs["weight_names"] = [name.encode() for name in names]
                for name in names:
                    group[name] = np.full(of_file[number], number + 1.0, "float32")
                    number += 1
        expected = [1.0, 2.0, 3.0, 4.0, 7.0, 8.0, 5.0, 6.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0]
        for by_name in (False, True):
            model.set_weights([np.zeros(shape) for shape in shapes])
            model.load_weights(path, by_name=by_name)
            assert [float(np.mean(weight)) for weight in model.get_weights()] == expected
        own = str(tmp_path / "own.h5")
        model.save_weights(own)
        model.set_weights([np.zeros(shape) for shape in shapes])
        model.load_weights(own)
        assert [float(np.mean(weight)) for weight in model.get_weights()] == expected

        model.compile("sgd", "mse")
        model.fit(X, Y, batch_size=8, verbose=0)
        model.added_later = keras.metrics.Mean(name="later")
        assert (len(model.weights), model.layers[-1].name) == (18, "later")
        model.some[0].update_state([1.0], [3.0])
        model.reset_metrics()  # of none in a list
        assert float(model.some[0].result()) == pytest.approx((5 + 4) / (6 + 1))
        model.reset_states()
        assert float(model.some[0].result()) == 0.0
        for layer in model.layers:
            layer.trainable = False
        assert (len(model.trainable_weights), len(model.non_trainable_weights)) == (0, 18)


def test_weights_of_a_model_within_are_found_in_its_one_group(tmp_path: Any) -> None:
    with classes("tf.keras-2.2") as (keras, endpoint):
        inner = keras.Sequential([endpoint(name="one", input_shape=(3,)), keras.layers.BatchNormalization(name="bn")])
        model = keras.Sequential([inner, keras.layers.Dense(1, name="z")])
        values = [np.full(weight.shape, number, "float32") for number, weight in enumerate(model.get_weights())]
        zeros = [np.zeros_like(value) for value in values]
        model.set_weights(values)
        model.save_weights(str(tmp_path / "own.h5"))
        for by_name in (False, True):
            model.set_weights(zeros)
            model.load_weights(str(tmp_path / "own.h5"), by_name=by_name)
            assert [float(np.mean(weight)) for weight in model.get_weights()] == list(map(float, range(10)))
        # A file of before, which had none of them, leaves them alone.
        with h5py.File(tmp_path / "own.h5", "r+") as file:
            group = file[inner.name]
            group.attrs["weight_names"] = [name for name in group.attrs["weight_names"] if "mm/" not in str(name)]
        model.set_weights(zeros)
        model.load_weights(str(tmp_path / "own.h5"))
        assert [float(np.mean(weight)) for weight in model.get_weights()] == [0, 1, 0, 0, 4, 5, 6, 7, 8, 9]


@BOTH
def test_only_what_was_added_is_logged_of_what_layers_hold(era: str) -> None:
    with classes(era) as (keras, _):

        class Counting(keras.layers.Layer):
            def __init__(self, **keywords: Any) -> None:
                super().__init__(**keywords)
                self.mean, self.listed = keras.metrics.Mean(name="a"), [keras.metrics.Sum(name="b")]

            def call(self, x: Any) -> Any:
                if era == "tf.keras-2.2":
                    self.mean.update_state(x)
                return x

        x = keras.layers.Input((3,))
        model = keras.Model(x, keras.layers.Dense(1)(Counting()(x)))
        model.compile("sgd", "mse", metrics=["mae"])
        history = model.fit(X, Y, epochs=2, batch_size=4, verbose=0).history
        assert list(history) == ["loss", "mae" if era == "tf.keras-2.2" else "mean_absolute_error"]
        assert len(model.evaluate(X, Y, verbose=0)) == 2
        if era == "tf.keras-2.2":  # it goes on counting from epoch to epoch
            assert model.layers[1].get_weights()[1] == 72.0


def test_metrics_of_models_within_are_logged_layer_by_layer() -> None:
    with classes("tf.keras-2.2") as (keras, endpoint):

        class Inner(keras.Model):
            def __init__(self) -> None:
                super().__init__()
                self.d = keras.layers.Dense(1, kernel_initializer="ones")
                self.attribute = keras.metrics.Sum(name="attribute")

            def call(self, x: Any) -> Any:
                y = self.d(x)
                self.add_metric(tf.reduce_mean(y), name="made", aggregation="mean")
                return y

        class Outer(keras.Model):
            def __init__(self) -> None:
                super().__init__()
                self.inner, self.one = Inner(), endpoint(name="one")
                self.total = keras.metrics.Mean(name="t")

            def call(self, x: Any) -> Any:
                y = self.inner(x) + self.one(x)
                self.add_metric(self.total(y), name="t", aggregation=None)
                self.add_metric(tf.reduce_sum(y), name="own", aggregation="mean")
                return y

        model = Outer()
        model.compile("sgd", "mse", metrics=["mae"])
        history = model.fit(X, Y, epochs=2, batch_size=8, verbose=0).history
        np.testing.assert_allclose(history["made"], [1.8314, 1.6927], atol=1e-4)
        np.testing.assert_allclose(history["own"], [29.3018, 27.5858], atol=1e-3)
        assert model.metrics_names == ["loss", "mae", "t", "own", "attribute", "made", "mm"]
        results = model.evaluate(X, Y, batch_size=8, verbose=0)
        np.testing.assert_allclose(results, [7.9859, 2.7298, 3.2482, 25.9855, 0.0, 1.5634, 1.6848], atol=1e-3)
        model.train_on_batch(X, Y)
        assert [model.total.get_weights(), model.one.mean.get_weights()] == [[0.0, 0.0]] * 2


def test_a_folder_has_what_a_layer_of_no_configuration_counts_with(tmp_path: Any) -> None:
    with classes("tf.keras-2.2") as (keras, endpoint):
        model = functional(keras, endpoint)
        model.save(str(tmp_path / "folder"))
        loaded = keras.models.load_model(str(tmp_path / "folder"))
        np.testing.assert_allclose(loaded.predict(X), model.predict(X), atol=1e-6)


@BOTH
def test_a_first_batch_leaves_nothing_counted_unless_it_is_told_to(era: str) -> None:
    with classes(era) as (keras, endpoint):
        for reset, counted in ((True, [0.0, 0.0]), (False, [14.651, 8.0])):
            model = functional(keras, endpoint)
            model.compile("sgd", "mse")
            model.train_on_batch(X, Y, reset_metrics=reset)
            assert sums(model)[2:4] == pytest.approx(counted, abs=1e-3)
