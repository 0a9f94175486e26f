"""Data in the forms that Keras 2 took, for one device and for two replicas."""

from __future__ import annotations

import keras
import numpy as np
import pytest

import parallel_compat

pytestmark = pytest.mark.usefixtures("legacy_names")

X = np.random.default_rng(0).normal(size=(8, 3)).astype("float32")
LABELS = [0, 1, 1, 0, 1, 0, 0, 1]
Y = np.array(LABELS)


@pytest.fixture(params=["one device", "two replicas"])
def parallel(request):
    """Return what makes a model parallel, or leaves it."""
    from keras.utils import multi_gpu_model

    return (lambda model: model) if request.param == "one device" else lambda model: multi_gpu_model(model, 2)


def one_output(parallel):
    keras.utils.set_random_seed(0)
    model = parallel(keras.models.Sequential([keras.layers.Dense(1, input_shape=(3,))]))
    model.compile("sgd", "mse")
    return model


def two_outputs(parallel, loss, metrics=None):
    keras.utils.set_random_seed(0)
    inputs = keras.layers.Input((3,))
    outputs = [keras.layers.Dense(1, name=name)(inputs) for name in ("first", "second")]
    model = parallel(keras.models.Model(inputs, outputs))
    model.compile("sgd", loss, metrics=metrics)
    return model


def test_lists_of_numbers_and_lists_of_one_array(parallel, recwarn):
    expected = one_output(parallel).fit(X, Y, batch_size=8, verbose=0).history["loss"]
    for x, y in ((X, LABELS), ([X], [Y]), (X, [float(each) for each in LABELS])):
        history = one_output(parallel).fit(x, y, batch_size=8, verbose=0, validation_data=[x, y]).history
        np.testing.assert_allclose(history["loss"], expected, rtol=1e-5)
        on_batch = one_output(parallel).train_on_batch(x, y)
        np.testing.assert_allclose([on_batch], expected, rtol=1e-5)
        np.testing.assert_allclose([one_output(parallel).evaluate(x, y, verbose=0)], expected, rtol=1e-5)
    assert one_output(parallel).predict([X]).shape == (8, 1)
    assert not [warning for warning in recwarn if "structure of `inputs`" in str(warning.message)]


def test_lists_for_several_inputs_and_outputs(parallel):
    inputs = [keras.Input((3,)), keras.Input((1,))]
    outputs = [keras.layers.Dense(2)(inputs[0]), keras.layers.Dense(1)(inputs[1])]
    model = parallel(keras.Model(inputs, outputs))
    model.compile("sgd", "mse")
    x, y = [X, Y[:, None]], [X[:, :2], Y[:, None]]
    as_lists = [[each.tolist() for each in given] for given in (x, y)]
    for of_lists, of_arrays in zip(model.predict(as_lists[0]), model.predict(x), strict=True):
        np.testing.assert_array_equal(of_lists, of_arrays)
    assert model.evaluate(*as_lists, verbose=0) == model.evaluate(x, y, verbose=0)


def test_a_sequential_without_an_input_shape_takes_a_list_of_one_array():
    model = keras.models.Sequential([keras.layers.Activation("relu"), keras.layers.Dense(2)])
    assert model.predict([X]).shape == (8, 2)


def test_a_loss_for_some_outputs_only(parallel):
    alone = two_outputs(parallel, {"first": "mse", "second": "mse"})
    weights = alone.get_weights()
    model = two_outputs(parallel, {"second": "mse"}, metrics=["mae"])
    model.set_weights(weights)
    expected = np.mean((model.predict(X)[1][:, 0] - Y) ** 2)
    for y in (Y, [Y], {"second": Y}):
        loss, of_second, _mae = model.test_on_batch(X, y)
        assert loss == of_second == pytest.approx(expected, rel=1e-5)
    history = model.fit(X, [Y], verbose=0).history
    assert set(history) == {"loss", "second_loss", "second_mean_absolute_error"}
    np.testing.assert_array_equal(model.get_weights()[0], weights[0])
    assert not np.array_equal(model.get_weights()[2], weights[2])


def test_weights_for_some_outputs_only(parallel):
    model = two_outputs(parallel, {"first": "mse", "second": "mse"})
    first, second = (each[:, 0] for each in model.predict(X))
    expected = np.mean((first - Y) ** 2) + np.mean(3 * (second - Y) ** 2)
    three = {"second": np.full(8, 3.0)}
    for y in ({"first": Y, "second": Y}, [Y, Y]):
        assert model.test_on_batch(X, y, sample_weight=three)[0] == pytest.approx(expected, rel=1e-5)


def test_metrics_without_targets_are_left_out(parallel):
    inner = keras.layers.Dense(1, kernel_regularizer="l2", input_shape=(3,))
    model = parallel(keras.models.Sequential([inner]))
    model.compile("sgd", None, metrics=["mae"])
    assert set(model.fit(X, None, verbose=0).history) == {"loss"}


def test_class_weights_that_keras_2_ignored(parallel):
    expected = one_output(parallel).fit(X, Y, verbose=0).history["loss"]
    of_columns = [{0: 1.0, 1: 9.0}, {0: 9.0, 1: 1.0}, {0: 1.0, 1: 9.0}]  # for one output: not even looked at
    for given in ("auto", np.array([1.0, 5.0]), of_columns):
        history = one_output(parallel).fit(X, Y, verbose=0, class_weight=given).history
        np.testing.assert_allclose(history["loss"], expected, rtol=1e-5)
    batches = iter([(X, Y)])
    history = one_output(parallel).fit_generator(batches, 1, verbose=0, class_weight=of_columns).history
    np.testing.assert_allclose(history["loss"], expected, rtol=1e-5)


class Column:
    """A column of pandas, or its frame, as far as this package asks for it."""

    iloc = None

    def __init__(self, values):
        self._values = values

    def __array__(self, dtype=None, copy=None):
        return np.array(self._values, dtype)


def test_arrays_of_objects_are_numbers(parallel):
    """`frame.values` of columns of several types."""
    expected = one_output(parallel).fit(X, Y, validation_data=(X, Y), verbose=0).history
    x, y = X.astype(object), Y.astype(object)
    for given in (x, [x], Column(x)):
        history = one_output(parallel).fit(given, y, validation_data=(x, y), verbose=0).history
        assert history["loss"] == pytest.approx(expected["loss"], rel=1e-6)
        assert history["val_loss"] == pytest.approx(expected["val_loss"], rel=1e-6)


def test_a_column_of_weights(parallel):
    weights = np.arange(8.0)
    expected = one_output(parallel).fit(X, Y, sample_weight=weights, verbose=0).history["loss"]
    of_column = one_output(parallel).fit(X, Y, sample_weight=Column(weights), verbose=0).history["loss"]
    assert of_column == pytest.approx(expected, rel=1e-6)


def test_the_numbers_of_one_input_in_a_list(parallel):
    model = parallel(keras.models.Sequential([keras.layers.Dense(1, input_shape=(1,), kernel_initializer="ones")]))
    for given in ([10.0], [[10.0]], [np.array([10.0])]):
        assert model.predict(given).tolist() == [[10.0]]
    assert len(model.predict(np.zeros((0, 1)))) == 0


@pytest.mark.parametrize("given", ["auto", [1.0, 5.0], np.array([1.0, 5.0])])
def test_class_weights_that_tensorflow_refused(given):
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        from tensorflow.keras import Sequential, layers

        model = Sequential([layers.Dense(2, input_shape=(3,))])
        model.compile("sgd", "mse")
        for train in (model.fit, model.train_on_batch):
            with pytest.raises(TypeError, match="dict"):
                train(X, np.ones((len(X), 2)), class_weight=given)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("era", "expected"),
    [
        ("keras-2.2.4", [1.5118317008018494, 1.4011595249176025, 3.0236634016036987]),
        ("tf.keras-1.15", [3.5307068824768066, 1.4011595249176025, 5.042538642883301]),
        ("tf.keras-2.2", [3.5307068824768066, 1.4011595249176025]),
    ],
)
@pytest.mark.parametrize("replicas", [1, 2])
def test_class_weights_beside_the_weights_of_a_generator(era, expected, replicas):
    """Keras 2.2.4 left them out, tf.keras multiplied both; TensorFlow 2.2 took them for one output alone."""
    x, y, weights = np.arange(12.0).reshape(4, 3) / 12.0, np.array([[0], [1], [1], [0]]), np.array([1.0, 2.0, 0.5, 4.0])
    found = []
    with parallel_compat.legacy_names(era=era):
        from keras import layers, models, utils

        for names, given in (("a", [weights]), ("a", []), ("ab", [[weights, weights]]))[: len(expected)]:
            inputs = layers.Input((3,))
            made = [layers.Dense(2, activation="softmax", name=name)(inputs) for name in names]
            model = models.Model(inputs, made)
            model.set_weights([np.arange(6.0).reshape(3, 2) / 5.0 - 0.4, np.zeros(2)] * len(names))
            model = utils.multi_gpu_model(model, replicas) if replicas > 1 else model
            model.compile("sgd", "sparse_categorical_crossentropy")
            batches = iter([(x, [y] * len(names) if len(names) > 1 else y, *given)] * 2)
            classes = {0: 3.0, 1: 0.5}
            of_outputs = {"a": classes} if len(names) > 1 else classes
            found += model.fit_generator(batches, 2, verbose=0, class_weight=of_outputs).history["loss"]
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("by_name", [False, True])
@pytest.mark.parametrize("replicas", [1, 2])
def test_class_weights_of_several_outputs_for_a_generator(by_name, replicas):
    """Values of Keras 2.2.4; a dict of no output's name changed nothing, a class without a weight was refused."""
    x, a, b = np.arange(12.0).reshape(4, 3) / 12.0, np.eye(2)[[0, 1, 1, 0]], np.array([[0.0], [1.0], [1.0], [0.0]])

    def loss(class_weight):
        inputs = keras.layers.Input((3,))
        outputs = [
            keras.layers.Dense(2, activation="softmax", name="a")(inputs),
            keras.layers.Dense(1, activation="sigmoid", name="b")(inputs),
        ]
        model = keras.models.Model(inputs, outputs)
        model.set_weights(
            [np.arange(6.0).reshape(3, 2) / 5.0 - 0.4, np.zeros(2), np.arange(3.0)[:, None] / 5.0, np.zeros(1)]
        )
        model = keras.utils.multi_gpu_model(model, replicas) if replicas > 1 else model
        model.compile("sgd", ["categorical_crossentropy", "binary_crossentropy"])
        batches = iter([(x, {"a": a, "b": b} if by_name else [a, b])] * 2)
        return model.fit_generator(batches, 2, verbose=0, class_weight=class_weight).history["loss"][0]

    classes = {0: 3.0, 1: 0.5}
    np.testing.assert_allclose(loss({"a": classes, "b": classes}), 2.83197557926178, rtol=1e-6)
    np.testing.assert_allclose(loss({"b": classes}), 2.1367298364639282, rtol=1e-6)
    np.testing.assert_allclose(loss([None, classes]), 2.1367298364639282, rtol=1e-6)
    with pytest.warns(parallel_compat.ParallelCompatWarning, match="left out, as Keras 2 did"):
        np.testing.assert_allclose(loss(classes), 1.4142640233039856, rtol=1e-6)
    with pytest.raises(ValueError, match="all classes in the data"):
        loss({"a": {0: 3.0}})


def test_one_metric_with_and_without_weights():
    model = one_output(lambda model: model)
    model.compile("sgd", "mse", metrics=["mse"], weighted_metrics=["mse"])
    assert len(model.evaluate(X, Y, verbose=0)) == len(model.metrics_names) == 3


@pytest.mark.parametrize("parallel", [False, True])
def test_a_dict_for_the_only_output(parallel):
    """Keras 2 took targets and weights by the output's name, also of a model with one."""
    from keras.layers import Dense, Input
    from keras.models import Model
    from keras.utils import multi_gpu_model

    x, y, w = np.random.RandomState(0).rand(6, 3), np.arange(6.0)[:, None], np.arange(1.0, 7.0)
    results = []
    for of in (lambda value: value, lambda value: {"out": value}):
        inputs = Input((3,))
        model = Model(inputs, Dense(1, kernel_initializer="ones", name="out")(inputs))
        model = multi_gpu_model(model, 2) if parallel else model
        model.compile("sgd", of("mse"))
        history = model.fit(
            x, of(y), sample_weight=of(w), validation_data=(x, of(y)), epochs=1, batch_size=6, verbose=0, shuffle=False
        ).history
        results.append([history["loss"], history["val_loss"], model.evaluate(x, of(y), verbose=0)])
        results[-1].append(
            model.train_on_batch(x, of(y), class_weight=of({label: 1.0 + label for label in range(6)}))
            if not parallel
            else 0.0
        )
    np.testing.assert_allclose(np.hstack(results[1]), np.hstack(results[0]), rtol=1e-6)
