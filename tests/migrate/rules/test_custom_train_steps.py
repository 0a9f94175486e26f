from __future__ import annotations

import keras
import numpy as np
import tensorflow as tf

from parallel_compat.legacy.models import compiled_loss, update_compiled_metrics
from tests.migrate.check import check_noop, found

HEAD = "from tensorflow import keras\nclass Net({}):\n    def train_step(self, data):\n        x, y = data\n"


def test_only_models_have_them():
    source = HEAD.format("keras.Model") + "        self.compiled_metrics.update_state(y, p)\n"
    assert found(source, "custom-train-steps") == [(5, "rewritten")]
    other = (
        HEAD.format("Trainer") + "        self.compiled_metrics.update_state(y, p)\n        self.compiled_loss(y, p)\n"
    )
    check_noop(other, rule="custom-train-steps")
    check_noop(HEAD.format("keras.Model") + "        self.seen.update_state(y, p)\n", rule="custom-train-steps")


class Net(keras.Model):
    """A class that has a metric of its own; Keras 3 would pass the predictions to it, too."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.seen = keras.metrics.Mean(name="seen")

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            predictions = self(x, training=True)
            loss = compiled_loss(self, y, predictions, regularization_losses=self.losses)
        self.optimizer.apply_gradients(
            zip(tape.gradient(loss, self.trainable_variables), self.trainable_variables, strict=True)
        )
        self.seen.update_state(7.0)
        update_compiled_metrics(self, y, predictions)
        return {metric.name: metric.result() for metric in self.metrics}


def test_logs_are_those_of_tf_keras_2_2():
    inputs = keras.Input((6,))
    outputs = keras.layers.Dense(1, kernel_initializer="ones", kernel_regularizer="l2")(inputs)
    model = Net(inputs, outputs)
    model.compile(keras.optimizers.SGD(0.01), "mse", metrics=["mae"])
    x = np.random.RandomState(0).rand(20, 6).astype("float32")
    history = model.fit(x, x[:, :1], epochs=2, shuffle=False, batch_size=8, verbose=0).history
    np.testing.assert_allclose(history["loss"], [6.19115, 4.4909], rtol=1e-5)  # TensorFlow 2.2.3
    np.testing.assert_allclose(history["mae"], [2.37406, 2.00669], rtol=1e-5)
    assert history["seen"] == [7, 7]
