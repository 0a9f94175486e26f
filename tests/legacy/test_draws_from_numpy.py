"""`np.random` is drawn from for a model's weights as Keras 2.2.4 did."""

from __future__ import annotations

import keras
import numpy as np
import pytest

import parallel_compat
from parallel_compat.names.eras import Era


@pytest.fixture
def of_keras_2_2_4():
    parallel_compat.install(era=Era.KERAS_2_2_4)
    yield
    parallel_compat.uninstall()


# What Keras 2.2.4 drew next, after `np.random.seed(7)` and a model of one such layer.
NEXT = {
    "Dense": (lambda: keras.layers.Dense(3), (5,), 189636),
    "LSTM, orthogonal": (lambda: keras.layers.LSTM(2), (4, 3), 110271),
    "Embedding": (lambda: keras.layers.Embedding(4, 2), (3,), 189636),
    "seeded": (
        lambda: keras.layers.Dense(3, kernel_initializer=keras.initializers.glorot_normal(seed=3)),
        (5,),
        585903,
    ),
    "two": (
        lambda: keras.layers.Dense(3, kernel_initializer="truncated_normal", bias_initializer="random_uniform"),
        (5,),
        573977,
    ),
    "SeparableConv2D": (lambda: keras.layers.SeparableConv2D(2, 2), (4, 4, 1), 573977),
}


@pytest.mark.usefixtures("of_keras_2_2_4")
def test_weights_draw_from_numpy_as_in_keras_2_2_4():
    drawn = {}
    for name, (layer, shape, _) in NEXT.items():
        np.random.seed(7)
        keras.models.Sequential([keras.layers.InputLayer(shape), layer()])
        drawn[name] = np.random.randint(1000000)
    assert drawn == {name: number for name, (_, _, number) in NEXT.items()}
