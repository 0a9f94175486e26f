"""Trainings in loops that go on from a `tf.train.Checkpoint`; restored before the model is called first.

`python resumed_trainings.py begin FOLDER` with TensorFlow 2.2.3 (Python 3.8, protobuf<3.20, numpy<1.24) wrote the
checkpoints in `old_checkpoints/resumed`, and the numbers that come next, in `numbers.json`.
`python resumed_trainings.py go_on FOLDER` prints the numbers that come next.
"""

import json
import os
import sys

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

OPTIMIZERS = {
    "SGD": lambda: keras.optimizers.SGD(0.05, momentum=0.9),
    "Adam": lambda: keras.optimizers.Adam(0.02, amsgrad=True),
    "RMSprop": lambda: keras.optimizers.RMSprop(0.01, momentum=0.5, centered=True),
    "Adagrad": lambda: keras.optimizers.Adagrad(0.1),
    "Adadelta": lambda: keras.optimizers.Adadelta(0.5),
    "Adamax": lambda: keras.optimizers.Adamax(0.02),
    "Ftrl": lambda: keras.optimizers.Ftrl(0.1),
}


class Encoder(layers.Layer):
    def __init__(self, units):
        super(Encoder, self).__init__()
        self.dense_layers = [layers.Dense(units, activation="tanh") for _ in range(2)]
        self.named = {"norm": layers.LayerNormalization(epsilon=1e-6)}

    def call(self, x):
        for layer in self.dense_layers:
            x = layer(x)
        return self.named["norm"](x)


class Network(keras.Model):
    def __init__(self):
        super(Network, self).__init__()
        self.encoder = Encoder(4)
        self._gru = layers.GRU(3, return_state=True)
        self.norm = layers.BatchNormalization()
        self.head = keras.Sequential([layers.Dense(3), layers.Dense(2)])
        self.scale = tf.Variable(2.0)

    def call(self, x, training=False):
        output, state = self._gru(self.encoder(x))
        return self.head(self.norm(output, training=training)) * self.scale


def training(name):
    model, optimizer, step = Network(), OPTIMIZERS[name](), tf.Variable(0)

    @tf.function
    def train(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        step.assign_add(1)
        return loss

    return model, tf.train.Checkpoint(model=model, optimizer=optimizer, step=step), train


x = np.random.RandomState(0).rand(6, 5, 3).astype("float32")
y = x[:, 0, :2]


def next_numbers(checkpoint, train):
    losses = [float(train(x, y)) for _ in range(3)]
    return [int(checkpoint.step), int(checkpoint.optimizer.iterations), *losses]


def begin(folder):
    numbers = {}
    for name in OPTIMIZERS:
        model, checkpoint, train = training(name)
        for _ in range(4):
            train(x, y)
        checkpoint.write(os.path.join(folder, name))
        numbers[name] = [float(tf.reduce_sum(model(x)))] + next_numbers(checkpoint, train)
    return numbers


def go_on(folder):
    """Restore before the first call, which is one on numbers or one in a graph, and train; then weights alone."""
    numbers = {}
    for name in OPTIMIZERS:
        model, checkpoint, train = training(name)
        checkpoint.restore(os.path.join(folder, name)).expect_partial()
        numbers[name] = [float(tf.reduce_sum(model(x)))] + next_numbers(checkpoint, train)
    model, checkpoint, train = training("Adam")
    checkpoint.restore(os.path.join(folder, "Adam")).expect_partial()
    assert next_numbers(checkpoint, train) == numbers["Adam"][1:]
    model.save_weights(os.path.join("own", "weights"))
    other = Network()
    other.load_weights(tf.train.latest_checkpoint("own"))
    np.testing.assert_allclose(other.predict(x), model.predict(x), rtol=1e-5)
    other = Network()
    other.load_weights(os.path.join("own", "weights"))
    other.build((None, 5, 3))
    for ours, theirs in zip(other.get_weights(), model.get_weights()):
        np.testing.assert_array_equal(ours, theirs)
    return numbers


if __name__ == "__main__":
    how, folder = sys.argv[1:]
    print(json.dumps({"begin": begin, "go_on": go_on}[how](folder)))
