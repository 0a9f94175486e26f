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
            return {"loss": loss, "other": 2 * loss, "worst": tf.reduce_max(errors)}

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
    expected = {"loss": [0.052766, 0.052345], "other": [0.105531, 0.10469], "worst": [0.279112, 0.2756]}
    expected |= {"val_loss": [0.05251, 0.052095], "val_three": [0.157531, 0.156284]}
    assert sorted(history) == sorted(expected)
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
    assert sorted(model.train_on_batch(X, X, return_dict=True)) == ["loss", "other", "worst"]


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
