"""Rows of the table of differences that apply to tf.keras 2.2 alone, as `known_differences.py`; migrated."""

import numpy as np
import tensorflow as tf

L, models = tf.keras.layers, tf.keras.models
rng = np.random.RandomState(0)
x = rng.rand(12, 4).astype("float32")
bits = np.array([[0.0], [1.0]] * 6, "float32")
classes = np.eye(3)[rng.randint(0, 3, 12)].astype("float32")
steps = rng.rand(12, 3, 2).astype("float32") * (np.arange(3) < rng.randint(1, 4, (12, 1)))[:, :, None]


def train(model, inputs, targets, **given):
    model.compile("sgd", **given)
    model.fit(inputs, targets, batch_size=6, epochs=1, shuffle=False, verbose=0)


masked = [L.Masking(input_shape=(3, 2)), L.TimeDistributed(L.Dense(1))]
train(models.Sequential(masked, name="loss_under_a_mask"), steps, steps[:, :, :1] + 1, loss="mse")
scores = [L.Dense(1, activation="sigmoid", input_shape=(4,))]
rates = [tf.keras.metrics.SpecificityAtSensitivity(rate / 10, name="at_%d" % rate) for rate in (1, 3, 4, 5, 6, 7, 8, 9)]
train(models.Sequential(scores, name="specificity"), x, bits, loss="mse", metrics=rates)
train(models.Sequential([L.Dense(3), L.BatchNormalization(), L.Dense(1)], name="deferred"), x, bits, loss="mse")


class Own(models.Model):
    def __init__(self):
        super().__init__(name="deferred_class")
        self.hidden, self.last = L.Dense(3, "relu"), L.Dense(1)

    def call(self, inputs):
        return self.last(self.hidden(inputs))


train(Own(), x, bits, loss="mse")
a, b = L.Input((4,)), L.Input((3,))
model = models.Model([a, b], L.Dense(3, "softmax")(L.Dense(5)(a)), name="added_loss")
model.add_loss(tf.reduce_mean(tf.keras.losses.categorical_crossentropy(b, model.output)))
train(model, [x, classes], None)
normalized = [L.BatchNormalization(input_shape=(3, 3, 2)), L.Flatten(), L.Dense(1)]
train(models.Sequential(normalized, name="pictures"), rng.rand(12, 3, 3, 2).astype("float32"), bits, loss="mse")
pixels = rng.rand(12, 8, 8, 1).astype("float32")
turned = tf.keras.preprocessing.image.ImageDataGenerator(rotation_range=40).flow(pixels, bits, 6, shuffle=False, seed=1)
model = models.Sequential([L.Flatten(input_shape=(8, 8, 1)), L.Dense(1)], name="turned")
model.compile("sgd", "mse")
model.fit(turned, epochs=1, verbose=0)
