"""`K.*` as Keras 2.2.4 had it: on arrays, in layers and losses, on symbolic tensors."""

from __future__ import annotations

import keras
import numpy as np
import pytest
import tensorflow as tf

from parallel_compat.legacy import backend as K
from parallel_compat.legacy import layers, models

A = np.random.RandomState(0).rand(3, 4).astype("float32")


@pytest.mark.parametrize("name", ["any", "all", "sum", "max", "min", "abs", "round"])
def test_functions_named_as_pythons_leave_the_others_as_they_are(name):
    getattr(K, name)(K.constant(A) > 0.5 if name in ("any", "all") else K.constant(A))
    np.testing.assert_allclose(K.eval(K.square(A)), A**2, rtol=1e-6)
    np.testing.assert_allclose(K.eval(K.sum(A, axis=1)), A.sum(axis=1), rtol=1e-6)


def test_arange_takes_the_number_of_a_tensor():
    inputs = keras.Input((None, 2))
    places = layers.Lambda(lambda x: x * 0.0 + K.arange(K.shape(x)[1], dtype="float32")[:, None])
    assert keras.Model(inputs, places(inputs)).predict(np.ones((1, 3, 2)), verbose=0)[0, :, 0].tolist() == [0, 1, 2]
    assert K.eval(K.arange(K.constant(-2, "int32"))).tolist() == []
    assert K.eval(K.arange(K.constant(2, "int32"), 4)).tolist() == [2, 3]


def test_values_are_read_and_assigned():
    for variable in (keras.Variable(A), K.variable(A)):
        assert isinstance(K.get_value(variable), np.ndarray)
        K.set_value(variable, A + 1)
        np.testing.assert_allclose(K.eval(variable), A + 1)
        assert K.int_shape(variable) == K.get_variable_shape(variable) == (3, 4)
        assert (K.ndim(variable), K.dtype(variable), K.count_params(variable)) == (2, "float32", 12)
    assert (K.dtype(0.5), K.dtype(2)) == ("float32", "int32")  # `optimizer.decay`, a variable once
    K.batch_set_value([(variable, A)])
    np.testing.assert_allclose(K.batch_get_value([variable])[0], A)
    with pytest.raises(TypeError, match="Expected a variable to assign to"):
        K.set_value(3.0, 1.0)
    with pytest.raises(TypeError, match="Received: a symbolic tensor"):
        K.get_value(keras.Input((2,)))


def test_names_of_keras_2_3_are_there():
    def function(x):
        return x

    assert K.symbolic(function) is function
    assert K.eager(function) is function
    assert [K.is_variable(each) for each in (K.variable(A), keras.Variable(A), K.constant(A))] == [True, True, False]
    assert K.eval(K.size(A)) == 12
    inputs = keras.Input((4,))
    assert keras.Model(inputs, inputs * 0.0 + K.cast(K.size(inputs), "float32")).predict(A, verbose=0)[0, 0] == 12


def test_symbolic_tensors_become_operations_that_are_saved(tmp_path):
    inputs = keras.Input((4,))
    centred = inputs - K.mean(inputs, axis=-1, keepdims=True)
    repeated = K.repeat_elements(K.l2_normalize(centred, axis=-1), 2, axis=1)
    model = keras.Model(inputs, repeated)
    wanted = A - A.mean(axis=1, keepdims=True)
    wanted = np.repeat(wanted / np.linalg.norm(wanted, axis=1, keepdims=True), 2, axis=1)
    np.testing.assert_allclose(model.predict(A, verbose=0), wanted, atol=1e-6)
    models.save_model(model, tmp_path / "m.keras")
    np.testing.assert_allclose(models.load_model(tmp_path / "m.keras").predict(A, verbose=0), wanted, atol=1e-6)
    assert K.int_shape(inputs) == (None, 4)


# With defaults and names of arguments that the operations of Keras 3 have not.
WITH_DEFAULTS = {
    "argmax": lambda x: K.argmax(x),
    "argmin": lambda x: K.argmin(x),
    "concatenate": lambda x: K.concatenate([x, 2 * x]),
    "concatenate by name": lambda x: K.concatenate(tensors=[x, x], axis=0),
    "cumsum": lambda x: K.cumsum(x),
    "cumprod": lambda x: K.cumprod(x),
    "expand_dims": lambda x: K.expand_dims(x),
    "stack": lambda x: K.stack([x, x]),
    "clip": lambda x: K.clip(x, min_value=0.2, max_value=0.4),
    "reshape": lambda x: K.reshape(x, shape=(2, 6)),
    "reshape by a tensor": lambda x: K.reshape(x, (-1, K.shape(x)[1] // 2)),
    "tile": lambda x: K.tile(x, n=[1, 2]),
    "equal": lambda x: K.equal(x=x, y=x),
    "maximum": lambda x: K.maximum(x=x, y=0.5),
    "round": lambda x: K.round(x=x),
    "squeeze": lambda x: K.squeeze(x=x[:, :1], axis=1),
    "switch by a number": lambda x: K.switch(K.greater(K.sum(x), 1.0), lambda: 2 * x, lambda: x),
    "switch by a size": lambda x: K.switch(K.equal(K.shape(x)[0], 2), x, -x),
}


@pytest.mark.parametrize("function", WITH_DEFAULTS.values(), ids=WITH_DEFAULTS)
def test_symbolic_tensors_get_what_values_get(function):
    x = keras.Input((4,))
    (got,) = K.function([x], [function(x)])([A])
    expected = K.eval(function(K.constant(A)))
    assert got.shape == expected.shape
    np.testing.assert_allclose(got, expected, rtol=1e-6)


def test_a_function_of_layers():
    model = keras.Sequential([keras.Input((4,)), layers.Dropout(0.5), layers.Dense(2)])
    f = K.function([model.inputs[0], K.learning_phase()], [model.layers[0].output, model.layers[1].output])
    dropped, _ = f([A, 1])
    kept, outputs = f([A, 0])
    np.testing.assert_allclose(kept, A)
    assert (dropped == 0).any()
    np.testing.assert_allclose(outputs, model.predict(A, verbose=0), atol=1e-6)
    with pytest.raises(TypeError, match=r"Expected `outputs` of symbolic tensors .* Received: ndarray"):
        K.function([model.inputs[0]], [A])


def test_the_learning_phase_in_a_layer():
    class Noise(keras.layers.Layer):
        def call(self, x):
            return K.in_train_phase(x + 1, x)

    model = keras.Sequential([keras.Input((4,)), Noise()])
    np.testing.assert_allclose(model(A, training=True), A + 1)
    np.testing.assert_allclose(model(A, training=False), A)
    np.testing.assert_allclose(model.predict(A, verbose=0), A)
    assert K.in_test_phase(lambda: 1, 2, training=0) == 1


def test_a_loss_of_a_whole_batch_trains():
    def dice(y_true, y_pred):
        true, pred = K.flatten(y_true), K.flatten(y_pred)
        overlap = K.sum(true * pred)
        return 1 - (2 * overlap + K.epsilon()) / (K.sum(true) + K.sum(pred) + K.epsilon())

    model = keras.Sequential([keras.Input((4,)), layers.Dense(1, activation="sigmoid")])
    model.compile("sgd", dice)
    y = np.array([[0], [1], [1]])
    pred = model.predict(A, verbose=0)
    loss = model.evaluate(A, y, verbose=0)
    assert loss == pytest.approx(1 - 2 * (y * pred).sum() / (y.sum() + pred.sum()), rel=1e-4)
    model.fit(A, y, verbose=0)


def test_functions_that_keras_3_dropped():
    x = np.random.rand(2, 5, 3).astype("float32")
    kernel, point = np.random.rand(2, 3, 1).astype("float32"), np.random.rand(1, 3, 4).astype("float32")
    assert K.separable_conv1d(x, kernel, point).shape == (2, 4, 4)
    normed, mean, variance = K.normalize_batch_in_training(A, np.ones(4, "float32"), np.zeros(4, "float32"), [0])
    np.testing.assert_allclose(mean, A.mean(0), rtol=1e-5)
    np.testing.assert_allclose(variance, A.var(0), rtol=1e-4)
    np.testing.assert_allclose(normed, (A - A.mean(0)) / np.sqrt(A.var(0) + 1e-3), atol=1e-4)
    np.testing.assert_allclose(K.logsumexp(A, axis=1), np.log(np.exp(A).sum(1)), rtol=1e-5)
    np.testing.assert_allclose(K.slice(A, [1, 1], [2, 2]), A[1:3, 1:3])
    assert set(np.unique(K.random_binomial((100,), p=0.5))) == {0.0, 1.0}
    volume, filters = np.ones((1, 2, 2, 2, 1), "float32"), np.ones((2, 2, 2, 3, 1), "float32")
    assert K.conv3d_transpose(volume, filters, (None, 4, 4, 4, 3), (2, 2, 2)).shape == (1, 4, 4, 4, 3)
    assert K.image_dim_ordering() == "tf"
    assert float(K.hard_sigmoid(np.float32(1.0))) == pytest.approx(0.7)


def test_binary_crossentropy_of_a_sure_mistake():
    sure = K.binary_crossentropy(np.float32([1.0, 0.0]), np.float32([0.0, 0.25]))
    np.testing.assert_allclose(sure, [-np.log(1e-7), -np.log(0.75)], rtol=1e-5)
    logits = K.binary_crossentropy(np.float32([1.0]), np.float32([2.0]), from_logits=True)
    np.testing.assert_allclose(logits, [np.log1p(np.exp(-2.0))], rtol=1e-5)


@pytest.mark.parametrize("shape", [(3,), (3, 4)])
@pytest.mark.parametrize("symbolic", [False, True])
def test_switch_chooses_along_the_first_axes(shape, symbolic):
    condition = np.random.RandomState(1).rand(*shape) > 0.5
    one, other = np.random.RandomState(2).rand(2, 3, 4, 3).astype("float32")
    expected = np.where(condition.reshape(shape + (1,) * (3 - len(shape))), one, other)
    arrays = condition, one, other
    if symbolic:
        inputs = [keras.Input(batch_shape=x.shape, dtype=x.dtype) for x in arrays]
        got = keras.Model(inputs, K.switch(*inputs))(list(arrays))
    else:
        got = K.switch(K.constant(condition, "bool"), lambda: K.constant(one), K.variable(other))
    np.testing.assert_array_equal(got, expected)


def test_switch_refuses_a_condition_of_more_axes():
    with pytest.raises(ValueError, match="at most 1 axes"):
        K.switch(K.constant(A > 0.5, "bool"), K.constant(A[0]), K.constant(A[1]))


@pytest.mark.parametrize(
    ("x", "y", "axes", "equation"),
    [
        ((2, 3, 4), (2, 4, 5), None, "bij,bjk->bik"),
        ((2, 3, 4), (2, 5, 4), 2, "bij,bkj->bik"),
        ((2, 3, 4, 6), (2, 3, 5, 6), [3, 3], "bcij,bckj->bcik"),
        ((2, 3, 6), (2, 3, 5, 6), [2, 3], "bcj,bckj->bck"),
        ((2, 3, 5), (2, 3, 5, 6), [2, 2], "bcj,bcjk->bck"),
        ((2, 3, 4), (2, 4), [2, 1], "bij,bj->bi"),
    ],
)
def test_batch_dot_counts_all_axes_but_two_as_the_batchs(x, y, axes, equation):
    random = np.random.RandomState(0)
    a, b = random.rand(*x).astype("float32"), random.rand(*y).astype("float32")
    wanted = np.einsum(equation, a, b)
    np.testing.assert_allclose(K.batch_dot(a, b, axes), wanted, rtol=1e-5)
    inputs = keras.Input(x[1:]), keras.Input(y[1:])
    model = keras.Model(inputs, K.batch_dot(*inputs, axes))
    np.testing.assert_allclose(model.predict([a, b], verbose=0), wanted, rtol=1e-5)


def test_batch_dot_of_vectors():
    np.testing.assert_allclose(K.batch_dot(A, A, 1), (A * A).sum(axis=1, keepdims=True), rtol=1e-6)


def test_the_learning_phase_that_nothing_feeds():
    """As in Keras 2.2.4."""
    assert K.eval(K.learning_phase()).item() is False


def test_softmax_of_vectors_weights_and_arrays():
    """As in Keras 2.2.4, TensorFlow 1.15.5 and 2.2.3; `activations.softmax` alone refused vectors there."""
    expected = [0.09003057, 0.24472848, 0.66524094]
    vector = np.array([1.0, 2.0, 3.0], "float32")
    for given in (vector, K.constant(vector), K.variable(vector), keras.Variable(vector)):
        np.testing.assert_allclose(K.eval(K.softmax(given)), expected, rtol=1e-6)
    np.testing.assert_allclose(K.eval(K.softmax(x=K.variable([vector]), axis=0)), [[1, 1, 1]])
    inputs = layers.Input((3,))
    weight = keras.Variable(np.ones(3, "float32"))
    outputs = layers.Lambda(lambda x: x * K.softmax(weight))(inputs)
    np.testing.assert_allclose(
        keras.Model(inputs, outputs).predict(vector[None], verbose=0), [[1 / 3, 2 / 3, 1]], rtol=1e-6
    )


def test_a_traced_function_makes_no_variables():
    """Of a regularizer, which TensorFlow's function would refuse."""
    assert K.is_variable(K.eye(2))
    traced = tf.function(lambda x: x - K.eye(2) - K.ones((2, 2)) - K.variable(np.ones(2)))
    np.testing.assert_array_equal(traced(tf.ones((2, 2))), [[-2, -1], [-1, -2]])
