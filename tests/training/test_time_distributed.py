"""`TimeDistributed` in a parallel model: in one call where that gives the same, and always what one device gives."""

from __future__ import annotations

import keras
import numpy as np
import pytest
from keras import layers

from parallel_compat import parallelize
from parallel_compat.training.time_distributed import may_be_folded
from tests.one_device import difference, train_both


class Own(layers.Dense):
    """A user's class: what it does is not known."""


def functional(of):
    inputs = keras.Input((4, 3))
    return keras.Model(inputs, of(inputs))


FOLDED = {
    "dense": lambda: layers.Dense(3, activation="tanh"),
    "recurrent": lambda: layers.Bidirectional(layers.GRU(2)),
    "LSTM": lambda: layers.LSTM(2),
    "convolution": lambda: keras.Sequential([layers.Conv1D(2, 2), layers.Flatten(), layers.Dense(2)]),
    "model": lambda: functional(
        lambda x: layers.Add()([layers.SimpleRNN(2)(x), layers.Flatten()(layers.Conv1D(1, 3)(x))])
    ),
}
IN_STEPS = {
    "statistics of the batch": lambda: keras.Sequential([layers.Flatten(), layers.BatchNormalization()]),
    "a user's layer": lambda: Own(2),
    "regularized outputs": lambda: keras.Sequential([layers.Dense(2, activity_regularizer="l2")]),
}
DRAWS_KEEPS_OR_JOINS = [
    layers.LSTM(2, dropout=0.5),
    layers.LSTM(2, recurrent_dropout=0.5),
    layers.RNN(layers.LSTMCell(2)),
    keras.Sequential([layers.Dense(2), layers.Dropout(0.5)]),
    layers.GRU(2, stateful=True),
    layers.Lambda(lambda x: x),
    functional(lambda x: keras.ops.mean(x, axis=(0, 1), keepdims=True) + x),
]


def build(inner, time):
    inputs = keras.Input((time, 4, 3))
    x = layers.TimeDistributed(inner(), name="each")(inputs)
    return keras.Model(inputs, layers.Dense(2)(layers.GlobalAveragePooling1D()(layers.Reshape((-1, x.shape[-1]))(x))))


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", [*FOLDED, *IN_STEPS])
def test_results_are_those_of_one_device(name):
    inner = {**FOLDED, **IN_STEPS}[name]
    assert may_be_folded(inner()) == (name in FOLDED)
    generator = np.random.default_rng(0)
    x, y = generator.normal(size=(20, 5, 4, 3)).astype("float32"), generator.normal(size=(20, 2)).astype("float32")
    if name == "statistics of the batch":  # each replica has its own batch in training
        model = build(inner, 5)
        assert difference(parallelize(model, gpus=2).predict(x, verbose=0), model.predict(x, verbose=0)) < 1e-6
        return
    # Where the number of steps is not known, Keras maps over them, and a loss cannot leave the map.
    time = None if name in FOLDED else 5
    train_both(lambda: build(inner, time), lambda: {"optimizer": "sgd", "loss": "mse"}, x, y)


def test_masks_reach_the_layer_inside():
    def build():
        words = keras.Input((4, 6), dtype="int32")
        x = layers.TimeDistributed(layers.Embedding(9, 3, mask_zero=True))(words)
        x = layers.TimeDistributed(layers.SimpleRNN(3))(x)
        return keras.Model(words, layers.Dense(2)(layers.SimpleRNN(3)(x)))

    generator = np.random.default_rng(0)
    x = generator.integers(0, 3, (20, 4, 6)).astype("int32")
    y = generator.normal(size=(20, 2)).astype("float32")
    train_both(build, lambda: {"optimizer": "sgd", "loss": "mse"}, x, y)


@pytest.mark.parametrize("layer", DRAWS_KEEPS_OR_JOINS, ids=lambda layer: type(layer).__name__)
def test_what_draws_keeps_or_joins_samples_goes_step_by_step(layer):
    assert not may_be_folded(layer)


def test_the_layer_inside_is_called_once_for_each_replica(monkeypatch):
    calls = []
    original = layers.Dense.call
    monkeypatch.setattr(layers.Dense, "call", lambda self, *a, **k: calls.append(self.name) or original(self, *a, **k))
    inputs = keras.Input((50, 3))
    model = keras.Model(inputs, layers.TimeDistributed(layers.Dense(2, name="inside"))(inputs))
    parallel = parallelize(model, gpus=2)
    parallel.compile("sgd", "mse")
    calls.clear()
    parallel.train_on_batch(np.ones((4, 50, 3)), np.ones((4, 50, 2)))
    assert calls.count("inside") <= 4
