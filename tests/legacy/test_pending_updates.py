"""Assignments in layers, losses and metrics of one's own: in graphs they ran where something asked for them.

Expected are numbers of the real Keras 2.2.4 and tf.keras 1.15.5, which are the same here, resource variables enabled.
"""

from __future__ import annotations

import importlib

import keras
import numpy as np
import pytest
import tensorflow as tf

GRAPHS = pytest.mark.parametrize("era", ["keras-2.2.4", "tf.keras-1.15"], indirect=True)
X = np.array([[1.0, 2.0], [3.0, 0.0]], "float32")
Y = np.array([[2.0], [5.0]], "float32")


def _of(era):
    return (importlib.import_module(f"{'keras' if era == 'keras-2.2.4' else 'tensorflow.keras'}.{name}")
            for name in ("backend", "layers"))  # fmt: skip


def _unused(K, variable, x):
    K.update(variable, variable * 2.0)
    return x * variable


def _unused_method(K, variable, x):
    variable.assign_add(1.0)
    return x * variable


def _used(K, variable, x):
    return x * K.update_add(variable, 1.0)


def _behind(K, variable, x):
    with tf.control_dependencies([tf.compat.v1.assign_add(variable, 1.0)]):
        return x * variable


# What one step of training, one of evaluation and one more of training leave, and the outputs of then for X[0, 0].
CASES = {
    "unused": (_unused, 1.0, 1.0),
    "unused_method": (_unused_method, 1.0, 1.0),
    "used": (_used, 4.0, 5.0),
    "behind": (_behind, 4.0, 5.0),
}


def _trained(layers, middle, loss="mse", metrics=None):
    inputs = layers.Input((2,))
    model = keras.models.Model(inputs, layers.Dense(1, kernel_initializer="ones")(middle(inputs)))
    model.compile(keras.optimizers.SGD(0.0), loss, metrics=metrics)
    logs = [model.train_on_batch(X, Y), model.test_on_batch(X, Y), model.train_on_batch(X, Y)]
    return model, logs


@GRAPHS
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("kind", ["layer", "lambda"])
def test_an_assignment_runs_where_it_is_used(era, kind, case):
    K, layers = _of(era)
    function, after, factor = CASES[case]
    variable = K.variable(1.0)

    class Own(layers.Layer):
        def call(self, x):
            return function(K, variable, x)

    middle = Own() if kind == "layer" else layers.Lambda(lambda x: function(K, variable, x))
    model, _ = _trained(layers, middle)
    assert K.get_value(variable) == after
    np.testing.assert_allclose(model.predict(X[:1], verbose=0), [[3.0 * factor]])


@GRAPHS
@pytest.mark.parametrize("case", CASES)
def test_an_assignment_in_a_loss_or_metric_runs_where_it_is_used(era, case):
    K, layers = _of(era)
    function, after, _ = CASES[case]
    of_loss, of_metric = K.variable(1.0), K.variable(1.0)

    def loss(y_true, y_pred):
        return function(K, of_loss, K.mean(K.square(y_true - y_pred), -1))

    def metric(y_true, y_pred):
        return function(K, of_metric, K.mean(y_pred))

    _, logs = _trained(layers, layers.Flatten(), loss, [metric])
    assert (K.get_value(of_loss), K.get_value(of_metric)) == (after, after)
    factors = (1, 1, 1) if case.startswith("unused") else (2, 3, 4)
    np.testing.assert_allclose(logs, [(2.5 * factor, 3.0 * factor) for factor in factors])


@GRAPHS
def test_what_is_given_to_add_update_runs_in_training_after_the_outputs(era):
    K, layers = _of(era)
    variable = K.variable(1.0)

    class Own(layers.Layer):
        def call(self, x):
            self.add_update(K.update(variable, variable * 3.0), x)
            return x * variable

    _, logs = _trained(layers, Own())
    assert K.get_value(variable) == 9.0
    np.testing.assert_allclose(logs, [2.5, 32.5, 32.5])  # of x, and twice of 3 * x


@GRAPHS
def test_centers_of_a_loss_that_nothing_asks_for_stay(era):
    K, layers = _of(era)
    unused, behind = (K.variable(np.ones((2, 1))) for _ in range(2))

    def center_loss(centers, wait):
        def loss(y_true, y_pred):
            label = tf.cast(tf.reshape(y_true, [-1]) > 3.0, "int32")
            distance = tf.gather(centers, label) - y_pred
            update = tf.scatter_sub(centers, label, 0.5 * distance)
            with tf.control_dependencies([update] if wait else []):
                return tf.reduce_sum(tf.square(distance), -1)

        return loss

    for centers, wait in ((unused, False), (behind, True)):
        _trained(layers, layers.Flatten(), center_loss(centers, wait))
    np.testing.assert_allclose(K.get_value(unused), [[1.0], [1.0]])
    np.testing.assert_allclose(K.get_value(behind), [[2.75], [2.75]])  # to 3, half of the way, three times


@pytest.mark.usefixtures("legacy_names")
def test_a_function_of_a_model_leaves_what_its_layers_note_of_the_phase():
    from keras import backend as K
    from keras import layers

    inputs = layers.Input((2,))
    outputs = layers.Lambda(lambda x: K.in_train_phase(x, x * 2.0))(inputs)
    model = keras.models.Model(inputs, outputs)
    np.testing.assert_allclose(K.function([inputs], [outputs])([X])[0], 2 * X)
    around = keras.models.Sequential([model, layers.Dense(1, kernel_initializer="ones", input_shape=(2,))])
    around.compile(keras.optimizers.SGD(0.0), "mse")
    np.testing.assert_allclose(around.train_on_batch(X, Y), 2.5)
    np.testing.assert_allclose(around.test_on_batch(X, Y), 8.5)


@GRAPHS
@pytest.mark.parametrize(("use", "after", "losses"), [(False, [0.0, 0.0], [2.5] * 3), (True, [2.0, 1.0], [14.5] * 3)])
def test_a_moving_average_moves_where_it_is_used(era, use, after, losses):
    K, layers = _of(era)
    average = K.variable(np.zeros(2))

    class Own(layers.Layer):
        def call(self, x):
            moved = K.moving_average_update(average, K.mean(x, 0), 0.9)
            return x - (moved if use else average)

    _, logs = _trained(layers, Own())
    np.testing.assert_allclose(K.get_value(average), after, rtol=1e-6)
    np.testing.assert_allclose(logs, losses, rtol=1e-6)
