"""Weights and gradients that the devices pass on to each other: what crosses, and that it is what was sent."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import keras
import numpy as np
import pytest
import tensorflow as tf

from parallel_compat import parallelize
from parallel_compat.training import weight_exchange
from parallel_compat.training.weight_exchange import WeightExchange, check_weights
from tests.one_device import classes, difference, mlp, train_both

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
from partitions import traffic_of

DEVICES = [f"/job:localhost/replica:0/task:0/device:CPU:{i}" for i in range(8)]


def bytes_by_device(exchange, variables, n):
    """What each device sends and receives: weights along the trees, gradients back."""
    sent, received = Counter(), Counter()
    for variable, route in zip(variables, exchange.routes(variables).values(), strict=True):
        item = tf.as_dtype(variable.dtype).size
        for elements, tree in zip(route.sizes, route.trees, strict=True):
            assert set(tree) == set(range(n)) - {route.root}
            for device, sender in tree.items():
                for start, end in ((sender, device), (device, sender)):
                    sent[start] += elements * item
                    received[end] += elements * item
        if not route.trees:
            size = int(np.prod(variable.shape)) * item
            sent[route.root] += size * (n - 1)
            received[route.root] += size * (n - 1)
        assert not route.trees or sum(route.sizes) == np.prod(variable.shape)
    return sent, received


@pytest.mark.parametrize("n", [2, 3, 4, 8])
@pytest.mark.parametrize(
    "shapes",
    [[(784, 1024), (1024,), (1024, 1024), (1024,), (1024, 10)], [(512, 512)], [(3, 3, 128, 128), (128,)] * 40],
    ids=["mlp", "one kernel", "convolutions"],
)
def test_no_device_carries_more_than_in_a_ring(shapes, n):
    variables = [keras.Variable(np.zeros(shape, "float32")) for shape in shapes]
    weights = 4 * sum(int(np.prod(shape)) for shape in shapes)
    for counted in bytes_by_device(WeightExchange(DEVICES[:n]), variables, n):
        assert max(counted.values()) <= 1.1 * 2 * weights * (n - 1) / n


def wide():
    inputs = keras.Input((256,))
    hidden = keras.layers.Dense(256, activation="tanh")(inputs)
    return keras.Model(inputs, keras.layers.Dense(8)(hidden))


def busiest(model, x, y, turns=1):
    model.compile("sgd", "mse")
    batch = tf.data.Dataset.from_tensors((x, y))
    return traffic_of(lambda: model.fit(batch, verbose=0), turns).busiest


def test_bytes_of_the_partitioned_graph():
    x, y = np.ones((8, 256), "float32"), np.ones((8, 8), "float32")
    weights = 4 * wide().count_params()
    ring = 2 * weights * 3 / 4
    assert busiest(parallelize(wide(), 4, weights="mirrored"), x, y) <= 1.1 * (ring + x.nbytes + y.nbytes)
    assert busiest(parallelize(wide(), 4, weights="one device"), x, y) >= 3 * weights


def test_a_loop_is_sent_its_weights_once():
    x, y = np.ones((4, 6, 8), "float32"), np.ones((4, 2), "float32")
    inputs = keras.Input((6, 8))
    template = keras.Model(inputs, keras.layers.Dense(2)(keras.layers.LSTM(16)(inputs)))
    sent = busiest(parallelize(template, 2, weights="one device"), x, y, turns=1000)
    assert sent <= 1.1 * (4 * template.count_params() + x.nbytes + y.nbytes)


def words():
    inputs = keras.Input((6,), dtype="int32")
    embedded = keras.layers.Embedding(4000, 8)(inputs)
    return keras.Model(inputs, keras.layers.Dense(2)(keras.layers.GlobalAveragePooling1D()(embedded)))


@pytest.mark.parametrize("weights", ["one device", "mirrored"])
@pytest.mark.parametrize("trainable", [True, False])
def test_an_embedding_sends_the_rows_that_a_batch_needs(weights, trainable):
    x, y = np.ones((8, 6), "int32"), np.ones((8, 2), "float32")
    template = words()
    template.layers[1].trainable = trainable
    rows, table = 8 * 6 * 8 * 4, 4000 * 8 * 4
    assert rows / 2 < busiest(parallelize(template, 4, weights=weights), x, y) < table / 4


@pytest.mark.one_in(2)
@pytest.mark.parametrize("weights", ["one device", "mirrored"])
def test_rows_of_an_embedding_train_as_on_one_device(weights):
    """Where more of the table is read its gradient is dense."""
    rng = np.random.default_rng(0)
    x, y = rng.integers(-20, 20, (101, 6)).astype("int32"), rng.normal(size=(101, 2)).astype("float32")

    def build():
        inputs = keras.Input((6,), dtype="int32")
        table = keras.layers.Embedding(20, 4)
        embedded = keras.layers.Flatten()(table(inputs))
        tied = keras.layers.Lambda(lambda e: keras.ops.matmul(e[:, :4], keras.ops.transpose(table.embeddings)))
        embedded = keras.layers.concatenate([embedded, tied(embedded)])
        return keras.Model(inputs, keras.layers.Dense(2)(embedded))

    def arguments():
        return {"optimizer": keras.optimizers.Adam(0.01), "loss": "mse"}

    train_both(build, arguments, x, y, replicas=4, weights=weights)


class Weights(keras.layers.Layer):
    """Gives each sample the kernel that its replica has."""

    def build(self, shape):
        self.kernel = self.add_weight(shape=(shape[-1], 5), initializer="random_normal")

    def call(self, inputs):
        return keras.ops.sum(inputs) * 0 + keras.ops.tile(self.kernel[None], (keras.ops.shape(inputs)[0], 1, 1))


def test_the_same_bits_on_every_device(monkeypatch):
    monkeypatch.setattr(weight_exchange, "SMALL", 0)
    x, _ = classes(16)
    inputs = keras.Input((8,))
    template = keras.Model(inputs, Weights()(inputs))
    parallel = parallelize(template, 4, weights="mirrored")
    parallel.compile(keras.optimizers.Adam(0.1), "mse")
    for _ in range(3):
        parallel.train_on_batch(x, np.zeros((16, 8, 5)))
        (kernel,) = template.get_weights()
        seen = parallel.predict(x, verbose=0)
        assert all(np.array_equal(each, kernel) for each in seen)
    # Between steps one device alone keeps weights and the optimizer's state, which each keeps under MirroredStrategy.
    assert len({v.value.device for v in [*template.variables, *parallel.optimizer.variables]}) == 1


@pytest.mark.parametrize("places", [("CPU:3", "CPU:3"), ("CPU:1", "CPU:2")], ids=["on none", "on several"])
def test_variables_that_are_on_other_devices(places, monkeypatch):
    monkeypatch.setattr(weight_exchange, "SMALL", 0)

    def build():
        inputs = keras.Input((8,))
        layers = [keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(3, activation="softmax")]
        for layer, place, shape in zip(layers, places, [(None, 8), (None, 16)], strict=True):
            with tf.device(place):
                layer.build(shape)
        return keras.Model(inputs, layers[1](layers[0](inputs)))

    arguments = {"optimizer": "adam", "loss": "categorical_crossentropy"}
    train_both(build, lambda: dict(arguments), *classes(101), replicas=3, weights="mirrored")


def test_written_by_a_function_that_was_traced_before(monkeypatch):
    monkeypatch.setattr(weight_exchange, "SMALL", 0)
    x, y = classes(32)
    template = mlp()
    template.compile("sgd", "categorical_crossentropy")
    template.train_on_batch(x, y)
    parallel = parallelize(template, 4, weights="mirrored")
    assert repr(parallel).endswith("CPU:3, weights='mirrored'>")
    parallel.predict(x, verbose=0)
    template.train_on_batch(x, y)
    assert difference(parallel.predict(x, verbose=0), template.predict(x, verbose=0)) < 1e-6


def strategy_of(kind, n, replicas=None):
    devices = [f"/job:localhost/replica:0/task:0/device:{kind}:{i}" for i in range(n)]
    return SimpleNamespace(extended=SimpleNamespace(worker_devices=devices), num_replicas_in_sync=replicas or n)


def test_auto(monkeypatch):
    monkeypatch.setattr(tf.config, "list_logical_devices", lambda kind: ["GPU"] * 4)
    monkeypatch.setattr(tf.config, "list_physical_devices", lambda kind: ["GPU"] * 4)
    assert check_weights("auto", strategy_of("CPU", 4)) == "one device"
    assert check_weights("auto", strategy_of("GPU", 2)) == "one device"  # the same bytes
    assert check_weights("auto", strategy_of("GPU", 3)) == "mirrored"
    assert check_weights("auto", strategy_of("GPU", 4, replicas=8)) == "one device"
    monkeypatch.setattr(tf.config, "list_physical_devices", lambda kind: ["GPU"])
    assert check_weights("auto", strategy_of("GPU", 4)) == "one device"  # parts of one


def test_refused():
    with pytest.raises(ValueError, match=r"Expected `weights` to be one of 'auto'.*Received: 'everywhere'"):
        parallelize(mlp(), 2, weights="everywhere")
    with pytest.raises(ValueError, match="on several workers"):
        check_weights("mirrored", strategy_of("GPU", 1, replicas=2))
