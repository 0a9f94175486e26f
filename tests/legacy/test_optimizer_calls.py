"""Optimizers called by hand, as TensorFlow 2.2.3 stepped: the numbers are recorded there by this file.

    PYTHON-OF-TENSORFLOW-2.2 tests/legacy/test_optimizer_calls.py > tests/data/optimizer_calls_2_2.json

It runs on Python 3.8 as well. Clipping is of `minimize` and `fit`: `apply_gradients` applied what it was given.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import tensorflow as tf

DATA = Path(__file__).resolve().parent.parent / "data" / "optimizer_calls_2_2.json"
_START = np.array([[1.0, 2.0], [3.0, -4.0], [0.5, 0.25]], "float32")


def optimizers(of):
    """Return what makes each optimizer."""
    both = {"l1_regularization_strength": 0.1, "l2_regularization_strength": 0.2}
    return {
        "SGD": lambda: of.SGD(0.1),
        "momentum": lambda: of.SGD(0.1, momentum=0.9),
        "nesterov": lambda: of.SGD(0.1, momentum=0.9, nesterov=True),
        "RMSprop": lambda: of.RMSprop(0.1),
        "RMSprop centered": lambda: of.RMSprop(0.1, centered=True),
        "RMSprop momentum": lambda: of.RMSprop(0.1, momentum=0.5),
        "RMSprop both": lambda: of.RMSprop(0.1, momentum=0.5, centered=True),
        "Adagrad": lambda: of.Adagrad(0.1),
        "Adadelta": lambda: of.Adadelta(1.0),
        "Adam": lambda: of.Adam(0.1),
        "amsgrad": lambda: of.Adam(0.1, amsgrad=True),
        "Adamax": lambda: of.Adamax(0.1),
        "Nadam": lambda: of.Nadam(0.1),
        "Nadam schedule_decay": lambda: of.Nadam(0.1, schedule_decay=0.1),
        "Ftrl": lambda: of.Ftrl(0.5),
        "Ftrl l1 l2": lambda: of.Ftrl(0.5, **both),
        "Ftrl shrinkage": lambda: of.Ftrl(0.5, l2_shrinkage_regularization_strength=0.05, **both),
        "Ftrl power": lambda: of.Ftrl(0.5, learning_rate_power=-0.3, initial_accumulator_value=0.2),
        "decay": lambda: of.SGD(0.1, decay=0.5),
        "schedule": lambda: of.SGD(of.schedules.ExponentialDecay(0.1, 1, 0.5)),
        "clipnorm": lambda: of.Adam(0.1, clipnorm=0.3),
        "clipvalue": lambda: of.SGD(0.1, clipvalue=0.2),
    }


def _variable(_):
    return tf.Variable(_START)


def _kernel(keras):
    layer = keras.layers.Dense(2, use_bias=False)
    layer.build((None, 3))
    layer.set_weights([_START])
    return layer.kernel


def _table(keras):
    layer = keras.layers.Embedding(3, 2)
    layer.build((None,))
    layer.set_weights([_START])
    return layer.embeddings


def _slices(values, rows):
    return tf.IndexedSlices(tf.constant(values), tf.constant(rows), tf.constant([3, 2]))


def gradients():
    """Return the gradients of three steps, dense and sparse with rows that repeat."""
    return {
        "dense": [
            tf.constant([[0.1, -0.2], [0.3, 0.4], [0.0, 2.0]]),
            tf.constant([[0.5, 0.2], [-0.3, 0.0], [1.0, -2.0]]),
            tf.constant([[0.1, 0.1]] * 3),
        ],
        "sparse": [
            _slices([[0.1, -0.2], [0.3, 0.4]], [0, 2]),
            _slices([[0.5, 0.2], [-0.3, 0.1], [1.0, -2.0]], [0, 0, 1]),
            _slices([[0.1, 0.1]], [2]),
        ],
    }


def steps(keras):
    """Return the values after three steps of each optimizer with each kind of gradient and of variable."""
    found = {}

    def values(variable):
        return [float(each) for each in variable.numpy().ravel()]

    for name, make in optimizers(keras.optimizers).items():
        for kind, given in gradients().items():
            for what in (_variable, _kernel):
                optimizer, variable = make(), what(keras)
                for gradient in given:
                    optimizer.apply_gradients([(gradient, variable)])
                found[f"{name}, {kind}, {what.__name__[1:]}"] = values(variable)
        for what in (_variable, _table):
            optimizer, variable = make(), what(keras)

            def loss(variable=variable):
                rows = tf.nn.embedding_lookup(variable, [0, 2, 0])
                return tf.reduce_sum(tf.square(rows) * [[1.0, 0.5]])

            for _ in range(3):
                optimizer.minimize(loss, var_list=[variable])
            found[f"{name}, minimize, {what.__name__[1:]}"] = values(variable)
    return found


def hyperparameters(keras):
    """Return the values after steps of optimizers whose numbers are functions, tensors or variables."""
    of, found = keras.optimizers, {}
    rate, beta, momentum = tf.Variable(0.3), tf.Variable(0.5), tf.Variable(0.5)
    schedule = of.schedules.ExponentialDecay(0.5, 1, 0.5)
    cases = {
        "rate, function": (lambda: of.SGD(lambda: 0.2), None),
        "rate, tensor": (lambda: of.SGD(tf.constant(0.2)), None),
        "rate, numpy": (lambda: of.SGD(np.float32(0.2)), None),
        "rate, variable": (lambda: of.SGD(rate), lambda _: rate.assign(rate * 0.5)),
        "rate, function that changes": (lambda: of.Adam(lambda: rate * 0.2), lambda _: rate.assign(rate * 2.0)),
        "rate, function, decay": (lambda: of.SGD(lambda: 0.1, decay=0.5), None),
        "momentum, tensor": (lambda: of.SGD(0.1, momentum=tf.constant(0.5)), None),
        "momentum, function": (lambda: of.SGD(0.1, momentum=lambda: 0.5), None),
        "momentum, function that changes": (
            lambda: of.SGD(0.1, momentum=lambda: momentum * 0.5),
            lambda _: momentum.assign(momentum * 0.5),
        ),
        "betas, functions": (lambda: of.Adam(0.1, beta_1=lambda: 0.5, beta_2=lambda: 0.9), None),
        "betas, tensors": (lambda: of.Adamax(tf.constant(0.1), tf.constant(0.5), tf.constant(0.6)), None),
        "beta, variable": (lambda: of.Adam(0.1, beta_1=beta), lambda _: beta.assign(beta * 0.9)),
        "rho, function": (lambda: of.Adadelta(lambda: 1.0, rho=lambda: 0.9, epsilon=1e-3), None),
        "rho and momentum, functions": (lambda: of.RMSprop(0.1, rho=lambda: 0.8, momentum=lambda: 0.5), None),
        "all of Nadam, functions": (lambda: of.Nadam(lambda: 0.1, lambda: 0.5, lambda: 0.6), None),
        "momentum, set": (lambda: of.SGD(0.1, momentum=0.5), lambda made: setattr(made, "momentum", 0.9)),
        "rate, set to a schedule": (lambda: of.SGD(0.1), lambda made: setattr(made, "learning_rate", schedule)),
    }
    for name, (make, after) in cases.items():
        optimizer, variable = make(), tf.Variable(_START)
        for gradient in gradients()["dense"]:
            optimizer.apply_gradients([(gradient, variable)])
            if after is not None:
                after(optimizer)
        found[name] = [float(each) for each in variable.numpy().ravel()]
    config = of.SGD(lambda: 0.25, momentum=lambda: 0.5).get_config()
    found["configuration"] = [float(config["learning_rate"]), float(config["momentum"])]
    return found


def test_steps_are_those_of_tensorflow_2_2():
    import parallel_compat

    recorded = json.loads(DATA.read_text())
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        from tensorflow import keras

        found = {**steps(keras), **hyperparameters(keras)}
    assert found.keys() == recorded.keys()
    different = [name for name in found if not np.allclose(found[name], recorded[name], rtol=2e-5, atol=1e-6)]
    assert different == []


if __name__ == "__main__":
    print(json.dumps({**steps(tf.keras), **hyperparameters(tf.keras)}))
