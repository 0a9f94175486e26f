"""`train_on_batch`, `test_on_batch`, `predict_on_batch` split the batch and return what one device returns."""

from __future__ import annotations

import keras
import numpy as np
import pytest
import tensorflow as tf

from parallel_compat import parallelize
from tests.one_device import classes, difference, mlp


@pytest.mark.one_in(2)
@pytest.mark.parametrize("rows", [1, 2, 3, 4, 8, 13])
def test_on_batch(rows):
    x, y = classes(rows)
    returned = []
    for replicas in (1, 4):
        keras.utils.set_random_seed(0)
        template = mlp()
        model = template if replicas == 1 else parallelize(template, replicas)
        model.compile(keras.optimizers.SGD(0.5), "categorical_crossentropy", metrics=["accuracy"])

        def logs(method, *, model=model, **given):
            model.reset_metrics()  # Keras before 3.15 adds up from call to call, a parallel model does not
            return method(x, y, **given)

        returned.append(
            [
                model.predict_on_batch(x),
                [logs(model.train_on_batch) for _ in range(3)],
                logs(model.test_on_batch),
                logs(model.train_on_batch, sample_weight=np.arange(1.0, rows + 1)),
                logs(model.train_on_batch, class_weight={0: 1.0, 1: 2.0, 2: 0.5}),
                model.predict_on_batch(x),
                template.get_weights(),
            ]
        )
    assert returned[1][0].shape == (rows, 3)
    assert difference(*returned) < 1e-5


def test_each_replica_computes_its_own_rows():
    """Which rows a replica sees is that of the old function: equal parts, the rest for the last."""
    seen = []

    class Spy(keras.layers.Layer):
        def call(self, inputs):
            context = tf.distribute.get_replica_context()
            if tf.executing_eagerly():
                device = tf.math.square(inputs).device[-5:]
                seen.append((int(context.replica_id_in_sync_group), device, inputs.numpy().ravel().tolist()))
            return inputs

    inputs = keras.Input((1,))
    parallel = parallelize(keras.Model(inputs, Spy()(inputs)), 4)
    parallel.compile(loss="mse", run_eagerly=True)
    seen.clear()
    parallel.predict_on_batch(np.arange(11.0, dtype="float32")[:, None])
    assert sorted((replica, rows) for replica, _, rows in seen) == [
        (0, [0, 1]), (1, [2, 3]), (2, [4, 5]), (3, [6, 7, 8, 9, 10])
    ]  # fmt: skip
    assert sorted(device for _, device, _ in seen) == ["CPU:0", "CPU:1", "CPU:2", "CPU:3"]


@pytest.mark.parametrize("kind", ["dict", "list", "tuple", "strings", "integers", "one dimension"])
def test_kinds_of_inputs(kind):
    a, b = keras.Input((2,), name="a"), keras.Input((2,), name="b")
    x = {"a": np.ones((7, 2)), "b": np.arange(14.0).reshape(7, 2)}
    if kind in ("dict", "list", "tuple"):
        template = keras.Model([a, b], keras.layers.Subtract()([a, b]))
        data = {"dict": x, "list": list(x.values()), "tuple": tuple(x.values())}[kind]
    elif kind == "strings":
        inputs = keras.Input((1,), dtype="string")
        template = keras.Model(inputs, keras.layers.StringLookup(vocabulary=["u", "v"])(inputs))
        data = np.array([["u"], ["v"], ["w"]])
        data = tf.constant(data)
    elif kind == "integers":
        inputs = keras.Input((3,), dtype="int32")
        template = keras.Model(inputs, keras.layers.Embedding(9, 2)(inputs))
        data = np.arange(9).reshape(3, 3)
    else:
        inputs = keras.Input((1,))
        template, data = keras.Model(inputs, keras.layers.Dense(2)(inputs)), np.arange(5.0)
    parallel = parallelize(template, 4)
    assert difference(parallel.predict(data, verbose=0), template.predict(data, verbose=0)) < 1e-6
    assert difference(parallel.predict_on_batch(data), template.predict_on_batch(data)) < 1e-6


def test_dataset():
    x, y = classes(50)
    weights = []
    for replicas in (1, 3):
        keras.utils.set_random_seed(0)
        template = mlp()
        model = template if replicas == 1 else parallelize(template, replicas)
        model.compile(keras.optimizers.SGD(0.5), "categorical_crossentropy")
        model.fit(tf.data.Dataset.from_tensor_slices((x, y)).batch(16), epochs=2, verbose=0)
        weights.append(template.get_weights())
    assert difference(*weights) < 1e-5


def test_scalar_output_gives_the_mean_over_rows():
    """The old function could not concatenate a loss that a model computes in its graph."""
    inputs = keras.Input((2,))
    template = keras.Model(inputs, keras.ops.mean(inputs))
    x = np.arange(14.0, dtype="float32").reshape(7, 2)
    assert float(parallelize(template, 3).predict_on_batch(x)) == pytest.approx(x.mean())


def test_inputs_of_different_lengths_are_refused():
    a, b = keras.Input((2,)), keras.Input((2,))
    parallel = parallelize(keras.Model([a, b], keras.layers.Add()([a, b])), 2)
    with pytest.raises(ValueError, match="same number of samples"):
        parallel.predict_on_batch([np.ones((4, 2)), np.ones((3, 2))])
