"""What Keras answers where a model is called, changed and looked at: calls.py keras|tf.keras OUT.json [REPLICAS]

Runs on Keras 2.2.4 and on `tf.keras` of TensorFlow 1.15 and 2.2, which recorded `tests/data/eras/calls.*.json`, and
under `parallel-compat run`. With REPLICAS, each compiled model is a parallel one.
"""

import json
import os
import pickle
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
ERA = os.environ["ERA"]
K, L, Input = keras.backend, keras.layers, keras.layers.Input
Model, Sequential = keras.models.Model, keras.models.Sequential
REPLICAS = int(sys.argv[3]) if len(sys.argv) > 3 else 0
WORD = sys.argv[4] if len(sys.argv) > 4 else ""
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
        if (REPLICAS and not replicas) or WORD not in name:
            return
        K.clear_session()
        np.random.seed(11)
        random.seed(12)
        try:
            ANSWERS[name] = plain(function())
        except Exception as error:
            if os.environ.get("TRACE"):
                raise
            ANSWERS[name] = "raises %s: %s" % (type(error).__name__, " ".join(str(error).split())[:100])

    return ask


def numbers(seed, *shape):
    return np.random.RandomState(seed).normal(size=shape).astype("float32")


def filled(model):
    r = np.random.RandomState(21)
    model.set_weights([r.uniform(-0.5, 0.5, w.shape) for w in model.get_weights()])
    return model


def compiled(model, *args, **kwargs):
    if REPLICAS:
        model = keras.utils.multi_gpu_model(model, REPLICAS)
    model.compile(*args, **kwargs)
    return model


def sgd(rate=0.1):
    return keras.optimizers.SGD(rate)


X, Y = numbers(1, 13, 4), numbers(2, 13, 3)
SOFT = np.random.RandomState(3).uniform(size=(13, 3)).astype("float32")

# --- losses that hang on what made the output ---------------------------------------------------------------------


def trained(model, x, y, loss="categorical_crossentropy", **more):
    model = compiled(filled(model), sgd(0.2), loss, **more)
    return [model.train_on_batch(x, y), model.train_on_batch(x, y), model.test_on_batch(x, y)]


@question("dropout behind a softmax")
def _():
    return trained(Sequential([L.Dense(3, activation="softmax", input_shape=(4,)), L.Dropout(1e-9)]), X, SOFT)


for title, last in (
    ("Softmax layer", lambda: L.Softmax()),
    ("Activation layer", lambda: L.Activation("softmax")),
    ("K.softmax", lambda: L.Lambda(lambda t: K.softmax(t))),
    ("tf.nn.softmax", lambda: L.Lambda(lambda t: tf.nn.softmax(t))),
    ("activations.softmax", lambda: L.Lambda(lambda t: keras.activations.softmax(t))),
):
    @question("softmax of three axes by " + title)
    def _():
        return trained(Sequential([L.Dense(3, input_shape=(2, 4)), last()]), numbers(4, 6, 2, 4), SOFT[:12].reshape(6, 2, 3))


@question("cosine losses by name, function and class")
def _():
    losses = ["cosine_similarity"] if ERA == "tf.keras-2.2" else ["cosine_proximity", keras.losses.cosine_proximity]
    losses += [] if ERA.startswith("keras-") else [keras.losses.CosineSimilarity()]
    dense = lambda: Sequential([L.Dense(3, input_shape=(4,))])
    by_hand = keras.losses.cosine_similarity if ERA == "tf.keras-2.2" else keras.losses.cosine_proximity
    return [trained(dense(), X, Y, loss) for loss in losses], K.eval(by_hand(K.constant(X), K.constant(X[::-1])))


# --- calls --------------------------------------------------------------------------------------------------------


@question("a normalisation called with training=False")
def _():
    i = Input((4,))
    norm = L.BatchNormalization()
    model = filled(Model(i, L.Dense(3)(norm(i, training=False))))
    norm.set_weights([np.abs(w) for w in norm.get_weights()])
    parallel = compiled(model, sgd(), "mse")
    return [parallel.train_on_batch(X, Y), parallel.train_on_batch(X, Y), parallel.test_on_batch(X, Y)], norm.get_weights()


@question("a normalisation called with training=True", replicas=False)
def _():
    i = Input((4,))
    model = filled(Model(i, L.BatchNormalization()(i, training=True)))
    return model.predict(X[:3])


@question("a dropout called with training=False")
def _():
    i = Input((4,))
    return trained(Model(i, L.Dense(3)(L.Dropout(0.5)(i, training=False))), X, Y, "mse")


@question("a model called with training=False in another one")
def _():
    i, j = Input((4,)), Input((4,))
    inner = Model(i, L.Dropout(0.5)(L.Dense(4)(i)))
    return trained(Model(j, L.Dense(3)(inner(j, training=False))), X, Y, "mse")


# --- training -----------------------------------------------------------------------------------------------------


@question("train_on_batch after fit")
def _():
    if ERA != "keras-2.2.4":
        return None  # goes on with the epoch's metrics
    model = compiled(filled(Sequential([L.Dense(3, input_shape=(4,))])), sgd(), "mse", metrics=["mae"])
    model.fit(X, Y, batch_size=5, epochs=1, shuffle=False, verbose=0)
    answers = [model.train_on_batch(X[:5], Y[:5]), model.train_on_batch(X[5:], Y[5:]), model.test_on_batch(X, Y), model.test_on_batch(X[:4], Y[:4])]
    return answers + [model.evaluate(X, Y, verbose=0), model.test_on_batch(X[:4], Y[:4]), model.train_on_batch(X[:5], Y[:5])]


class Rows(keras.utils.Sequence):
    def __len__(self):
        return 3

    def __getitem__(self, i):
        return X[i * 5 : i * 5 + 5], Y[i * 5 : i * 5 + 5]


@question("a Sequence with workers=0, shuffled")
def _():
    seen = []
    class Watched(Rows):
        def __getitem__(self, i):
            seen.append(i)
            return Rows.__getitem__(self, i)
        def on_epoch_end(self):
            seen.append("end")
    model = compiled(filled(Sequential([L.Dense(3, input_shape=(4,))])), sgd(), "mse")
    history = model.fit_generator(Watched(), epochs=2, verbose=0, workers=0, shuffle=False, validation_data=Rows())
    return history.history


@question("fit_generator(validation_freq=)")
def _():
    if ERA == "keras-2.2.4":
        return None  # had no such argument
    model = compiled(filled(Sequential([L.Dense(3, input_shape=(4,))])), sgd(), "mse")
    history = model.fit_generator(Rows(), epochs=3, verbose=0, workers=0, shuffle=False, validation_data=(X, Y), validation_freq=2)
    return history.history


@question("a pickled history")
def _():
    model = compiled(filled(Sequential([L.Dense(3, input_shape=(4,))])), sgd(), "mse", metrics=["mae", "acc"])
    history = model.fit(X, Y, epochs=1, shuffle=False, verbose=0, validation_split=0.3).history
    again = pickle.loads(pickle.dumps(history))
    return [sorted(again), len(again), sorted(dict(history))]


# --- images -------------------------------------------------------------------------------------------------------

IMAGE = np.random.RandomState(6).uniform(size=(6, 5, 3)).astype("float32")
for name, given in (
    ("random_rotation", (40,)),
    ("random_shift", (0.3, 0.2)),
    ("random_shear", (30,)),
    ("random_zoom", ((0.7, 1.4),)),
    ("random_channel_shift", (0.3,)),
    ("random_brightness", ((0.5, 1.5),)),
):
    @question("image." + name, replicas=False)
    def _():
        channel = {"channel_axis": 2} if "channel" in name else {}
        geometry = {} if name in ("random_channel_shift", "random_brightness") else dict(row_axis=0, col_axis=1, channel_axis=2)
        made = getattr(keras.preprocessing.image, name)(IMAGE, *given, **dict(channel, **geometry))
        return [round(float(v), 4) for v in np.ravel(made)[::7]], float(np.random.rand())


json.dump(ANSWERS, open(sys.argv[2], "w"), indent=1)
