"""Losses, metrics and regularizers that Keras 3 computes otherwise under the same name."""

from __future__ import annotations

import subprocess
import sys

import keras
import numpy as np
import pytest
import tensorflow as tf

import parallel_compat
from parallel_compat import multi_gpu_model

pytestmark = pytest.mark.usefixtures("legacy_names")

X = np.random.RandomState(0).normal(size=(11, 3)).astype("float32")


def model_of(parallel, layers):
    template = keras.Sequential(layers)
    return template, multi_gpu_model(template, gpus=3) if parallel else template


@pytest.mark.parametrize("parallel", [False, True])
@pytest.mark.parametrize("power", [1, 2])
def test_hinge_takes_labels_as_they_are(parallel, power):
    name = {1: "hinge", 2: "squared_hinge"}[power]
    y = (X[:, :1] > 0).astype("float32")
    template, model = model_of(parallel, [keras.layers.Dense(1, input_shape=(3,))])
    for loss in (name, getattr(keras.losses, name)):
        model.compile("sgd", loss, [name])
        expected = np.mean(np.maximum(1 - y * template.predict(X), 0) ** power)
        np.testing.assert_allclose(model.test_on_batch(X, y), [expected, expected], rtol=1e-5)


# Keras 2.2.4 took labels of 0 and 1 as they are, tf.keras for -1 and 1.
HINGES = {"keras-2.2.4": [0.5, 1.0], "tf.keras-1.15": [0.5, 1.5], "tf.keras-2.2": [0.5, 1.5]}


@pytest.mark.parametrize("era", HINGES)
@pytest.mark.parametrize("symbolic", [False, True])
def test_hinges_called_by_hand(era, symbolic):
    labels, predicted = np.array([[1.0], [0.0]], "float32"), np.array([[0.5], [0.5]], "float32")
    with parallel_compat.legacy_names(era=era):
        for name, power in (("hinge", 1), ("squared_hinge", 2)):
            function = getattr(keras.losses, name)
            if symbolic:
                inputs = [keras.Input((1,)), keras.Input((1,))]
                found = keras.Model(inputs, function(*inputs)).predict([labels, predicted])
            else:
                found = function(tf.constant(labels), tf.constant(predicted))
            np.testing.assert_allclose(found, np.array(HINGES[era]) ** power, rtol=1e-6)


@pytest.mark.parametrize("era", HINGES)
def test_sparse_accuracies_of_symbolic_tensors(era):
    with parallel_compat.legacy_names(era=era):
        inputs = [keras.Input((1,)), keras.Input((3,))]
        labels, predicted = np.array([[0], [1], [2]]), np.array([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5], [0.5, 0.3, 0.2]])
        accuracy = keras.metrics.sparse_categorical_accuracy(*inputs)
        top = keras.metrics.sparse_top_k_categorical_accuracy(*inputs, k=2)
        model = keras.Model(inputs, accuracy)
        assert model.predict([labels, predicted]).tolist() == [1.0, 0.0, 0.0]
        (found,) = keras.backend.function(inputs, [top])([labels, predicted])
        np.testing.assert_allclose(np.mean(found), 2 / 3, rtol=1e-6)


@pytest.mark.parametrize("parallel", [False, True])
def test_accuracy_of_several_labels_counts_each(parallel):
    y = (X > 0).astype("int64")
    template, model = model_of(parallel, [keras.layers.Dense(3, "sigmoid", input_shape=(3,))])
    expected = np.mean((template.predict(X) > 0.5) == y)
    for spelling in ("accuracy", "acc"):
        model.compile("sgd", "binary_crossentropy", metrics=[spelling])
        assert model.test_on_batch(X, y)[1] == pytest.approx(expected)
        assert spelling in model.fit(X, y, verbose=0).history
        expected = np.mean((template.predict(X) > 0.5) == y)


def test_accuracy_goes_by_the_loss_of_its_output():
    inputs = keras.layers.Input((3,))
    outputs = [keras.layers.Dense(3, name="a")(inputs), keras.layers.Dense(3, name="b")(inputs)]
    y = (X > 0).astype("float32")
    for metrics in (["accuracy"], {"a": "accuracy", "b": ["accuracy"]}):
        model = keras.Model(inputs, outputs)
        model.compile("sgd", {"a": "binary_crossentropy", "b": "mse"}, metrics=metrics)
        a, b = model.predict(X)
        results = model.evaluate(X, [y, y], verbose=0)
        # Keras 2.2.4 rounds what the output gives, which without an activation may be 2 or -1.
        assert results[3] == pytest.approx(np.mean(np.round(a) == y))
        assert results[4] == pytest.approx(np.mean(b.argmax(-1) == y.argmax(-1)))


@pytest.mark.parametrize("parallel", [False, True])
def test_activity_regularizers_are_sums_over_the_batch(parallel, tmp_path):
    layers = [
        keras.layers.Dense(2, input_shape=(3,), activity_regularizer=keras.regularizers.l1(0.5)),
        keras.layers.ActivityRegularization(l2=0.1),
        keras.layers.Dense(1, kernel_initializer="zeros"),
    ]
    template, model = model_of(parallel, layers)
    model.compile("sgd", "mse")
    activity = X @ template.get_weights()[0]
    expected = 0.5 * np.abs(activity).sum() + 0.1 * (activity**2).sum()
    assert model.test_on_batch(X, np.zeros((11, 1))) == pytest.approx(expected, rel=1e-5)

    model.save(str(tmp_path / "model.keras"))
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    again = loaded.layers[0].activity_regularizer(keras.ops.convert_to_tensor(activity))
    assert float(again) == pytest.approx(0.5 * np.abs(activity).sum(), rel=1e-5)  # as a script's code calls it
    assert loaded.evaluate(X, np.zeros((11, 1)), verbose=0) == pytest.approx(expected, rel=1e-5)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("replicas", [1, 2])
@pytest.mark.parametrize(("era", "expected"), [("keras-2.2.4", 0.36), ("tf.keras-1.15", 0.06), ("tf.keras-2.2", 0.06)])
def test_activity_regularizers_of_layers_of_any_class(era, expected, replicas):
    """Keras 2.2.4 added the sum of whatever layer, its own or a user's; tf.keras divided it by the samples."""
    with parallel_compat.legacy_names(era=era):
        from keras import backend as K
        from keras import layers, models, regularizers

        class Own(layers.Layer):
            def __init__(self, activity_regularizer=None, **kwargs):
                super().__init__(**kwargs)
                self.activity_regularizer = regularizers.get(activity_regularizer)

            def call(self, x):
                return 1.0 * x

            def get_config(self):
                config = {"activity_regularizer": regularizers.serialize(self.activity_regularizer)}
                return {**super().get_config(), **config}

        def set_later():
            layer = layers.Dense(3, kernel_initializer="identity", input_shape=(3,))
            layer.activity_regularizer = lambda x: 0.01 * K.sum(K.abs(x))
            return layer

        local = {"kernel_initializer": "ones", "activity_regularizer": regularizers.l1(0.01)}
        kinds = [
            lambda: Own(regularizers.l1(0.01), input_shape=(3,)),
            lambda: Own.from_config(Own("l1", input_shape=(3,)).get_config()),
            set_later,
            lambda: layers.LocallyConnected1D(2, 1, input_shape=(3, 1), **local),
        ]
        for kind, times in zip(kinds, (0.5, 0.5, 0.5, 1), strict=True):
            model = models.Sequential([kind()])
            # What the user's code finds is what it has set.
            assert float(K.get_value(model.layers[0].activity_regularizer(K.ones((2, 2))))) == pytest.approx(0.04)
            model.build((None, 3))
            x = np.ones((6, 3) if len(model.input_shape) == 2 else (6, 3, 1))
            y = model.predict(x)
            model = multi_gpu_model(model, gpus=replicas) if replicas > 1 else model
            model.compile("sgd", "mse")
            assert model.evaluate(x, y, verbose=0) == pytest.approx(expected * times, rel=1e-5)


@pytest.mark.parametrize("parallel", [False, True])
@pytest.mark.parametrize("era", ["tf.keras-1.15", "tf.keras-2.2"])
def test_huber_loss_by_its_functions_name(era, parallel):
    x = np.array([[0.1, 0.4], [0.3, -0.2], [2.0, 1.5], [-1.0, 0.7]], "float32")
    y = np.array([[0.0, 3.0, 1.0], [1.0, 1.0, -2.0], [0.5, 0.5, 0.5], [4.0, -1.0, 0.0]], "float32")
    with parallel_compat.legacy_names(era=era):
        from tensorflow.keras import layers, optimizers

        for given in ("huber_loss", ["huber_loss"], {"out": "huber_loss"}):
            dense = layers.Dense(3, input_shape=(2,), kernel_initializer="zeros", name="out")
            template, model = model_of(parallel, [dense])
            template.set_weights([np.full((2, 3), 0.5), np.zeros(3)])
            model.compile(optimizers.SGD(0.1), given)
            weights = np.array([1.0, 2.0, 0.5, 3.0])
            history = model.fit(x, y, batch_size=3, epochs=2, shuffle=False, verbose=0, sample_weight=weights)
            # As TensorFlow 1.15.5 and 2.2.3 log it.
            np.testing.assert_allclose(history.history["loss"], [1.725024, 1.620287], atol=2e-6)
            np.testing.assert_allclose(template.get_weights()[1], [0.222613, -0.101827, -0.011797], atol=2e-6)
            assert model.evaluate(x, y, verbose=0) == pytest.approx(0.876839, abs=2e-6)


def test_losses_of_tensorflow_1_by_their_names():
    """`tf.losses` is Keras's module once it was used; the numbers are those of TensorFlow 1.15."""
    with parallel_compat.legacy_names(era="tf.keras-1.15"):
        layers, models = tf.keras.layers, tf.keras.models
        draws = np.random.RandomState(1)
        x, y = draws.randn(10, 4), np.eye(3)[draws.randint(3, size=10)]
        for loss, expected in (
            (lambda t, p: tf.losses.softmax_cross_entropy(t, p, label_smoothing=0.1), 1.11279),
            (lambda t, p: tf.losses.sigmoid_cross_entropy(t, p), 0.7163),
            (lambda t, p: tf.losses.huber_loss(t, p, delta=0.5), 0.16053),
            (tf.losses.absolute_difference, 0.50221),
        ):
            model = models.Sequential([layers.Dense(3, input_shape=(4,))])
            model.compile("sgd", loss)
            values = np.random.RandomState(0)
            model.set_weights([values.uniform(-0.5, 0.5, w.shape) for w in model.get_weights()])
            model.fit(x, y, batch_size=4, epochs=2, shuffle=False, verbose=0)
            assert model.evaluate(x, y, verbose=0) == pytest.approx(expected, abs=2e-5)


@pytest.mark.parametrize(
    ("era", "expected"), [("tf.keras-1.15", [[0.125, 0.03125, 1.5]]), ("tf.keras-2.2", [0.5520833])]
)
def test_the_function_huber_loss_by_its_name(era, expected):
    """As TensorFlow 1.15.5, which took no mean, and 2.2.3 have it."""
    with parallel_compat.legacy_names(era=era):
        for get in (tf.keras.losses.get, tf.keras.losses.deserialize):
            found = get("huber_loss")(tf.constant([[1.0, 0.0, 2.0]]), tf.constant([[0.5, 0.25, 4.0]]))
            np.testing.assert_allclose(found, expected, rtol=1e-6)


SMOOTHED = """
import numpy as np
import tensorflow as tf

import parallel_compat

for era in ("tf.keras-1.15", "tf.keras-2.2"):
    with parallel_compat.legacy_names(era=era):
        from tensorflow.keras import losses

        draw = np.random.RandomState(0)
        labels, output = np.eye(3)[draw.randint(0, 3, (4, 5))], draw.rand(4, 5, 3) + 0.1
        output = tf.constant(output / output.sum(-1, keepdims=True), "float32")
        labels = tf.constant(labels, "float32")
        by_function = losses.categorical_crossentropy(labels, output, label_smoothing=0.2)
        by_object = losses.CategoricalCrossentropy(label_smoothing=0.2)(labels, output)
        print(float(tf.reduce_sum(by_function)), float(by_object))
"""


def test_labels_of_steps_are_smoothed_as_in_tf_keras(tmp_path):
    """By the number of steps, 5, in place of the classes, 3; the numbers are those of both.

    In a process of its own: in one order of tests `tensorflow.keras` handed out one that was not wrapped.
    """
    script = tmp_path / "smoothed.py"
    script.write_text(SMOOTHED)
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=600, check=False)
    numbers = [float(each) for each in done.stdout.split()]
    assert numbers == pytest.approx([21.819876, 1.0909936] * 2, rel=1e-6), done.stderr


@pytest.mark.parametrize("era", ["keras-2.2.4", "tf.keras-1.15", "tf.keras-2.2"])
def test_a_loss_that_is_a_scalar_output(era):
    """That of YOLO: a Lambda sums over the batch, and the loss is its output. The numbers are those of all three."""
    with parallel_compat.legacy_names(era=era):
        from keras import backend as K

        inputs, labels = keras.layers.Input((3,)), keras.layers.Input((2,))
        predicted = keras.layers.Dense(2, kernel_initializer="ones")(inputs)
        distance = keras.layers.Lambda(lambda both: K.sum(abs(both[0] - both[1])), output_shape=(1,))
        model = keras.Model([inputs, labels], distance([predicted, labels]))
        model.compile(keras.optimizers.SGD(0.01), lambda target, output: output)
        found = model.fit([X, X[:, :2]], np.zeros(11), batch_size=6, shuffle=False, verbose=0, epochs=2)
        np.testing.assert_allclose(found.history["loss"], [14.432, 13.1002], atol=1e-4)
