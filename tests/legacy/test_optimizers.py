"""Optimizers with `lr` and `decay`, and old code that shares one between models."""

from __future__ import annotations

import pickle

import keras
import numpy as np
import pytest

from parallel_compat.legacy import layers, optimizers


def one_weight(optimizer):
    model = keras.Sequential([layers.Dense(1, use_bias=False, input_shape=(1,))])
    model.compile(loss="mse", optimizer=optimizer)
    model.set_weights([np.array([[1.0]])])
    return model


def steps(model, count):
    weights = [1.0]
    for _ in range(count):
        model.train_on_batch(np.ones((1, 1)), np.zeros((1, 1)))
        weights.append(float(model.get_weights()[0][0, 0]))
    return weights


@pytest.mark.parametrize("make", [lambda: optimizers.SGD(lr=0.1, decay=0.5), lambda: optimizers.SGD(0.1, decay=0.5)])
def test_decay_follows_the_old_formula(make):
    expected = [1.0]
    for iteration in range(5):
        expected.append(expected[-1] - 0.1 / (1 + 0.5 * iteration) * 2 * expected[-1])
    np.testing.assert_allclose(steps(one_weight(make()), 5), expected, rtol=1e-6)


def test_the_class_is_keras_own():
    optimizer = optimizers.SGD(lr=0.1, decay=0.5)
    assert type(optimizer) is keras.optimizers.SGD
    assert keras.optimizers.serialize(optimizer)["class_name"] == "SGD"
    assert pickle.loads(pickle.dumps(type(optimizer))) is keras.optimizers.SGD


def test_a_copy_for_a_second_model_keeps_the_decay():
    optimizer = optimizers.SGD(lr=0.1, decay=0.5)
    one_weight(optimizer)
    expected = [1.0]
    for iteration in range(4):
        expected.append(expected[-1] - 0.1 / (1 + 0.5 * iteration) * 2 * expected[-1])
    np.testing.assert_allclose(steps(one_weight(optimizer), 4), expected, rtol=1e-6)
