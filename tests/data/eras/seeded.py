"""What follows from `np.random.seed` alone in Keras 2.2.4: initial weights, the order of samples, a whole training.

`python seeded.py keras OUT.json`.
"""

import json
import random
import sys

import numpy as np
import tensorflow as tf
from keras import backend as K
from keras import initializers, layers
from keras.models import Model, Sequential
from keras.utils import multi_gpu_model


def digest(arrays):
    return [[list(np.shape(a)), [float(v) for v in np.ravel(a)[:6]], float(np.abs(a).sum())] for a in arrays]


def value(tensor):
    return tensor if isinstance(tensor, np.ndarray) else K.eval(tensor)


def drawn_by_initializers():
    found = {}
    for name in ("glorot_uniform", "glorot_normal", "he_normal", "he_uniform", "lecun_normal", "lecun_uniform",
                 "RandomNormal", "RandomUniform", "TruncatedNormal", "VarianceScaling", "Orthogonal", "uniform", "normal"):
        np.random.seed(1)
        one = initializers.get(name)
        found[name] = digest([value(one((3, 3, 4, 5))), value(one((4, 3)))]) + [float(np.random.rand())]
    np.random.seed(1)
    one = initializers.glorot_uniform(seed=5)
    found["seeded"] = digest([value(one((4, 3))), value(one((4, 3)))]) + [float(np.random.rand())]
    np.random.seed(1)
    found["orthogonal seeded"] = digest([value(initializers.Orthogonal(seed=5)((4, 3)))]) + [float(np.random.rand())]
    return found


def models():
    np.random.seed(2)
    random.seed(2)
    found = []
    found.append(Sequential([layers.Dense(4, input_shape=(3,)), layers.Dropout(0.5), layers.Dense(2)]))
    found.append(Sequential([layers.Embedding(9, 4, input_length=5), layers.Bidirectional(layers.LSTM(3)), layers.Dense(1)]))
    found.append(Sequential([layers.Conv2D(4, 3, input_shape=(8, 8, 2), kernel_initializer="he_normal"),
                             layers.BatchNormalization(), layers.SeparableConv2D(3, 2), layers.GaussianNoise(0.1),
                             layers.Flatten(), layers.Dense(2)]))
    x = layers.Input((4, 3))
    found.append(Model(x, layers.TimeDistributed(layers.Dense(2))(layers.GRU(3, return_sequences=True)(x))))
    return {"weights": [digest(model.get_weights()) for model in found], "numpy": float(np.random.rand()),
            "random": random.random()}


def training():
    np.random.seed(3)
    x, y = np.random.rand(50, 6), np.random.randint(0, 3, 50)
    model = Sequential([layers.Dense(8, activation="relu", input_shape=(6,)), layers.Dense(3, activation="softmax")])
    model.compile("rmsprop", "sparse_categorical_crossentropy", metrics=["accuracy"])
    history = model.fit(x, y, batch_size=16, epochs=3, verbose=0, validation_split=0.2).history
    return {"history": {name: [float(v) for v in history[name]] for name in sorted(history)},
            "weights": digest(model.get_weights())}


def parallel():
    np.random.seed(4)
    model = Sequential([layers.Dense(4, input_shape=(3,)), layers.Dropout(0.5)])
    multi_gpu_model(Model(model.inputs, model(model.inputs)), gpus=3)
    return float(np.random.rand())


def recurrent():
    np.random.seed(4)
    found = []
    for kind in (layers.SimpleRNN, layers.GRU, layers.LSTM):
        Sequential([kind(2, dropout=0.1, recurrent_dropout=0.2, input_shape=(3, 2)), layers.AlphaDropout(0.1)])
        found.append(float(np.random.rand()))
    return found


def graph_seed():
    tf.set_random_seed(7)
    np.random.seed(1)
    return digest([value(initializers.glorot_uniform()((4, 3)))])


ANSWERS = {
    "initializers": drawn_by_initializers,
    "models": models,
    "training": training,
    "parallel": parallel,
    "recurrent": recurrent,
    "graph_seed": graph_seed,  # the last: it stays
}

if __name__ == "__main__":
    with open(sys.argv[2], "w") as file:
        json.dump({name: ask() for name, ask in ANSWERS.items()}, file, indent=1, sort_keys=True)
