"""Constraints and metrics of tf.keras; the numbers are those of TensorFlow 2.2.3."""

from __future__ import annotations

OWN_METRIC = """
import tensorflow as tf
from tensorflow import keras
from tensorflow.python.keras.metrics import MeanMetricWrapper

class Distance(MeanMetricWrapper):
    def __init__(self, name="distance", dtype=None):
        super(Distance, self).__init__(lambda y, p: tf.reduce_mean(tf.abs(y - p), axis=-1), name, dtype=dtype)

model = keras.Sequential([layers.Dense(1, input_shape=(3,))])
model.compile("sgd", "mse", metrics=[Distance()])
model.train_on_batch(x, y)
models.save_model(model, path)
again = models.load_model(path, custom_objects={"Distance": Distance})
"""
