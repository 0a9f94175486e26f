"""Trainings by `train_on_batch` that go on from files of tf.keras: whole models, and weights in checkpoints.

`python compiled_trainings.py begin FOLDER` with TensorFlow 2.2.3 (Python 3.8, protobuf<3.20, numpy<1.24) wrote the
files in `old_checkpoints/compiled`, and the losses that come next, in `numbers.json`.
`python compiled_trainings.py go_on FOLDER` prints the losses that come next.
"""

import json
import os
import sys

import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

OPTIMIZERS = {
    "SGD": lambda: keras.optimizers.SGD(0.05, momentum=0.9, decay=0.1),
    "Nadam": lambda: keras.optimizers.Nadam(0.02),
    "RMSprop": lambda: keras.optimizers.RMSprop(0.01, momentum=0.5, centered=True),
    "Ftrl": lambda: keras.optimizers.Ftrl(0.1),
}

x = np.random.RandomState(0).rand(6, 3).astype("float32")
y = x[:, :1] * 2


def compiled(name):
    model = keras.Sequential([layers.Dense(2, activation="tanh", input_shape=(3,)), layers.Dense(1)])
    model.compile(OPTIMIZERS[name](), "mse")
    model.set_weights(
        [
            np.full(weight.shape, 0.3) + np.arange(weight.size).reshape(weight.shape) / 9
            for weight in model.get_weights()
        ]
    )
    return model


def next_losses(model):
    return [float(model.train_on_batch(x, y)) for _ in range(3)]


def begin(folder):
    numbers = {}
    for name in OPTIMIZERS:
        model = compiled(name)
        next_losses(model)
        keras.backend.set_value(model.optimizer.lr, 0.03)
        model.save_weights(os.path.join(folder, name))
        model.save(os.path.join(folder, name + ".h5"))
        numbers[name] = next_losses(model)
    return numbers


def go_on(folder):
    """Losses of whole models, and of weights that a model gets whose optimizer was made anew."""
    numbers = {}
    for name in OPTIMIZERS:
        weights = compiled(name)
        weights.load_weights(os.path.join(folder, name))
        numbers[name] = next_losses(weights)
        np.testing.assert_allclose(
            next_losses(keras.models.load_model(os.path.join(folder, name + ".h5"))), numbers[name], rtol=1e-6
        )
    return numbers


if __name__ == "__main__":
    how, folder = sys.argv[1:]
    numbers = {"begin": begin, "go_on": go_on}[how](folder)
    if how == "begin":
        with open(os.path.join(folder, "numbers.json"), "w") as file:
            json.dump(numbers, file, indent=1)
    print(json.dumps(numbers))
