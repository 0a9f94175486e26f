"""Write checkpoints of TensorFlow with the weights of `tf.keras` models: run this under TensorFlow 2.2.3.

make_old_checkpoints.py OUT_DIR

`<case>.index` and `<case>.data-*` for each case, and `predictions.npz` with what the old stack predicted from `data()`.
"""

import sys

import numpy as np
import tensorflow as tf

L, Model, Sequential = tf.keras.layers, tf.keras.Model, tf.keras.Sequential


class Blocks(Model):
    """A model of a class: its layers are attributes, one of them a list."""

    def __init__(self):
        super(Blocks, self).__init__()
        self.embed = L.Embedding(9, 3)
        self.blocks = [L.Dense(4, activation="tanh") for _ in range(2)]
        self.last = L.Dense(1)

    def call(self, x):
        h = self.embed(x)
        for block in self.blocks:
            h = block(h)
        return self.last(h)


def graph():
    x = L.Input((5,))
    h = L.Embedding(9, 3)(x)
    h = L.Bidirectional(L.LSTM(2, return_sequences=True))(h)
    h = L.TimeDistributed(L.Dense(3))(h)
    h = L.BatchNormalization()(L.Flatten()(h))
    return Model(x, Sequential([L.Dense(4, activation="relu", input_shape=(15,)), L.Dense(2)])(h))


CASES = {"graph": graph, "blocks": Blocks}


def data():
    return np.random.RandomState(0).randint(0, 9, (4, 5)).astype("float32")


def filled(make):
    """Return a model whose weights are numbers in a row."""
    model = make()
    model(tf.constant(data()))
    drawn = np.random.RandomState(1)
    model.set_weights([drawn.uniform(0.1, 1, weight.shape) for weight in model.get_weights()])
    return model


if __name__ == "__main__":
    predictions = {}
    for name, make in CASES.items():
        made = filled(make)
        made.save_weights(sys.argv[1] + "/" + name)
        predictions[name] = made.predict(data())
    np.savez(sys.argv[1] + "/predictions.npz", **predictions)
