"""What Keras answers about names, order and logs: ERA=... names_and_order.py keras|tf.keras OUT.json [REPLICAS]

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

ERA = os.environ["ERA"]
if ERA.startswith("keras-"):
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
        if (REPLICAS and not replicas) or os.environ.get("ONLY", "") not in name:
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


# --- metrics ------------------------------------------------------------------------------------------------------

X, Y, LABELS = numbers(1, 13, 4), numbers(2, 13, 3), np.random.RandomState(3).randint(0, 3, 13)
HOT, BITS = np.eye(3)[LABELS], np.random.RandomState(4).randint(0, 2, (13, 3)).astype("float64")
WEIGHTS = np.array([0.3, 2, 0, 1, 1, 3, 0, 0.1, 1, 0, 2, 0.7, 1])


def dense(units=3, activation=None):
    return filled(Sequential([L.Dense(units, activation=activation, input_shape=(4,), name="answer")]))


def fitted(model, x, y, **more):
    """The names and values of two epochs in batches of 5, and of an evaluation."""
    history = model.fit(x, y, batch_size=5, epochs=2, shuffle=False, verbose=0, **more).history
    return [sorted(history), {key: history[key] for key in sorted(history)}, model.evaluate(x, y, batch_size=5, verbose=0), list(model.metrics_names)]


def top2(t, p):
    return keras.metrics.top_k_categorical_accuracy(t, p, k=2)


def furthest(t, p):
    return K.max(K.abs(t - p))


STRINGS = ["mse", "MSE", "mae", "mape", "msle", "kullback_leibler_divergence", "cosine_proximity", "poisson", "hinge", "squared_hinge", "logcosh",
           "binary_accuracy", "categorical_accuracy", "top_k_categorical_accuracy", "mean_squared_error", "binary_crossentropy", "categorical_crossentropy", "acc", "ce"]


@question("metrics by name")
def _():
    return fitted(compiled(dense(3, "softmax"), sgd(0.2), "mse", metrics=STRINGS), X, HOT)


@question("metrics by name, of sparse labels")
def _():
    names = ["accuracy", "sparse_categorical_accuracy", "sparse_categorical_crossentropy", "sparse_top_k_categorical_accuracy", "ce"]
    return fitted(compiled(dense(7, "softmax"), sgd(0.2), "sparse_categorical_crossentropy", metrics=names), X, LABELS)


@question("metrics that are functions")
def _():
    M = keras.metrics
    given = [M.mae, M.categorical_accuracy, M.kullback_leibler_divergence, M.binary_accuracy, top2, keras.losses.mean_squared_error, keras.losses.logcosh]
    given += [furthest] if ERA != "tf.keras-1.15" else []
    return fitted(compiled(dense(3, "softmax"), sgd(0.2), "categorical_crossentropy", metrics=given), X, HOT, validation_data=(X[:7], HOT[:7]))


@question("the same metric twice")
def _():
    if ERA == "tf.keras-2.2":
        return None  # refuses
    model = compiled(dense(), sgd(0.1), "mse", metrics=["mae", "acc", "mae", "accuracy", "mean_absolute_error"])
    return list(model.metrics_names), sorted(model.fit(X, Y, verbose=0).history)


for units, activation, loss, y in ((1, None, "mse", BITS[:, :1]), (1, "tanh", "hinge", BITS[:, :1] * 2 - 1), (3, "sigmoid", "binary_crossentropy", BITS), (3, "sigmoid", "mse", BITS),
                                   (3, "softmax", "sparse_categorical_crossentropy", LABELS), (2, "softmax", "binary_crossentropy", HOT[:, :2]), (1, "sigmoid", "binary_crossentropy", BITS[:, 0])):
    @question("accuracy of %d units, %s, %s" % (units, activation, loss))
    def _():
        model = compiled(dense(units, activation), "sgd", loss, metrics=["accuracy"])
        return model.test_on_batch(X, y)[1:], model.evaluate(X, y, batch_size=4, verbose=0)[1:]


@question("accuracy of images, of steps in time")
def _():
    model = compiled(filled(Sequential([L.Conv2D(3, 2, activation="softmax", input_shape=(4, 4, 2))])), "sgd", "categorical_crossentropy", metrics=["acc"])
    steps = compiled(filled(Sequential([L.Dense(1, activation="sigmoid", input_shape=(5, 2))])), "sgd", "binary_crossentropy", metrics=["acc", "mae"])
    hot = np.eye(3)[np.random.RandomState(5).randint(0, 3, (7, 3, 3))]
    return model.evaluate(numbers(6, 7, 4, 4, 2), hot, batch_size=4, verbose=0), steps.evaluate(numbers(6, 7, 5, 2), BITS[:7, :1].repeat(5, 1)[:, :, None], batch_size=4, verbose=0)


def two_outputs():
    i = L.Input((4,))
    return filled(Model(i, [L.Dense(3, name="b", activation="softmax")(i), L.Dense(1, name="a")(i)]))


@question("two outputs, a dict of metrics")
def _():
    model = compiled(two_outputs(), sgd(0.1), {"b": "categorical_crossentropy", "a": "mse"}, metrics={"a": ["mae", "mape"], "b": "accuracy"}, loss_weights={"a": 0.5, "b": 2.0})
    before = list(model.metrics_names)
    return [before] + fitted(model, X, [HOT, Y[:, :1]], validation_split=0.3)


@question("two outputs, a list of metrics, weighted ones, weights for one output")
def _():
    model = compiled(two_outputs(), sgd(0.0), ["mse", "mae"], metrics=["mse"], weighted_metrics=["mae"])
    names, history, evaluated, order = fitted(model, X, [HOT, Y[:, :1]], sample_weight={"a": WEIGHTS, "b": np.ones(13)})
    return names, {name: history[name] for name in names if "loss" not in name}, order


@question("two outputs: train_on_batch, test_on_batch, evaluate_generator")
def _():
    model = compiled(two_outputs(), sgd(0.1), "mse", metrics={"b": ["acc", "mae"]})
    batches = [(X[:5], [HOT[:5], Y[:5, :1]]), (X[5:], [HOT[5:], Y[5:, :1]])]
    def forever():
        while True:
            for batch in batches:
                yield batch
    go = getattr(model, "evaluate_generator", None) or model.evaluate
    return model.train_on_batch(*batches[0]), model.test_on_batch(*batches[1]), go(forever(), steps=2), list(model.metrics_names)


for shape in ((),):
    @question("weighted metrics of rank %d" % (2 + len(shape)))
    def _():
        model = Sequential([L.Dense(2, input_shape=shape + (4,))])
        also = [furthest] if ERA == "keras-2.2.4" and not shape else []
        model = compiled(filled(model), sgd(0.0), "mae", metrics=["mse", "acc"], weighted_metrics=["mse", "acc"] + also)
        x, y = numbers(8, *((13,) + shape + (4,))), numbers(9, *((13,) + shape + (2,)))
        history = model.fit(x, y, batch_size=5, epochs=1, shuffle=False, verbose=0, sample_weight=WEIGHTS).history
        names = [name for name in history if "mae" not in name and name != "loss"]
        evaluated = dict(zip(model.metrics_names, model.evaluate(x, y, batch_size=5, verbose=0, sample_weight=WEIGHTS)))
        unweighted = dict(zip(model.metrics_names, model.evaluate(x, y, batch_size=5, verbose=0)))
        return [{name: told[name] for name in sorted(names)} for told in (history, evaluated, unweighted)]


@question("metrics under a mask")
def _():
    i = L.Input((4,), dtype="int32")
    model = filled(Model(i, L.TimeDistributed(L.Dense(3, activation="softmax"))(L.SimpleRNN(3, return_sequences=True)(L.Embedding(6, 2, mask_zero=True)(i)))))
    model = compiled(model, sgd(0.0), "categorical_crossentropy", metrics=["acc", "mae"], weighted_metrics=["mse"])
    x = np.array([[1, 2, 3, 4], [5, 0, 0, 0], [1, 1, 0, 0], [2, 0, 0, 0], [3, 3, 3, 0]])
    hot = np.eye(3)[np.random.RandomState(5).randint(0, 3, (5, 4))]
    values = model.evaluate(x, hot, batch_size=2, verbose=0)
    told = dict(zip(model.metrics_names, values))
    return {name: told[name] for name in sorted(told) if name != "loss"}


@question("metric functions called by hand", replicas=False)
def _():
    def value(t):
        return K.get_value(t)
    M = keras.metrics
    t, p = K.constant(HOT[:6]), K.constant(np.random.RandomState(7).uniform(size=(6, 3)))
    answers = [value(M.categorical_accuracy(t, p)), value(M.top_k_categorical_accuracy(t, p, k=2)), value(M.binary_accuracy(t, p)), value(M.binary_accuracy(t[:, 0], p[:, 0]))]
    labels = K.constant(LABELS[:6].reshape(6, 1))
    answers += [value(M.sparse_categorical_accuracy(labels, p)), value(M.sparse_top_k_categorical_accuracy(labels, p, k=2)), value(M.mae(t, p))]
    if ERA != "tf.keras-2.2":
        answers.append(value(M.cosine_proximity(t, p)))
    return answers


@question("losses and metrics by old names", replicas=False)
def _():
    names = ["logcosh", "kullback_leibler_divergence", "mse", "MAE"]
    names += ["cosine", "cosine_proximity"] if ERA == "keras-2.2.4" else ["cosine_proximity"] if ERA == "tf.keras-1.15" else []
    t, p = K.constant(HOT[:3]), K.constant(Y[:3])
    return [[K.get_value(keras.losses.get(name)(t, p)), K.get_value(keras.metrics.get(name)(t, p))] for name in names]


# --- logs, callbacks ----------------------------------------------------------------------------------------------


class Seen(keras.callbacks.Callback):
    def __init__(self):
        super(Seen, self).__init__()
        self.seen = []

    def on_train_begin(self, logs=None):
        self.seen.append({key: self.params[key] for key in sorted(self.params)})

    def on_batch_begin(self, batch, logs=None):
        self.seen.append([batch, {key: logs[key] for key in sorted(logs or {}) if key != "size"}])

    def on_batch_end(self, batch, logs=None):
        self.seen.append([batch, {key: logs[key] for key in sorted(logs or {})}])

    def on_epoch_end(self, epoch, logs=None):
        self.seen.append([epoch, dict(logs or {})])


@question("what callbacks see of arrays")
def _():
    seen, model = Seen(), compiled(dense(3, "softmax"), sgd(0.1), "mse", metrics=["mae", "acc"])
    model.fit(X, HOT, batch_size=5, epochs=2, shuffle=False, verbose=0, validation_split=0.3, callbacks=[seen])
    return seen.seen, [np.shape(each) for each in getattr(seen, "validation_data", None) or []]


@question("what callbacks see of a generator, two outputs")
def _():
    def forever():
        while True:
            for a, b in ((0, 5), (5, 7), (7, 13)):
                yield X[a:b], [HOT[a:b], Y[a:b, :1]]
    seen, model = Seen(), compiled(two_outputs(), sgd(0.1), "mse", metrics={"a": "mae"})
    history = getattr(model, "fit_generator", model.fit)(forever(), steps_per_epoch=3, epochs=2, verbose=0, validation_data=forever(), validation_steps=2, callbacks=[seen], workers=0)
    seen.seen[0] = {key: seen.seen[0][key] for key in ("epochs", "steps", "verbose")}
    return seen.seen, list(history.history)


@question("CSVLogger, History")
def _():
    model = compiled(dense(3, "softmax"), sgd(0.1), "mse", metrics=["mae", "accuracy"])
    history = model.fit(X, HOT, batch_size=5, shuffle=False, verbose=0, validation_split=0.3, callbacks=[keras.callbacks.CSVLogger("asked.csv")])
    with open("asked.csv") as file:
        return file.readline().strip(), list(history.history)


# --- the order of samples -----------------------------------------------------------------------------------------


def order_of_samples(shuffle, **more):
    """The single weight after each batch tells which samples it had."""
    model = Sequential([L.Dense(1, use_bias=False, input_shape=(1,))])
    model.set_weights([np.zeros((1, 1))])
    model = compiled(model, sgd(0.01), "mse")
    seen = []

    class Watch(keras.callbacks.Callback):
        def on_batch_end(self, batch, logs=None):
            seen.append(float(self.model.get_weights()[0][0, 0]))

    np.random.seed(5)
    model.fit(np.arange(1.0, 8.0)[:, None], np.linspace(1, 3, 7)[:, None], batch_size=3, epochs=3, verbose=0, shuffle=shuffle, callbacks=[Watch()], **more)
    return seen, np.random.rand()


if ERA != "tf.keras-2.2":  # whose order nothing repeats

    @question("order of samples: shuffled, and by batches")
    def _():
        return order_of_samples(True), order_of_samples("batch")

    @question("order of samples: with held-out rows and weights")
    def _():
        return order_of_samples(True, validation_split=0.3, sample_weight=np.arange(1.0, 8.0)), order_of_samples(True, validation_data=(np.ones((2, 1)), np.ones((2, 1))))


json.dump(ANSWERS, open(sys.argv[2], "w"), indent=1)
