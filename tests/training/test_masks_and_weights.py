"""Masks, sample weights and class weights count as they do on the global batch."""

from __future__ import annotations

import keras
import numpy as np
import pytest

from parallel_compat import parallelize
from tests.one_device import classes, mlp, train_both

ROWS = 101


def tokens(seed=0):
    """Sentences of 1 to 7 tokens, padded with 0 to 7: masks differ much from row to row."""
    generator = np.random.default_rng(seed)
    x = generator.integers(1, 20, (ROWS, 7))
    x[np.arange(7) >= generator.integers(1, 8, ROWS)[:, None]] = 0
    return x


def tagger(recurrent=True):
    inputs = keras.Input((7,), dtype="int32")
    hidden = keras.layers.Embedding(20, 5, mask_zero=True)(inputs)
    if recurrent:
        hidden = keras.layers.LSTM(4, return_sequences=True)(hidden)
    return keras.Model(inputs, keras.layers.Dense(3, activation="softmax")(hidden))


def compiled(**arguments):
    return lambda: {"optimizer": keras.optimizers.SGD(0.3), "loss": "sparse_categorical_crossentropy", **arguments}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("merge", ["auto", "always"])
@pytest.mark.parametrize("recurrent", [True, False])
def test_mask_of_an_embedding(recurrent, merge):
    y = np.random.default_rng(1).integers(0, 3, (ROWS, 7))
    train_both(
        lambda: tagger(recurrent), compiled(metrics=["accuracy"], weighted_metrics=["accuracy"]), tokens(), y,
        replicas=3, merge=merge,
    )  # fmt: skip


@pytest.mark.parametrize("reduction", ["sum", "mean_with_sample_weight"])
def test_mask_with_another_reduction(reduction):
    y = np.random.default_rng(1).integers(0, 3, (ROWS, 7))
    rate = 0.01 if reduction == "sum" else 0.3

    def arguments():
        loss = keras.losses.SparseCategoricalCrossentropy(reduction=reduction)
        return {"optimizer": keras.optimizers.SGD(rate), "loss": loss}

    train_both(lambda: tagger(recurrent=reduction == "sum"), arguments, tokens(), y, replicas=3)


@pytest.mark.parametrize("shape", [(28, 1), (28,)])
def test_mask_with_sample_weights(shape):
    """Each replica gets as many rows as there are steps: weights of rows are none of steps."""
    y = np.random.default_rng(1).integers(0, 3, (28, 7))
    weights = np.random.default_rng(2).uniform(0, 2, shape).astype("float32")
    arguments = compiled(weighted_metrics=["accuracy"])
    train_both(
        lambda: tagger(recurrent=False), arguments, tokens()[:28], y, replicas=4, fit={"sample_weight": weights}
    )  # fmt: skip


def test_sample_weights_per_step():
    y = np.random.default_rng(1).integers(0, 3, (ROWS, 7))
    weights = np.random.default_rng(2).uniform(0, 2, (ROWS, 7)).astype("float32")
    train_both(
        lambda: tagger(recurrent=False), compiled(), tokens(), y, replicas=4, fit={"sample_weight": weights}
    )  # fmt: skip


@pytest.mark.parametrize("replicas", [2, 4])
def test_sample_weights(replicas):
    weights = np.random.default_rng(2).uniform(0, 2, ROWS).astype("float32")
    weights[:40] = 0  # one replica's rows can all weigh nothing
    arguments = compiled(loss="categorical_crossentropy", metrics=["accuracy"])
    train_both(mlp, arguments, *classes(ROWS), replicas=replicas, fit={"sample_weight": weights})


def test_class_weights():
    arguments = compiled(loss="categorical_crossentropy", metrics=["accuracy"])
    train_both(mlp, arguments, *classes(ROWS), replicas=3, fit={"class_weight": {0: 0.2, 1: 1.0, 2: 5.0}})


def test_class_weights_of_integer_targets():
    x, y = classes(ROWS)
    train_both(mlp, compiled(), x, y.argmax(1), replicas=3, fit={"class_weight": {0: 0.2, 1: 1.0, 2: 5.0}})


def test_sample_weights_by_output():
    def build():
        inputs = keras.Input((8,))
        outputs = [keras.layers.Dense(3, name="a")(inputs), keras.layers.Dense(1, name="b")(inputs)]
        return keras.Model(inputs, outputs)

    x, y = classes(ROWS)
    weights = [np.random.default_rng(s).uniform(0, 2, ROWS).astype("float32") for s in (1, 2)]
    arguments = compiled(loss="mse", weighted_metrics=[["mae"], ["mae"]])
    train_both(build, arguments, x, [y, y[:, :1]], replicas=3, fit={"sample_weight": weights})


@pytest.mark.parametrize("merge", ["auto", "always"])
def test_a_weight_for_each_sample_weighs_the_mean_of_all_its_values(merge):
    # As many samples as steps in time: laid on one another as numpy does, the weights would be other samples'.
    x = np.random.default_rng(0).normal(size=(5, 5, 5, 5, 2)).astype("float32")
    weight = np.array([0.5, 2.0, 0.0, 1.0, 3.0], "float32")
    for rank in (3, 4, 5):
        data = x[(slice(None), *[0] * (5 - rank))]
        inputs = keras.Input(data.shape[1:])
        template = keras.Model(inputs, keras.layers.Dense(1, kernel_initializer="ones")(inputs))
        parallel = parallelize(template, 2, merge=merge)
        per_sample = np.mean(data.sum(-1) ** 2, axis=tuple(range(1, rank - 1)))
        parallel.compile("sgd", "mse", weighted_metrics=["mse"])
        loss, metric = parallel.test_on_batch(data, np.zeros((*data.shape[:-1], 1)), sample_weight=weight)
        assert loss == pytest.approx(np.mean(per_sample * weight), rel=1e-5)
        assert metric == pytest.approx(np.sum(per_sample * weight) / weight.sum(), rel=1e-5)
