"""What Keras answers about names, order and logs: names_and_order.py keras|tf.keras OUT.json [REPLICAS]

Runs on Keras 2.2.4 and on `tf.keras` of TensorFlow 1.15 and 2.2, which recorded `tests/data/eras/names_and_order.*.json`,
and under `parallel-compat run`. With REPLICAS, each compiled model is a parallel one.
"""

import json
import os
import random
import sys
import warnings

warnings.filterwarnings("ignore")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ["CUDA_VISIBLE_DEVICES"] = ""
import numpy as np
import tensorflow as tf

if sys.argv[1] == "keras":
    import keras
else:
    keras = tf.keras
K, L = keras.backend, keras.layers
Model, Sequential = keras.models.Model, keras.models.Sequential
REPLICAS = int(sys.argv[3]) if len(sys.argv) > 3 else 0
ANSWERS = {}


def plain(value):
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if hasattr(value, "numpy"):
        value = value.numpy()
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        value = value.item()
    return float("%.6g" % value) if isinstance(value, float) else value


def question(name, replicas=True):
    def ask(function):
        if REPLICAS and not replicas:
            return
        K.clear_session()
        np.random.seed(11)
        random.seed(12)
        try:
            ANSWERS[name] = plain(function())
        except Exception as error:
            ANSWERS[name] = "raises %s: %s" % (type(error).__name__, " ".join(str(error).split())[:100])

    return ask


def numbers(seed, *shape):
    return np.random.RandomState(seed).normal(size=shape)


def filled(model):
    r = np.random.RandomState(21)
    model.set_weights([r.uniform(-0.5, 0.5, w.shape) for w in model.get_weights()])
    return model


def compiled(model, *args, **kwargs):
    if REPLICAS:
        model = keras.utils.multi_gpu_model(model, REPLICAS)
    model.compile(*args, **kwargs)
    return model


def sgd(rate):
    return keras.optimizers.SGD(rate)


# --- the order of weights, and what trains ------------------------------------------------------------------------


def shapes(weights):
    return [[int(n) for n in w.shape] for w in weights]


def block(units):
    return [L.Dense(units), L.BatchNormalization(), L.Activation("tanh"), L.Dense(2)]


@question("weights of a Sequential in a Sequential", replicas=False)
def _():
    inner = Sequential([L.Dense(3, input_shape=(4,))] + block(5))
    outer = Sequential([L.Dense(4, input_shape=(6,)), L.BatchNormalization(), inner, L.Dense(1)])
    answers = [shapes(outer.get_weights()), shapes(outer.weights), shapes(inner.get_weights()), shapes(inner.weights)]
    inner.layers[1].trainable = False
    answers += [shapes(outer.get_weights()), shapes(outer.trainable_weights), shapes(outer.non_trainable_weights)]
    return answers


@question("weights of a frozen base", replicas=False)
def _():
    i = L.Input((4,))
    base = Model(i, L.Dense(2)(L.BatchNormalization()(L.Dense(3)(i))))
    j = L.Input((4,))
    model = Model(j, L.Dense(1)(base(j)))
    base.trainable = False
    return [shapes(model.get_weights()), shapes(model.weights), shapes(base.weights), shapes(model.trainable_weights)]


@question("weights of wrappers", replicas=False)
def _():
    i = L.Input((3, 4))
    both = L.Bidirectional(L.LSTM(2, return_sequences=True))
    each = L.TimeDistributed(Sequential([L.Dense(3, input_shape=(4,)), L.BatchNormalization(), L.Dense(5)]))
    model = Model(i, each(both(i)))
    return [shapes(model.get_weights()), shapes(both.get_weights()), shapes(each.get_weights()), shapes(each.weights)]


@question("weights set in the order they came in", replicas=False)
def _():
    inner = Sequential([L.Dense(4, input_shape=(4,))] + block(4))
    model = Sequential([inner, L.Dense(1)])
    model.set_weights([np.full(w.shape, n, "float32") for n, w in enumerate(model.get_weights())])
    return [[float(np.ravel(w)[0]) for w in layer.get_weights()] for layer in inner.layers]


@question("a frozen layer after its model was frozen and thawed", replicas=False)
def _():
    model = Sequential([L.Dense(3, input_shape=(4,)), L.Dense(2), L.Dense(1)])
    model.layers[0].trainable = False
    model.trainable = False
    model.trainable = True
    filled(model)
    model.compile(sgd(0.1), "mse")
    before = model.get_weights()
    model.train_on_batch(numbers(1, 6, 4), numbers(2, 6, 1))
    moved = [bool((a != b).any()) for a, b in zip(before, model.get_weights())]
    return [[layer.trainable for layer in model.layers], shapes(model.trainable_weights), moved]


@question("layers of a frozen model in another model", replicas=False)
def _():
    base = Sequential([L.Dense(3, input_shape=(4,)), L.Dense(2)])
    base.trainable = False
    model = Model(base.input, L.Dense(1)(base.layers[0].output))
    filled(model)
    model.compile(sgd(0.1), "mse")
    before = model.get_weights()
    model.train_on_batch(numbers(1, 6, 4), numbers(2, 6, 1))
    return [
        [layer.trainable for layer in base.layers],
        [bool((a != b).any()) for a, b in zip(before, model.get_weights())],
    ]


json.dump(ANSWERS, open(sys.argv[2], "w"), indent=1)
