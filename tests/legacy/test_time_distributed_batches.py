"""BatchNormalization in `TimeDistributed`: over batch and time, or step by step; losses of the real stacks."""

from __future__ import annotations

import keras
import numpy as np
import pytest

import parallel_compat

X = np.random.RandomState(0).rand(6, 3, 4)


class OfUser(keras.layers.Layer):
    def __init__(self, **keywords):
        super().__init__(**keywords)
        self.normal = keras.layers.BatchNormalization()

    def build(self, shape):
        self.normal.build(shape)

    def call(self, x):
        return self.normal(x)


def known(layer, **keywords):
    inputs = keras.layers.Input(**keywords)
    return keras.Model(inputs, keras.layers.TimeDistributed(layer)(inputs))


def by_data(layer):
    return keras.Sequential([keras.layers.TimeDistributed(layer)])


FOLDED, STEPS = 0.9820572, 0.9759024
MAKERS = {
    "a shape": lambda: known(keras.layers.BatchNormalization(), shape=(3, 4)),
    "the first batch": lambda: by_data(keras.layers.BatchNormalization()),
    "a fixed batch": lambda: known(keras.layers.BatchNormalization(), batch_shape=(4, 3, 4)),
    "a layer of the user's": lambda: known(OfUser(), shape=(3, 4)),
    "a layer of the user's, a fixed batch": lambda: known(OfUser(), batch_shape=(4, 3, 4)),
}


@pytest.mark.parametrize(
    ("era", "expected"),
    [
        ("keras-2.2.4", {"a shape": False, "the first batch": False}),
        ("tf.keras-1.15", {"a shape": False, "the first batch": False, "a layer of the user's": False}),
        (
            "tf.keras-2.2",
            {
                "a shape": False,
                "the first batch": False,
                "a fixed batch": False,
                "a layer of the user's": True,
                "a layer of the user's, a fixed batch": True,
            },
        ),
    ],
)
def test_time_is_folded_or_passed_step_by_step(era, expected):
    with parallel_compat.legacy_names(era=era):
        found = {}
        for name in expected:
            model = MAKERS[name]()
            model.compile("sgd", "mse")
            loss = model.train_on_batch(X[:4], np.zeros((4, 3, 4)))
            found[name] = bool(abs(loss - STEPS) < 1e-5)
            assert loss == pytest.approx(STEPS if expected[name] else FOLDED, abs=1e-5), name
            assert model.input_shape[0] == (4 if "fixed" in name else None)
        assert found == expected


def test_statistics_of_a_model_in_it_move_twice_a_step():
    """As TensorFlow 1.15 moved them, within what differed between its runs (2.5659 to 2.5664 for the mean)."""
    with parallel_compat.legacy_names(era="tf.keras-1.15"):
        x = keras.Input((4,))
        inner = keras.Model(x, keras.layers.Dense(3)(keras.layers.BatchNormalization()(x)))
        steps = keras.Input((3, 4))
        outputs = keras.layers.Dense(1)(keras.layers.Flatten()(keras.layers.TimeDistributed(inner)(steps)))
        model = keras.Model(steps, outputs)
        draw = np.random.RandomState(0)
        model.set_weights(
            [0.2 + draw.rand(*w.shape) if w.ndim == 1 else draw.randn(*w.shape) * 0.5 for w in model.get_weights()]
        )
        model.compile("sgd", "mse")
        draw = np.random.RandomState(1)
        data, labels = draw.randn(8, 3, 4), draw.randn(8, 1)
        for _ in range(3):
            model.train_on_batch(data, labels)
        sums = [np.abs(w).sum() for w in model.get_weights()]
        np.testing.assert_allclose(sums[4:6], [2.56635, 2.648], rtol=3e-4)
