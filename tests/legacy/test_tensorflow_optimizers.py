"""Optimizers of `tf.train` step as TensorFlow's own do, which still has them for graphs of TensorFlow 1."""

from __future__ import annotations

import keras
import numpy as np
import pytest
import tensorflow as tf

from parallel_compat.legacy import tensorflow_optimizers

GRADIENTS = np.random.default_rng(0).normal(size=(5, 4)).astype("float32")


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("GradientDescent", (0.1,)),
        ("Momentum", (0.1, 0.8)),
        ("Momentum", (0.1, 1, False, "m", True)),
        ("Adam", ()),
        ("Adam", (0.1, 0.8, 0.9, 1e-2)),
        ("Adagrad", (0.1,)),
        ("Adagrad", (0.1, 0.5)),
        ("Adadelta", (0.1,)),
        ("Ftrl", (0.1, -0.4, 0.2, 0.01, 0.02)),
        ("RMSProp", (0.1,)),
        ("RMSProp", (0.1, 0.8, 0.3, 1e-3, False, True)),
    ],
)
def test_steps(name, given):
    ours, theirs = keras.Variable(np.ones(4, "float32")), tf.Variable(np.ones(4, "float32"))
    made = getattr(tensorflow_optimizers, f"{name}Optimizer")(*given)
    wanted = getattr(tf.compat.v1.train, f"{name}Optimizer")(*given)
    for gradient in GRADIENTS:
        made.apply_gradients([(tf.constant(gradient), ours)])
        wanted.apply_gradients([(tf.constant(gradient), theirs)])
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-5, atol=1e-6)


def test_a_compiled_model_makes_the_same_steps():
    """It builds its optimizer in the graph of the step."""
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1, use_bias=False)])
    weight = tf.Variable(model.get_weights()[0])
    wanted = tf.compat.v1.train.RMSPropOptimizer(0.1)
    model.compile(tensorflow_optimizers.RMSPropOptimizer(0.1), "mse")
    x, y = np.eye(2, dtype="float32"), np.ones((2, 1), "float32")
    for _ in range(3):
        model.train_on_batch(x, y)
        wanted.apply_gradients([((tf.matmul(x, weight) - y), weight)])
    np.testing.assert_allclose(model.get_weights()[0], weight.numpy(), rtol=1e-5)


def test_a_compiled_model_is_saved_and_loaded(tmp_path):
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile(tensorflow_optimizers.RMSPropOptimizer(0.1, decay=0.8), "mse")
    model.fit(GRADIENTS, GRADIENTS[:, 0], verbose=0)
    model.save(tmp_path / "m.keras")
    loaded = keras.models.load_model(tmp_path / "m.keras")
    assert loaded.optimizer.rho == 0.8
    for one in (model, loaded):
        one.fit(GRADIENTS, GRADIENTS[:, 0], verbose=0)
    np.testing.assert_allclose(*(one.predict(GRADIENTS, verbose=0) for one in (model, loaded)), rtol=1e-5)
