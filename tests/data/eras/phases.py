"""What a fixed learning phase (`K.set_learning_phase`) does: phases.py keras|tf.keras OUT.json [REPLICAS]

It runs unmodified on the real stacks and under `parallel-compat run`. With REPLICAS, each compiled model is a parallel
one, and only those questions are asked that do not hang on the order in which towers write moving statistics.
"""

import json
import os
import sys

import numpy as np
import tensorflow as tf

if sys.argv[1] == "keras":
    import keras
else:
    keras = tf.keras

K, L = keras.backend, keras.layers
REPLICAS = int(sys.argv[3]) if len(sys.argv) > 3 else 0
EAGER = sys.argv[1] != "keras" and tf.__version__ > "2" and os.environ.get("ERA") != "tf.keras-1.15"
X = np.random.RandomState(0).normal(1, 2, (8, 4)).astype("float32")
Y = np.random.RandomState(1).normal(size=(8, 2)).astype("float32")
ANSWERS = {}


class Phased(L.Layer):
    def call(self, x, training=None):
        return K.in_train_phase(x * 0.5, x * 0.8, training=training)

    def compute_output_shape(self, input_shape):
        return input_shape


def filled(model):
    arrays = enumerate(model.get_weights())
    model.set_weights([np.random.RandomState(i).normal(0, 0.5, w.shape) if w.ndim > 1 else w for i, w in arrays])
    return model


def base():
    x = L.Input((4,))
    y = L.BatchNormalization(momentum=0.8)(L.Dense(3)(x))
    y = L.Lambda(lambda t: K.in_train_phase(t * 0.5, t * 0.8))(Phased()(y))
    return keras.models.Model(x, L.Activation("tanh")(y))


def topped(model):
    return filled(keras.models.Model(model.input, L.Dense(2)(model.output)))


def numbers(model):
    single = model
    if REPLICAS:
        model = keras.utils.multi_gpu_model(model, REPLICAS)
    model.compile(keras.optimizers.SGD(0.1), "mse")
    found = [float(model.train_on_batch(X, Y)) for _ in range(2)]
    found += [float(model.evaluate(X, Y, batch_size=8, verbose=0))] + model.predict(X)[:2].ravel().tolist()
    history = model.fit(X, Y, 8, shuffle=False, validation_data=(X, Y), verbose=0).history
    found += history["loss"] + history["val_loss"]
    return found + [float(v) for w in single.get_weights() for v in np.ravel(w)]


def frozen(model):
    for layer in model.layers:
        layer.trainable = isinstance(layer, L.Dense)
    return model


def before(phase, still):
    K.set_learning_phase(phase)
    model = base()
    return numbers(topped(frozen(model) if still else model))


def after(phase, still):
    model = base()
    model = topped(frozen(model) if still else model)
    K.set_learning_phase(phase)
    return numbers(model)


def below_others(phase, still):
    """Fix the phase of a base, and the other one of what is on it: how batch normalisation was got around."""
    K.set_learning_phase(phase)
    model = base()
    model = frozen(model) if still else model
    K.set_learning_phase(1 - phase)
    y = L.BatchNormalization(momentum=0.7)(model.output)
    return numbers(filled(keras.models.Model(model.input, L.Dense(2)(y))))


def inside(phase, still):
    """Fix the phase when a model is called inside another one."""
    model = base()
    model = frozen(model) if still else model
    K.set_learning_phase(phase)
    x = L.Input((4,))
    return numbers(filled(keras.models.Model(x, L.Dense(2)(model(x)))))


def function(phase, still):
    model = filled(base())
    K.set_learning_phase(phase)
    return np.ravel(K.function([model.input], [model.output])([X])[0]).tolist()


def eager(phase, still):
    """Call a model on arrays: without saying, saying either, and in a function."""
    K.set_learning_phase(phase)
    model = filled(base())
    calls = [model(X), model(X, training=True), model(X, training=False), tf.function(lambda x: model(x))(X)]
    drops = bool((np.array(L.Dropout(0.5)(np.ones((50, 10), "float32"))) == 0).any())
    return [float(v) for each in [*calls, *model.get_weights()] for v in np.ravel(each)] + [float(drops), phase]


QUESTIONS = [before, after, below_others, inside, function] + ([eager] if EAGER else [])
for ask in [before, after, inside] if REPLICAS else QUESTIONS:
    for phase in (0, 1):
        for still in (True,) if REPLICAS else (False, True) if ask not in (function, eager) else (False,):
            K.clear_session()
            ANSWERS["%s, %d%s" % (ask.__name__, phase, ", frozen" * still)] = ask(phase, still)
with open(sys.argv[2], "w") as file:
    json.dump(ANSWERS, file, indent=1, sort_keys=True)
