"""Steps of a model that are the user's own, as TensorFlow 2.2 ran them: what they return is what is shown."""

from __future__ import annotations

import numpy as np
import pytest

import parallel_compat

X = np.random.RandomState(0).rand(20, 3).astype("float32")


@pytest.fixture(autouse=True)
def _names():
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        yield


def models_with_steps():
    import tensorflow as tf
    from tensorflow import keras

    class Own(keras.Model):
        def __init__(self):
            super().__init__()
            self.out = keras.layers.Dense(3, kernel_initializer=keras.initializers.Constant(0.3))

        def call(self, inputs):
            return self.out(inputs)

        def apply(self, tape, loss):
            weights = self.trainable_variables
            self.optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))

    class ByHand(Own):
        def train_step(self, data):
            x, y = data
            with tf.GradientTape() as tape:
                errors = tf.square(y - self(x, training=True))
                loss = tf.reduce_mean(errors)
            self.apply(tape, loss)
            return {"other": 2 * loss, "loss": loss, "worst": tf.reduce_max(errors)}

        def test_step(self, data):
            x, y = data
            loss = self.compiled_loss(y, self(x, training=False))
            return {"loss": loss, "three": 3 * loss}

    class ByMetrics(Own):
        def train_step(self, data):
            x, y = data
            with tf.GradientTape() as tape:
                predicted = self(x, training=True)
                loss = self.compiled_loss(y, predicted, regularization_losses=self.losses)
            self.apply(tape, loss)
            self.compiled_metrics.update_state(y, predicted)
            return dict({metric.name: metric.result() for metric in self.metrics}, raw=loss)

    return ByHand, ByMetrics


def fitted(model, metrics):
    """Fit, and return the history of two epochs and what the callbacks were told of the second's last batch."""
    from tensorflow import keras

    batches = []
    told = keras.callbacks.LambdaCallback(on_batch_end=lambda batch, logs: batches.append(dict(logs)))
    model.compile("sgd", "mse", metrics=metrics)
    fit = {"batch_size": 8, "epochs": 2, "verbose": 0, "shuffle": False, "validation_data": (X, X)}
    return model.fit(X, X, callbacks=[told], **fit).history, batches


def test_an_epoch_shows_what_its_last_batch_returned():
    history, batches = fitted(models_with_steps()[0](), [])
    expected = {"other": [0.105531, 0.10469], "loss": [0.052766, 0.052345], "worst": [0.279112, 0.2756]}
    expected |= {"val_loss": [0.05251, 0.052095], "val_three": [0.157531, 0.156284]}
    assert list(history) == list(expected)
    for name, values in expected.items():
        np.testing.assert_allclose(history[name], values, atol=1e-6)
    np.testing.assert_allclose([each["loss"] for each in batches[:3]], [0.052099, 0.054204, 0.052766], atol=1e-6)


def test_lists_have_what_was_compiled_and_dicts_what_was_returned():
    model = models_with_steps()[0]()
    model.compile("sgd", "mse")
    model.fit(X, X, batch_size=8, epochs=2, verbose=0, shuffle=False)
    results = model.evaluate(X, X, batch_size=8, verbose=0, return_dict=True)
    np.testing.assert_allclose([results["loss"], results["three"]], [0.052095, 0.156284], atol=1e-6)
    np.testing.assert_allclose(model.evaluate(X, X, batch_size=8, verbose=0), 0.052095, atol=1e-6)
    np.testing.assert_allclose(model.train_on_batch(X, X), 0.052359, atol=1e-6)
    assert list(model.train_on_batch(X, X, return_dict=True)) == ["other", "loss", "worst"]


def test_dicts_of_results_have_the_order_of_the_metrics():
    from tensorflow import keras

    model = keras.Sequential([keras.layers.Dense(3, input_shape=(3,))])
    model.compile("sgd", "mse", metrics=["mse", "mae"])
    found = [model.train_on_batch(X, X, return_dict=True), model.test_on_batch(X, X, return_dict=True)]
    found.append(model.evaluate(X, X, verbose=0, return_dict=True))
    assert list(map(list, found)) == [["loss", "mse", "mae"]] * 3


def test_what_metrics_counted_is_a_mean():
    model = models_with_steps()[1]()
    history, batches = fitted(model, ["mae"])
    np.testing.assert_allclose(history["loss"], [0.053074, 0.052689], atol=1e-6)
    np.testing.assert_allclose(history["mae"], [0.186214, 0.185748], atol=1e-6)
    np.testing.assert_allclose(history["raw"], [0.052766, 0.052345], atol=1e-6)
    np.testing.assert_allclose(history["val_mae"], [0.185661, 0.185204], atol=1e-6)
    np.testing.assert_allclose([each["loss"] for each in batches[:3]], [0.052099, 0.053151, 0.053074], atol=1e-6)
    np.testing.assert_allclose(model.train_on_batch(X, X), [0.052359, 0.185204], atol=1e-6)
    np.testing.assert_allclose(model.train_on_batch(X, X), [0.052236684, 0.185046822], atol=1e-6)
    model.fit(X, X, batch_size=8, epochs=2, verbose=0, shuffle=False)
    # Metrics were reset after a batch, not before: this one goes on from the epoch.
    np.testing.assert_allclose(model.train_on_batch(X, X, reset_metrics=False), [0.051582169, 0.184316546], atol=1e-6)


def test_metrics_count_without_a_loss_in_batches_that_the_step_knows():
    """A model that trains another one, as in the distillation of knowledge, on pairs of batches."""
    import tensorflow as tf
    from tensorflow import keras

    class Pairs(keras.utils.Sequence):
        def __len__(self):
            return 2

        def __getitem__(self, number):
            return np.stack([X[8 * number : 8 * number + 8], X[8 * number : 8 * number + 8] ** 2])

    class OfAnother(keras.Model):
        def __init__(self, inner):
            super().__init__()
            self.inner = inner

        def train_step(self, data):
            x, y = data
            with tf.GradientTape() as tape:
                predicted = self.inner(x, training=True)
                loss = tf.reduce_mean(tf.square(y - predicted))
            weights = self.inner.trainable_variables
            self.optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
            self.compiled_metrics.update_state(y, predicted)
            return dict({metric.name: metric.result() for metric in self.metrics}, raw=loss)

        def test_step(self, data):
            x, y = data
            self.compiled_metrics.update_state(y, self.inner(x, training=False))
            return {metric.name: metric.result() for metric in self.metrics}

    class OnPairs(keras.Model):
        def train_step(self, data):
            first, second = data[0][0], data[0][1]
            loss = tf.reduce_mean(self(first, training=True) - self(second, training=True))
            return {"loss": loss}

    inputs = keras.Input((3,))
    outputs = keras.layers.Dense(3, kernel_initializer=keras.initializers.Constant(0.3))(inputs)
    model = OfAnother(keras.Model(inputs, outputs))
    model.compile("sgd", metrics=["mae"])
    history = model.fit(X, X, batch_size=8, epochs=2, verbose=0, shuffle=False, validation_data=(X, X)).history
    assert {name: np.round(values, 6).tolist() for name, values in history.items()} == {
        "mae": [0.186214, 0.185748],
        "raw": [0.052766, 0.052345],
        "val_mae": [0.185661, 0.185204],
    }
    assert model.metrics_names == ["mae"]
    assert model.evaluate(X, X, verbose=0) == pytest.approx(0.185204, abs=1e-6)
    pairs = OnPairs(inputs, outputs)
    pairs.compile("sgd")
    np.testing.assert_allclose(pairs.fit(Pairs(), shuffle=False, verbose=0).history["loss"], [0.162887], atol=1e-6)


def test_outputs_without_a_loss_have_metrics():
    from tensorflow import keras

    inputs = keras.Input((3,))
    outputs = [keras.layers.Dense(1, kernel_initializer="ones", name=name)(inputs) for name in "ab"]
    model = keras.Model(inputs, outputs)
    model.compile("sgd", {"a": "mse"}, metrics={"a": "mae", "b": "mae"})
    y = X[:, :1]
    seen = [model.fit(X, {"a": y, "b": 2 * y}, verbose=0).history, model.fit(X, {"a": y}, verbose=0).history]
    assert [list(each) for each in seen] == [["loss", "a_loss", "a_mae", "b_mae"]] * 2
    np.testing.assert_allclose(seen[0]["b_mae"], np.abs(X.sum(1, keepdims=True) - 2 * y).mean(), rtol=1e-6)
    assert seen[1]["b_mae"] == [0]


def test_a_call_that_requires_training_is_handed_it():
    """In a graph of layers; the numbers are those of TensorFlow 2.2.3."""
    from tensorflow import keras

    class Normal(keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.normal = keras.layers.BatchNormalization(momentum=0.0)

        def call(self, inputs, training):
            return self.normal(inputs, training=training)

    model = keras.Sequential([keras.Input((3,)), Normal()])
    np.testing.assert_allclose(model.predict(X), X / np.sqrt(1.001), rtol=1e-5)
    model.compile("sgd", "mse")
    model.fit(X, X, batch_size=20, verbose=0)
    np.testing.assert_allclose(model.layers[0].normal.moving_mean, X.mean(0), rtol=1e-5)
