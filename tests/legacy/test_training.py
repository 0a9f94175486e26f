"""`fit`, `compile`, `evaluate` and the generator methods as Keras 2's code calls them."""

from __future__ import annotations

import keras
import numpy as np
import pytest

from parallel_compat.legacy import layers, models
from parallel_compat.legacy.metrics import metric_function
from parallel_compat.legacy.models import evaluate, predict_classes, predict_proba


def two_outputs():
    inputs = layers.Input((3,))
    outputs = [layers.Dense(1, name="a")(inputs), layers.Dense(1, name="b")(inputs)]
    model = keras.Model(inputs=inputs, outputs=outputs)
    model.compile("sgd", "mse", metrics=["mae"], loss_weights={"a": 1.0, "b": 0.5})
    return model


def one_output():
    model = keras.Sequential([layers.Dense(2, activation="softmax", input_shape=(3,))])
    model.compile("sgd", "categorical_crossentropy", metrics=["accuracy"])
    return model


X, Y = np.random.RandomState(0).rand(8, 3), np.eye(2)[[0, 1] * 4]


def batches(rows=4):
    while True:
        for start in range(0, len(X), rows):
            yield [X[start : start + rows]], [Y[start : start + rows]]


def test_classes_and_probabilities():
    model = one_output()
    assert predict_classes(model, X).tolist() == model.predict(X).argmax(axis=1).tolist()
    np.testing.assert_array_equal(predict_proba(model, X), model.predict(X))
    single = keras.Sequential([layers.Dense(1, activation="sigmoid", input_shape=(3,))])
    assert predict_classes(single, X).tolist() == (single.predict(X) > 0.5).astype(int).tolist()


def test_targets_are_floats_with_two_axes():
    """`(rows,)` times `(rows, 1)` would be `(rows, rows)`."""

    def product(y_true, y_pred):
        return keras.ops.mean(y_true * y_pred)

    model = keras.Sequential([layers.Dense(1, input_shape=(1,), kernel_initializer="ones")])
    model.compile("sgd", "mse", metrics=[metric_function(product)])
    assert evaluate(model, np.arange(4.0)[:, None], np.array([0, 0, 1, 1]), verbose=0)[1] == pytest.approx(5 / 4)
    assert models.test_on_batch(model, np.arange(4.0)[:, None], np.array([0, 0, 1, 1]))[1] == pytest.approx(5 / 4)


def test_a_model_that_was_built_on_its_first_batch_is_fed_smaller_ones():
    """A Sequential of Sequentials: Keras 3 builds it on the first batch, for that number of samples."""
    from keras.layers import Activation, Dense
    from keras.models import Sequential

    x, y = np.random.default_rng(0).random((90, 8)), np.eye(2)[np.arange(90) % 2]
    inner = Sequential([Dense(6, input_shape=(8,)), Activation("relu"), Dense(2)])
    middle = Sequential()
    middle.add(inner)
    model = Sequential()
    model.add(middle)
    model.add(Activation("softmax"))
    model.compile(loss="categorical_crossentropy", optimizer="sgd")
    flat = Sequential([*inner.layers, Activation("softmax")])
    flat.compile(loss="categorical_crossentropy", optimizer="sgd")
    weights = model.get_weights() or inner.get_weights()
    histories = []
    for each in (model, flat):
        inner.set_weights(weights)
        runs = [each.fit(x, y, batch_size=32, epochs=2, shuffle=False, verbose=0).history["loss"] for _ in range(2)]
        histories.append(runs)
    np.testing.assert_allclose(histories[0], histories[1], rtol=1e-5)


def test_names_of_layers_of_others():
    from parallel_compat.legacy import backend as conv_utils
    from parallel_compat.legacy import mixed_precision

    assert conv_utils.normalize_data_format(None) == "channels_last"
    assert mixed_precision.Policy("mixed_float16").compute_dtype == "float16"
    assert mixed_precision.global_policy().name == "float32"


def test_a_metric_that_is_one_number_under_a_mask():
    """Its mean over steps that are not masked is the number, as in Keras 2."""
    x = keras.Input((3,), dtype="int32")
    y = keras.layers.Dense(1)(keras.layers.Embedding(5, 2, mask_zero=True)(x))
    model = keras.Model(x, y)

    def largest(y_true, y_pred):
        return keras.ops.max(y_true)

    model.compile("sgd", "mse", metrics=[metric_function(largest)])
    steps, targets = np.array([[1, 2, 0], [3, 0, 0]]), np.array([[[1], [2], [9]], [[3], [4], [5]]])
    assert model.evaluate(steps, targets, verbose=0, return_dict=True)["largest"] == 9


def test_a_clone_has_the_functions_of_lambda_layers():
    x = keras.Input((3,))
    inner = keras.Sequential([keras.Input((3,)), keras.layers.Lambda(lambda v: v * X[0, 0], name="scaled")])
    model = keras.Model(x, keras.layers.Lambda(lambda v, by: v + by, arguments={"by": 2.0}, name="more")(inner(x)))
    model.compile("sgd", "mse")
    clone = models.clone_model(model)
    assert (clone.compiled, model.compiled) == (False, True)
    np.testing.assert_allclose(clone.predict(X, verbose=0), model.predict(X, verbose=0))
    assert clone.layers[-1].name == "more"


def test_losses_of_several_outputs_of_one_layer():
    """A critic of real and fake pictures: in Keras 3 both losses have one name."""
    layer = keras.layers.Dense(1, kernel_initializer="ones")
    a, b = keras.Input((2,)), keras.Input((2,))
    model = keras.Model([a, b], [layer(a), layer(b)])
    model.compile("sgd", ["mse", "mae"], loss_weights=[1, 10])
    data = [np.ones((4, 2)), 2 * np.ones((4, 2))], [np.zeros((4, 1))] * 2
    assert evaluate(model, *data, verbose=0) == pytest.approx([44, 4, 4])
    assert models.test_on_batch(model, *data) == pytest.approx([44, 4, 4])
    data = [np.ones((4, 2)), 3 * np.ones((4, 2))], [np.zeros((4, 1))] * 2
    assert models.train_on_batch(model, *data) == pytest.approx([64, 4, 6])


def test_a_batch_returns_its_own_results():
    """Keras 3.12 to 3.14 returned means over the batches since the last epoch began."""
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1, kernel_initializer="ones", name="d")])
    model.compile(keras.optimizers.SGD(0.0), "mse", metrics=["mae"])
    x = np.ones((4, 1))
    for of_batch in (models.train_on_batch, models.test_on_batch):
        assert [of_batch(model, x, x + error) for error in (1, 2, 3)] == [[1, 1], [4, 2], [9, 3]]
