"""Stand-ins compute what the real stacks computed: `tests/data/legacy/record_stand_ins.py` recorded it."""

from __future__ import annotations

import json
from pathlib import Path

import keras
import numpy as np
import pytest
import tensorflow as tf

from parallel_compat.legacy import (
    activations,
    constraints,
    contrib_layers,
    dot_products,
    losses,
    losses_utils,
    optimizers,
    ragged,
    schedules,
)

DATA = Path(__file__).parent.parent / "data" / "legacy"
RECORDED = {
    key: value
    for name in ("keras-2.2.4", "tf.keras-2.2")
    for key, value in json.loads((DATA / f"stand_ins.{name}.json").read_text()).items()
}
_RNG = np.random.RandomState(0)
T, P = _RNG.rand(3, 4).astype("f4"), _RNG.rand(3, 4).astype("f4")


def check(name, value, **tolerance):
    np.testing.assert_allclose(
        np.asarray(value), np.asarray(RECORDED[name]), **{"rtol": 1e-5, "atol": 1e-6, **tolerance}
    )


@pytest.mark.parametrize("size", [3, 4, 5])
def test_radial_constraint(size):
    kernel = np.arange(size * size * 2, dtype="f4").reshape(size, size, 2, 1)
    check(f"radial/{size}", constraints.RadialConstraint()(kernel))


def test_linear_cosine_decay():
    schedule = schedules.LinearCosineDecay(0.1, 10, num_periods=1.5, alpha=0.2, beta=0.01)
    check("linear_cosine", [float(schedule(step)) for step in range(0, 14, 2)])


def test_noise_of_a_schedule_falls_with_the_steps():
    plain = schedules.LinearCosineDecay(1.0, 1000, beta=0.0)
    noisy = schedules.NoisyLinearCosineDecay(1.0, 1000, initial_variance=0.01, variance_decay=1.0, beta=0.0)
    early, late = (np.std([float(noisy(step)) - float(plain(step)) for _ in range(200)]) for step in (0, 99))
    assert early == pytest.approx(0.1, rel=0.2)
    assert late == pytest.approx(0.1 / 10 * (0.5 + 0.5 * np.cos(np.pi * 0.099)), rel=0.2)


@pytest.mark.parametrize(
    ("name", "x", "y", "axes"),
    [
        (next(key for key in RECORDED if key.startswith("batch_dot/") and np.ndim(RECORDED[key]) == rank), x, y, axes)
        for rank, x, y, axes in (
            (5, (2, 5, 3, 4), (2, 5, 4, 6), None),
            (3, (2, 3, 4), (2, 3, 4), 2),
            (2, (2, 3, 4), (2, 4), (2, 1)),
        )
    ],
)
def test_batch_dot(name, x, y, axes):
    one, two = np.random.RandomState(1).rand(*x).astype("f4"), np.random.RandomState(2).rand(*y).astype("f4")
    check(name, dot_products.batch_dot(one, two, axes))
    symbolic = keras.Input(x[1:]), keras.Input(y[1:])
    model = keras.Model(symbolic, dot_products.batch_dot(*symbolic, axes))
    check(name, model.predict([one, two], verbose=0))


def test_ragged_inputs():
    dense, lengths = ragged.to_dense(tf.ragged.constant([[1.0, 2.0], [3.0]]))
    check("ragged/dense", dense)
    check("ragged/lengths", lengths)
    check("ragged/back", ragged.from_dense(True, dense, lengths).to_list()[0])
    assert ragged.from_dense(False, dense, lengths) is dense


@pytest.mark.parametrize("name", ["hinge", "squared_hinge", "cosine_proximity"])
def test_losses_of_keras_2(name):
    check(f"losses/{name}", getattr(losses, name)(T, P))


def test_huber_loss_and_the_wrapper_of_functions():
    huber = losses.LossFunctionWrapper(losses.huber_loss, reduction="none", delta=0.3)
    check("huber", np.mean(huber(T, P * 2), axis=-1))


@pytest.mark.parametrize("reduction", ["none", "sum", "sum_over_batch_size"])
def test_weighted_losses(reduction):
    weighted = losses_utils.compute_weighted_loss(tf.constant(T), tf.constant([[1.0], [0.0], [2.0]]), reduction)
    check(f"weighted_loss/{reduction}", weighted)


def test_hard_sigmoid():
    check("hard_sigmoid", activations.hard_sigmoid(np.linspace(-4, 4, 9).astype("f4")))


def test_regularizers_of_contrib():
    check("contrib/l1", contrib_layers.l1_regularizer(0.1)(P))
    check("contrib/l2", contrib_layers.l2_regularizer(0.1)(P))
    assert contrib_layers.l1_regularizer(0.0) is contrib_layers.l2_regularizer(0.0) is None


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("xavier/True", lambda: contrib_layers.xavier_initializer(seed=1)),
        ("xavier/False", lambda: contrib_layers.xavier_initializer(uniform=False, seed=1)),
        ("variance_scaling", lambda: contrib_layers.variance_scaling_initializer(seed=1)),
    ],
)
def test_initializers_of_contrib_have_the_spread(name, make):
    drawn = np.asarray(make()((400, 600)))
    check(f"contrib/{name}", [drawn.std(), np.abs(drawn).max()], rtol=0.01)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("SGD", {"momentum": 0.9, "nesterov": True}),
        ("Adam", {}),
        ("Adamax", {}),
    ],
)
def test_optimizers_step_as_in_keras_2(name, arguments):
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1, use_bias=False)])
    model.compile(loss="mse", optimizer=getattr(optimizers, name)(lr=0.1, decay=0.5, **arguments))
    model.set_weights([np.array([[1.0]])])
    weights = []
    for _ in range(5):
        model.train_on_batch(np.ones((1, 1)), np.zeros((1, 1)))
        weights.append(float(model.get_weights()[0][0, 0]))
    check(f"optimizers/{name}", weights)
