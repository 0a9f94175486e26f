"""`K.function` and `session.run` of symbolic tensors."""

from __future__ import annotations

import keras
import numpy as np
import pytest
import tensorflow as tf

from parallel_compat.legacy import layers, session

X = np.random.default_rng(0).random((6, 4)).astype("float32")


def test_a_session_computes_tensors_of_keras():
    from parallel_compat.legacy import backend as K

    model = keras.models.Sequential([layers.Dense(2, input_shape=(4,)), layers.Dropout(0.5)])
    with session.Session() as opened:
        outputs, hidden = opened.run(
            [model.outputs[0], {"hidden": model.layers[0].output}],
            feed_dict={model.inputs[0]: X, K.learning_phase(): 0},
        )
        np.testing.assert_allclose(outputs, model.predict(X), rtol=1e-5)
        np.testing.assert_allclose(hidden["hidden"], outputs, rtol=1e-6)
        count = K.variable(1.0)
        assert opened.run([K.update_add(count, 2.0), tf.constant(3)])[1] == 3
        assert K.get_value(count) == 3
        with pytest.raises(NotImplementedError, match=r"needs the tensor .* Add it to the inputs"):
            opened.run(model.outputs[0])


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


def test_gradients_of_symbolic_tensors_and_weights():
    from parallel_compat.legacy import backend as K

    x = keras.Input((4,))
    first, second = keras.layers.Dense(3, activation="tanh"), keras.layers.Dense(2)
    hidden = first(x)
    loss = K.sum(K.square(second(keras.layers.Dropout(0.5)(hidden))))
    of = [hidden, x, first.kernel]
    *known, unused = K.gradients(loss, [*of, keras.Input((2,))])
    assert unused is None
    with tf.GradientTape() as tape:
        given = tf.constant(X)
        tape.watch(given)
        value = first(given)
        expected = tape.gradient(tf.reduce_sum(second(value) ** 2), [value, given, first.kernel.value])
    computed = K.function([x, K.learning_phase()], known)([X, 0])
    for one, other in zip(computed, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-6)
    assert keras.Model(x, K.gradients(loss, x)[0]).predict(X, verbose=0).shape == X.shape


def test_gradients_in_a_layer():
    from parallel_compat.legacy import backend as K

    x = keras.Input((4,))
    model = keras.Model(x, keras.layers.Lambda(lambda z: K.gradients(K.sum(z**3), z)[0], output_shape=(4,))(x))
    np.testing.assert_allclose(model.predict(X, verbose=0), 3 * X**2, rtol=1e-5)
    with pytest.raises(TypeError, match=r"Expected a symbolic tensor .* Received: a symbolic tensor of Keras in"):
        K.gradients(tf.constant(1.0), x)


def test_an_index_of_a_symbolic_tensor_may_be_a_number_of_numpy():
    x = keras.Input((4,))
    best = np.argmax(X[0])
    model = keras.Model(x, [x[:, best], x[..., np.array(1)], x[np.int32(2)]])
    for one, other in zip(model.predict(X, verbose=0, batch_size=6), [X[:, best], X[:, 1], X[2]], strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_network_that_a_loss_makes_is_made_once():
    from parallel_compat.legacy.models import made_once

    def network(units):
        return keras.Sequential([keras.Input((4,)), keras.layers.Dense(units)])

    made = []

    def loss(y_true, y_pred):
        made.append(made_once(network)(units=3))
        return keras.ops.mean(keras.ops.square(made[-1](y_true) - made[-1](y_pred)), -1)

    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(4)])
    model.compile("sgd", loss)
    losses = [
        model.train_on_batch(X, X),
        *(model.fit(X, X, batch_size=4, verbose=0).history["loss"]),
        model.evaluate(X, X),
    ]
    assert np.isfinite(losses).all()
    assert {id(each) for each in made} == {id(made_once(network)(units=3))} != {id(made_once(network)(units=2))}


@pytest.mark.parametrize("of_input", [False, True])
def test_gradients_in_a_loss_of_the_models_own_tensors(of_input):
    """The penalty of WGAN-GP: its loss is computed in a step, and names a symbolic tensor of the model."""
    from parallel_compat.legacy import backend as K

    x = keras.Input((4,))
    h = x if of_input else keras.layers.Dense(2, kernel_initializer="ones", use_bias=False)(x)
    squares = keras.layers.Lambda(lambda z: keras.ops.sum(z * z, axis=-1, keepdims=True))(h)
    model = keras.Model(x, squares)

    def penalty(y_true, y_pred):  # (2 h) ** 2
        return K.sum(K.square(K.gradients(y_pred, h)[0]), axis=-1)

    model.compile("sgd", penalty)
    wanted = 4 * model.predict(X, verbose=0).mean()
    np.testing.assert_allclose(model.train_on_batch(X, X[:, :1]), wanted, rtol=1e-5)
