"""Graph code under the legacy names: the numbers of Keras 2.2.4, on one device and on two replicas."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import keras
import numpy as np
import pytest
import tensorflow as tf

from parallel_compat.legacy import layers, session

WANTED = json.loads((Path(__file__).parents[1] / "data/legacy/graph_keras_2_2_4.json").read_text())
X = np.random.default_rng(0).random((6, 4)).astype("float32")


def compare(got, wanted, path, rtol=2e-5):
    if isinstance(wanted, dict):
        assert set(got) == set(wanted), path
        for key, value in wanted.items():
            compare(got[key], value, f"{path}/{key}", rtol)
    elif isinstance(wanted, list) and wanted and isinstance(wanted[0], list):
        for i, value in enumerate(wanted):
            compare(got[i], value, f"{path}/{i}", rtol)
    elif isinstance(wanted, (list, float)):
        np.testing.assert_allclose(got, wanted, rtol=rtol, atol=1e-6, err_msg=path)
    else:
        assert got == wanted, path


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", sorted(WANTED))
def test_the_numbers_of_keras_2_2_4(programs, name):
    compare(programs["PROGRAMS"][name](), WANTED[name], name)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", ["vae", "vae_inputs", "vae_nested", "vae_masked"])
def test_the_same_on_two_replicas(programs, name):
    compare(programs["PROGRAMS"][name](gpus=2), WANTED[name], name)


@pytest.mark.parametrize("of_weight", [False, True])
@pytest.mark.parametrize("whole_batch", [False, True])
def test_gradients_in_a_loss_of_a_parallel_model_are_refused(whole_batch, of_weight):
    from keras.utils import multi_gpu_model

    from parallel_compat.legacy import backend as K

    def loss(y_true, y_pred):
        penalty = K.square(K.gradients(y_pred, dense.kernel if of_weight else x)[0])
        return K.sqrt(K.sum(penalty)) if whole_batch else K.sum(penalty, axis=-1)

    x, dense = layers.Input((4,)), layers.Dense(1)
    model = multi_gpu_model(keras.models.Model(x, dense(x)), 2)
    model.compile("sgd", loss)
    with pytest.raises(NotImplementedError, match=r"Expected a loss with `K.gradients` on one device"):
        model.train_on_batch(X, X[:, :1])


def test_a_session_computes_tensors_of_keras():
    from parallel_compat.legacy import backend as K

    model = keras.models.Sequential([layers.Dense(2, input_shape=(4,)), layers.Dropout(0.5)])
    with session.Session() as opened:
        outputs, hidden = opened.run(
            [model.output, {"hidden": model.layers[0].output}], feed_dict={model.input: X, K.learning_phase(): 0}
        )
        np.testing.assert_allclose(outputs, model.predict(X), rtol=1e-5)
        np.testing.assert_allclose(hidden["hidden"], outputs, rtol=1e-6)
        count = K.variable(1.0)
        assert opened.run([K.update_add(count, 2.0), tf.constant(3)])[1] == 3
        assert K.get_value(count) == 3
        with pytest.raises(NotImplementedError, match=r"needs the tensor .* Add it to the inputs"):
            opened.run(model.output)


def test_steps_of_an_actor_and_a_critic_in_a_session():
    """`tf.gradients` with `grad_ys`, and steps of `tf.train`: the numbers are those of Keras 2.2.4."""
    x, s = layers.Input((2,)), layers.Input((1,))
    to_act, to_judge = (layers.Dense(1, use_bias=False, kernel_initializer="ones") for _ in range(2))
    actor, critic = keras.models.Model(x, to_act(x)), keras.models.Model(s, to_judge(s))
    slope, count = tf.placeholder(tf.float32, [None, 1]), tf.Variable(0)
    gradients = tf.gradients(actor.output, actor.trainable_weights, -slope)
    pairs = zip(gradients, actor.trainable_weights, strict=True)
    act = tf.train.AdamOptimizer(0.1).apply_gradients(pairs, global_step=count)
    judge = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_mean(tf.square(critic.output)))
    momentum = tf.train.MomentumOptimizer(0.1, 0.9)
    found = momentum.compute_gradients(tf.reduce_sum(critic.output), critic.trainable_weights)
    clipped = momentum.apply_gradients([(tf.clip_by_value(gradient, -1.0, 1.0), v) for gradient, v in found])
    states, values = np.array([[1.0, 2.0], [3.0, -1.0]]), np.array([[0.5], [-2.0]])
    with session.Session() as opened:
        np.testing.assert_allclose(opened.run(gradients, {x: states, slope: values})[0], [[5.5], [-3.0]])
        for _ in range(2):
            opened.run(act, {x: states, slope: values})
        np.testing.assert_allclose(to_act.get_weights()[0].ravel(), [0.8, 1.2], atol=1e-6)
        assert opened.run(count) == 2
        opened.run(judge, {s: values})
        np.testing.assert_allclose(to_judge.get_weights()[0], [[0.575]], rtol=1e-6)
        for _ in range(2):
            assert opened.run([clipped, critic.output], {s: values + 3})[0] is None
        np.testing.assert_allclose(to_judge.get_weights()[0], [[0.285]], rtol=1e-6)


def test_what_a_function_is_not_made_of_is_refused():
    from parallel_compat.legacy import backend as K

    x = K.placeholder((None, 4))
    with pytest.raises(TypeError, match=r"Received: EagerTensor.* a number already"):
        K.function([x], [tf.constant(1.0)])
    with pytest.raises(ValueError, match=r"needs the tensor .* Add it to the inputs"):
        K.function([x], [K.sum(x) + K.sum(K.placeholder((None, 2)))])
    with pytest.raises(TypeError, match="Expected `updates` of pairs"):
        K.function([x], [K.sum(x)], updates=[1])
    with pytest.raises(TypeError, match="which went to a TensorFlow 1 session"):
        K.function([x], [K.sum(x)], options=None)
    with pytest.raises(TypeError, match="does not know what it was computed from"):
        K.gradients(tf.constant(1.0), K.variable(1.0))


def test_calls_of_a_layer():
    from parallel_compat.legacy import backend as K

    one, other = layers.Input((4,)), layers.Input((4,))
    layer = layers.Dense(2)
    first, second = layer(one), layer(other)
    assert layer.get_output_at(0) is first
    assert layer.get_output_at(1) is second
    assert layer.get_input_at(1) is other
    assert layer.get_input_shape_at(0) == (None, 4)
    assert layer.get_output_shape_at(1) == (None, 2) == K.int_shape(second)
    node = layer._inbound_nodes[1]
    assert node.outbound_layer is layer
    assert node.inbound_layers[0].output is other
    assert node.output_tensors[0] is second
    with pytest.raises(ValueError, match="which has 2"):
        layer.get_output_at(2)
    last = layers.Dense(1, name="last")
    last(second)
    assert last._inbound_nodes[0].get_config() == {
        "outbound_layer": "last",
        "inbound_layers": [layer.name],
        "node_indices": [1],
        "tensor_indices": [0],
    }
    (call,) = last._inbound_nodes
    assert call.inbound_layers[0]._inbound_nodes[call.node_indices[0]].output_tensors[call.tensor_indices[0]] is second
    assert node.input_tensors[0] is other
    (of_input,) = node.inbound_layers[0]._inbound_nodes
    assert of_input.input_tensors[0] is of_input.output_tensors[0] is other
    assert of_input.inbound_layers == of_input.node_indices == []


def test_variables_and_constants_in_a_loss():
    from parallel_compat.legacy import backend as K

    def loss(y_true, y_pred):
        weights = K.variable(np.array([1.0, 3.0]))
        return K.mean(K.square(y_true - y_pred) * weights, axis=-1) + K.zeros((1,)) + K.sum(K.ones((2,)))

    model = keras.models.Sequential([layers.Dense(2, input_shape=(4,), kernel_initializer="zeros")])
    model.compile("sgd", loss)
    assert model.test_on_batch(X, np.ones((6, 2))) == pytest.approx(4.0)
    model.fit(X, np.ones((6, 2)), batch_size=4, epochs=2, verbose=0)
    assert K.tf.log(1.0).numpy() == 0


def test_dimensions_have_a_value():
    from parallel_compat.legacy import backend as K

    x = layers.Input((4,))
    K.int_shape(x)  # what asks standalone Keras is of TensorFlow 1
    assert (x.shape[1].value, x.shape[0].value, x.get_shape()[1].value) == (4, None, 4)
    assert x.get_shape().as_list() == [None, 4]
    assert x.shape == (None, 4)
    assert x.shape.ndims == 2
    seen = []

    def look(t):
        seen.append((t.shape[1].value, t.get_shape()[1].value, [size.value for size in t.shape][1]))
        return tf.reshape(t, (-1, t.get_shape()[1].value))

    outputs = layers.Lambda(look)(keras.layers.Reshape(x.shape[1:])(x))
    assert seen[0] == (4, 4, 4)
    np.testing.assert_allclose(keras.models.Model(x, outputs).predict(X), X)

    def is_batch_unknown(t):
        return t.shape[0] is None

    assert is_batch_unknown(x)


def test_partial_metrics():
    from parallel_compat.legacy import backend as K

    x = layers.Input((4,))
    code = layers.Dense(2)(x)
    model = keras.models.Model(x, layers.Dense(4)(code))

    def penalised(y_true, y_pred, code):
        return K.mean(K.square(y_true - y_pred), axis=-1) + K.sum(K.square(code), axis=-1)

    metric = partial(penalised, code=code)
    metric.__name__ = "penalised"
    model.compile("sgd", "mse", metrics=[metric])
    loss, value = model.test_on_batch(X, X)
    codes = keras.models.Model(x, code).predict(X)
    assert model.metrics_names == ["loss", "penalised"]
    assert value == pytest.approx(loss + (codes**2).sum(-1).mean(), rel=1e-5)


def test_variables_beside_symbolic_tensors_are_read_when_they_are_needed():
    from parallel_compat.legacy import backend as K

    x = K.placeholder((None, 4))
    own, of_keras = K.variable(2.0), keras.Variable(3.0)
    total = K.variable(1.0)
    total += K.sum(x)
    f = K.function([x], [own - x, of_keras * x, x + own, total])
    for factor in (1, 5):
        K.set_value(own, 2.0 * factor)
        K.set_value(of_keras, 3.0 * factor)
        found = f([X])
        for got, wanted in zip(found, (2 * factor - X, 3 * factor * X, X + 2 * factor, X.sum() + 1), strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-5)
    with pytest.raises(TypeError, match=r"computed already, .* Write `K.update_add"):
        K.function([x], [x], updates=[(own, K.constant(2.0))])
    f = K.function([x], [x], updates=[(own, K.sqrt(own + 6) + 1)])
    for _ in range(2):
        f([X])
    assert K.get_value(own) == pytest.approx(11**0.5 + 1)


def targets_and_updates():
    """Return a model, a second one, and what moves the weights of that one towards those of the first."""
    from keras.layers import Dense
    from keras.models import Sequential

    made = [
        Sequential([Dense(units, kernel_initializer=first, input_shape=(size,)) for units, size in ((2, 3), (1, 2))])
        for first in ("ones", "zeros")
    ]
    model, target = made
    return model, target, [(t, 0.1 * w + (1.0 - 0.1) * t) for t, w in zip(target.weights, model.weights, strict=True)]


SUM_OF_KERNEL = [0.6, 0.9072, 1.16462]


@pytest.mark.parametrize("devices", [1, 2])
def test_an_update_computes_anew_what_it_was_given_of_variables(devices):
    """Recorded with Keras 2.2.4: soft updates of a target, of the weights before the step; a function, a session."""
    import keras

    from parallel_compat.legacy import backend as K

    class Additional(keras.optimizers.Optimizer):
        def __init__(self, optimizer, additional):
            super().__init__()
            self.optimizer, self.additional = optimizer, additional

        def get_updates(self, params, loss):
            self.updates = self.optimizer.get_updates(params=params, loss=loss) + self.additional
            return self.updates

        def get_config(self):
            return self.optimizer.get_config()

    model, target, updates = targets_and_updates()
    trained = keras.utils.multi_gpu_model(model, 2) if devices == 2 else model
    trained.compile(Additional(keras.optimizers.SGD(0.1), updates), "mse")
    x, y = np.arange(12.0).reshape(4, 3) / 10, np.ones((4, 1))
    losses, sums = [], []
    for _ in range(3):
        losses.append(trained.train_on_batch(x, y))
        sums.append(target.get_weights()[0].sum())
    np.testing.assert_allclose(losses, [9.34, 2.7216048, 1.2112553], rtol=1e-6)
    np.testing.assert_allclose(sums, SUM_OF_KERNEL, rtol=1e-5)

    second, bias = target.weights[2:]
    K.set_value(second, np.full((2, 1), 0.07003039))
    f = K.function([], [], updates=[(bias, 2.0 * bias - model.weights[3] / 4.0 + 1.0)])
    before, step = K.get_value(bias), K.get_value(model.weights[3]) / 4 - 1
    for _ in range(2):
        f([])
    np.testing.assert_allclose(K.get_value(bias), 4 * before - 3 * step, rtol=1e-5)

    import tensorflow as tf

    assigned = tf.assign(second, 0.5 * model.weights[2] + 0.5 * second)
    assert K.get_value(second)[0, 0] == np.float32(0.07003039)
    for wanted in (0.09904520, 0.11355260):
        K.get_session().run(assigned)
        np.testing.assert_allclose(K.get_value(second)[:, 0], [wanted] * 2, rtol=1e-5)
