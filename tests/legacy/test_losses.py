"""Losses, metrics and regularizers that Keras 3 computes otherwise under the same name."""

from __future__ import annotations

import subprocess
import sys

import keras
import numpy as np
import pytest

from parallel_compat import multi_gpu_model
from parallel_compat.legacy import layers, models

X = np.random.RandomState(0).normal(size=(11, 3)).astype("float32")


def model_of(parallel, layers):
    template = keras.Sequential(layers)
    return template, multi_gpu_model(template, gpus=3) if parallel else template


@pytest.mark.parametrize("parallel", [False, True])
@pytest.mark.parametrize("power", [1, 2])
def test_hinge_takes_labels_as_they_are(parallel, power):
    name = {1: "hinge", 2: "squared_hinge"}[power]
    y = (X[:, :1] > 0).astype("float32")
    template, model = model_of(parallel, [layers.Dense(1, input_shape=(3,))])
    for loss in (name, getattr(keras.losses, name)):
        model.compile("sgd", loss, [name])
        expected = np.mean(np.maximum(1 - y * template.predict(X), 0) ** power)
        np.testing.assert_allclose(model.test_on_batch(X, y), [expected, expected], rtol=1e-5)


# Keras 2.2.4 took labels of 0 and 1 as they are, tf.keras for -1 and 1.
HINGES = {"keras-2.2.4": [0.5, 1.0], "tf.keras-1.15": [0.5, 1.5], "tf.keras-2.2": [0.5, 1.5]}


@pytest.mark.parametrize("parallel", [False, True])
def test_accuracy_of_several_labels_counts_each(parallel):
    y = (X > 0).astype("int64")
    template, model = model_of(parallel, [layers.Dense(3, "sigmoid", input_shape=(3,))])
    expected = np.mean((template.predict(X) > 0.5) == y)
    for spelling in ("accuracy", "acc"):
        model.compile("sgd", "binary_crossentropy", metrics=[spelling])
        assert model.test_on_batch(X, y)[1] == pytest.approx(expected)
        assert spelling in model.fit(X, y, verbose=0).history
        expected = np.mean((template.predict(X) > 0.5) == y)


def test_accuracy_goes_by_the_loss_of_its_output():
    inputs = layers.Input((3,))
    outputs = [layers.Dense(3, name="a")(inputs), layers.Dense(3, name="b")(inputs)]
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
    made = [
        layers.Dense(2, input_shape=(3,), activity_regularizer=keras.regularizers.l1(0.5)),
        keras.layers.ActivityRegularization(l2=0.1),
        layers.Dense(1, kernel_initializer="zeros"),
    ]
    template, model = model_of(parallel, made)
    model.compile("sgd", "mse")
    activity = X @ template.get_weights()[0]
    expected = 0.5 * np.abs(activity).sum() + 0.1 * (activity**2).sum()
    assert model.test_on_batch(X, np.zeros((11, 1))) == pytest.approx(expected, rel=1e-5)

    models.save_model(model, str(tmp_path / "model.keras"))
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    again = loaded.layers[0].activity_regularizer(keras.ops.convert_to_tensor(activity))
    assert float(again) == pytest.approx(0.5 * np.abs(activity).sum(), rel=1e-5)  # as a script's code calls it
    assert loaded.evaluate(X, np.zeros((11, 1)), verbose=0) == pytest.approx(expected, rel=1e-5)


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
