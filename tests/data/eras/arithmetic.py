"""What Keras computes: arithmetic.py keras|tf.keras OUT.json [REPLICAS] [WORD | NAMES.json]

Runs on Keras 2.2.4 (with the step counter written after everything of the step has read it: there it raced) and on
`tf.keras` of TensorFlow 1.15 and 2.2, which recorded `tests/data/eras/arithmetic.*.json`, and under `parallel-compat
run`. With REPLICAS, each compiled model is a parallel one; with
WORD, only questions whose name has it are asked, or those of a list.
"""

import json
import os
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
K, L, Input = keras.backend, keras.layers, keras.layers.Input
Model, Sequential = keras.models.Model, keras.models.Sequential
REPLICAS = int(sys.argv[3]) if len(sys.argv) > 3 else 0
WORD = sys.argv[4] if len(sys.argv) > 4 else ""
NAMES = json.load(open(WORD)) if WORD.endswith(".json") else None
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


def question(name):
    def ask(function):
        if (name not in NAMES) if NAMES is not None else (WORD not in name):
            return
        K.clear_session()
        np.random.seed(11)
        try:
            ANSWERS[name] = plain(function())
        except Exception as error:
            ANSWERS[name] = "raises %s: %s" % (type(error).__name__, " ".join(str(error).split())[:200])

    return ask


def numbers(seed, *shape):
    return np.random.RandomState(seed).normal(size=shape).astype("float32")


def whole(seed, high, *shape):
    return np.random.RandomState(seed).randint(0, high, shape)


def hot(seed, classes, *shape):
    return np.eye(classes, dtype="float32")[whole(seed, classes, *shape)]


def set_up(model, seed=21):
    """Give a model weights that depend on nothing but their shapes."""
    random = np.random.RandomState(seed)
    ones = [np.ones(w.shape) if w.ndim == 1 and w.size and w.min() == 1 else 0.0 for w in model.get_weights()]
    model.set_weights([one + random.uniform(-0.4, 0.4, w.shape) for one, w in zip(ones, model.get_weights())])
    return model


def compiled(model, optimizer, loss="mse", **more):
    """Return the model to train, compiled: itself, or a parallel one."""
    if REPLICAS:
        model = keras.utils.multi_gpu_model(model, gpus=REPLICAS)
    model.compile(optimizer, loss, **more)
    return model


def forget(model):
    """Begin a mean anew: in TensorFlow 2.2 the first batch by itself after `fit` went on with the epoch's."""
    getattr(model, "reset_metrics", lambda: None)()


def rate(value):
    return {"lr": value} if "lr" in keras.optimizers.SGD().get_config() else {"learning_rate": value}


def sgd(value=0.1, **more):
    return keras.optimizers.SGD(**dict(rate(value), **more))


# --- optimizers: a kernel and a bias, whose gradients are dense, and an embedding, some of whose rows rest ------------

ROWS = [whole(31, 3, 10, 3), whole(32, 4, 10, 3) + 2, whole(33, 3, 10, 3), whole(34, 6, 10, 3)]  # row 6 never
TARGETS = [numbers(35 + i, 10, 1) for i in range(4)]


def after_steps(optimizer):
    words = Input((3,))
    model = set_up(Model(words, L.Dense(1)(L.Flatten()(L.Embedding(7, 2)(words)))))
    trained = compiled(model, optimizer)
    for x, y in zip(ROWS, TARGETS):
        trained.train_on_batch(x, y)
    return model.get_weights()


OPTIMIZERS = {
    "SGD": {},
    "SGD momentum": {"momentum": 0.8},
    "SGD nesterov": {"momentum": 0.8, "nesterov": True},
    "RMSprop": {"rho": 0.8},
    "RMSprop momentum": {"momentum": 0.7},
    "RMSprop centered": {"centered": True},
    "RMSprop centered momentum": {"centered": True, "momentum": 0.7},
    "Adagrad": {},
    "Adagrad epsilon": {"epsilon": 0.05},
    "Adadelta": {"epsilon": 1e-3},
    "Adam": {"beta_1": 0.8, "beta_2": 0.95},
    "Adam epsilon": {"epsilon": 0.05},
    "Adam amsgrad": {"amsgrad": True},
    "Adamax": {"epsilon": 0.01},
    "Nadam": {"epsilon": 0.01},
    "Ftrl": {"l1_regularization_strength": 0.02, "l2_regularization_strength": 0.1},
    "Ftrl shrinkage": {"l2_shrinkage_regularization_strength": 0.1},
}
CLIPS = {
    "": {},
    ", clipnorm and decay": {"clipnorm": 0.3, "decay": 0.2},
    ", clipvalue": {"clipvalue": 0.05},
    ", clipnorm and clipvalue": {"clipnorm": 0.5, "clipvalue": 0.06},
}
for title, arguments in OPTIMIZERS.items():
    for tail, clip in CLIPS.items():
        if clip and title not in ("SGD", "SGD momentum", "RMSprop", "Adagrad", "Adadelta", "Adam", "Adamax", "Nadam", "Ftrl"):
            continue

        @question("optimizer/%s%s" % (title, tail))
        def _(title=title, arguments=arguments, clip=clip):
            return after_steps(getattr(keras.optimizers, title.split()[0])(**dict(rate(0.05), **dict(arguments, **clip))))


@question("optimizer/Adam of clipnorm 2 and clipvalue 0")
def _():
    return after_steps(keras.optimizers.Adam(clipnorm=2.0, clipvalue=0.0, **rate(0.05)))


@question("optimizer/SGD of clipnorm 0")
def _():
    return after_steps(keras.optimizers.SGD(clipnorm=0.0, **rate(0.05)))


@question("optimizer/Nadam of schedule_decay")
def _():
    return after_steps(keras.optimizers.Nadam(schedule_decay=0.5, **rate(0.05)))


@question("optimizer/Nadam of decay")
def _():
    return after_steps(keras.optimizers.Nadam(decay=0.3, **rate(0.05)))


for title in ("sgd", "rmsprop", "Adagrad", "adadelta", "adam", "Adamax", "nadam"):

    @question("optimizer/the string %s" % title)
    def _(title=title):
        return after_steps(title)


@question("optimizer/an embedding looked up twice, with a regularizer")
def _():
    a, b = Input((2,)), Input((3,))
    table = L.Embedding(7, 2, embeddings_regularizer=keras.regularizers.l2(0.05))
    model = set_up(Model([a, b], L.Dense(1)(L.concatenate([L.Flatten()(table(a)), L.Flatten()(table(b))]))))
    trained = compiled(model, keras.optimizers.Adamax(**rate(0.05)))
    for x, y in zip(ROWS, TARGETS):
        trained.train_on_batch([x[:, :2], x], y)
    return model.get_weights()


@question("optimizer/an embedding with a constraint")
def _():
    words = Input((3,))
    table = L.Embedding(7, 2, embeddings_constraint=keras.constraints.max_norm(0.3))
    model = set_up(Model(words, L.Dense(1, kernel_constraint=keras.constraints.non_neg())(L.Flatten()(table(words)))))
    trained = compiled(model, keras.optimizers.RMSprop(**rate(0.05)))
    for x, y in zip(ROWS, TARGETS):
        trained.train_on_batch(x, y)
    return model.get_weights()


@question("optimizer/TensorFlow 1's Adam")
def _():
    made = tf.train.AdamOptimizer(0.05)
    return after_steps(keras.optimizers.TFOptimizer(made) if hasattr(keras.optimizers, "TFOptimizer") else made)


for title, arguments in (
    ("RMSPropOptimizer", {"decay": 0.8, "momentum": 0.3}),
    ("AdagradOptimizer", {}),
    ("AdadeltaOptimizer", {"epsilon": 1e-3}),
    ("MomentumOptimizer", {"momentum": 0.8, "use_nesterov": True}),
    ("GradientDescentOptimizer", {}),
    ("FtrlOptimizer", {"l1_regularization_strength": 0.02}),
):

    @question("optimizer/TensorFlow 1's %s" % title)
    def _(title=title, arguments=arguments):
        made = getattr(tf.train, title)(0.05, **arguments)
        return after_steps(keras.optimizers.TFOptimizer(made) if hasattr(keras.optimizers, "TFOptimizer") else made)


@question("optimizer/numbers that callbacks read and set")
def _():
    optimizer = keras.optimizers.SGD(momentum=0.8, decay=0.1, **rate(0.05))
    model = set_up(Sequential([L.Dense(1, input_shape=(3,))]))
    trained = compiled(model, optimizer)
    trained.train_on_batch(ROWS[0], TARGETS[0])
    seen = [K.get_value(getattr(optimizer, name)) for name in ("lr", "momentum", "decay", "iterations")]
    K.set_value(optimizer.momentum, 0.2)
    K.set_value(optimizer.lr, 0.02)
    trained.train_on_batch(ROWS[1], TARGETS[1])
    trained.train_on_batch(ROWS[2], TARGETS[2])
    return seen, K.dtype(optimizer.decay), K.dtype(optimizer.lr), model.get_weights()


for title in ("SGD", "RMSprop", "Adagrad", "Adadelta", "Adam", "Adamax"):

    @question("optimizer/get_weights and set_weights of %s" % title)
    def _(title=title):
        def made():
            model = set_up(Sequential([L.Dense(2, input_shape=(3,)), L.Dense(1)]))
            more = {"momentum": 0.8} if title == "SGD" else {}
            optimizer = getattr(keras.optimizers, title)(**dict(rate(0.05), **more))
            return model, compiled(model, optimizer), optimizer

        model, trained, optimizer = made()
        for x, y in zip(ROWS, TARGETS):
            trained.train_on_batch(x, y)
        kept, state = model.get_weights(), optimizer.get_weights()
        model, trained, optimizer = made()
        trained.train_on_batch(ROWS[0], TARGETS[0])
        model.set_weights(kept)
        optimizer.set_weights(state)
        trained.train_on_batch(ROWS[1], TARGETS[1])
        return [list(np.shape(each)) for each in state], [float(np.sum(each)) for each in state], model.get_weights()


# --- losses -----------------------------------------------------------------------------------------------------------

X = 2 * numbers(41, 10, 3)
SOFT = np.array([[0.2, 0.5, 0.1, 0.0], [0, 0, 0, 0], [1, 0, 1, 0], [0, 2, 0, 0.5], [0.25, 0.25, 0.25, 0.25]] * 2, "float32")
BITS = whole(42, 2, 10, 4).astype("float32")
LABELS = hot(43, 4, 10)
POINTS = {"sparse_categorical_crossentropy": whole(43, 4, 10, 1)}


def binary_of_backend(y_true, y_pred):
    return K.mean(K.binary_crossentropy(y_true, y_pred), axis=-1)


def categorical_of_backend(y_true, y_pred):
    return K.categorical_crossentropy(y_true, y_pred)


def sparse_of_backend(y_true, y_pred):
    return K.sparse_categorical_crossentropy(y_true, y_pred)


def batch_dice(y_true, y_pred):
    return 1 - (2 * K.sum(y_true * y_pred) + 1) / (K.sum(y_true) + K.sum(y_pred) + 1)


def focal(y_true, y_pred):
    y_pred = K.clip(y_pred, K.epsilon(), 1 - K.epsilon())
    return K.mean(-y_true * K.pow(1 - y_pred, 2.0) * K.log(y_pred), axis=-1)


def three_steps(model, loss, x, y, **more):
    trained = compiled(model, sgd(0.4), loss, **more)
    return [trained.train_on_batch(x, y) for _ in range(3)] + [trained.test_on_batch(x[:7], y[:7])]


CROSS_ENTROPIES = ["binary_crossentropy", "categorical_crossentropy", "sparse_categorical_crossentropy"]
for activation in ("softmax", "sigmoid", "linear", "relu", "softplus", "hard_sigmoid"):
    for loss in CROSS_ENTROPIES + (["kullback_leibler_divergence", "poisson"] if activation in ("softmax", "sigmoid") else []):

        @question("loss/%s of %s" % (loss, activation))
        def _(loss=loss, activation=activation):
            model = set_up(Sequential([L.Dense(4, activation=activation, input_shape=(3,))]))
            return three_steps(model, loss, X, POINTS.get(loss, LABELS))


for activation in ("softmax", "sigmoid"):
    for loss in ("categorical_crossentropy", "binary_crossentropy", binary_of_backend, categorical_of_backend):

        @question("loss/%s of %s, soft labels" % (getattr(loss, "__name__", loss), activation))
        def _(loss=loss, activation=activation):
            return three_steps(set_up(Sequential([L.Dense(4, activation=activation, input_shape=(3,))])), loss, X, SOFT)


HEADS = {
    "Activation layer": lambda x: L.Activation("softmax")(L.Dense(4)(x)),
    "Softmax layer": lambda x: L.Softmax()(L.Dense(4)(x)),
    "Lambda": lambda x: L.Lambda(K.softmax)(L.Dense(4)(x)),
    "Reshape after it": lambda x: L.Reshape((4,))(L.Dense(4, activation="softmax")(x)),
    "two softmaxes": lambda x: L.Activation("softmax")(L.Dense(4, activation="softmax")(x)),
    "sum of two": lambda x: L.average([L.Dense(4, activation="softmax")(x), L.Dense(4, activation="softmax")(x)]),
    "Sequential in a model": lambda x: Sequential([L.Dense(4, activation="softmax", input_shape=(3,))])(x),
}
for title, head in HEADS.items():

    @question("loss/categorical_crossentropy of softmax by %s, soft labels" % title)
    def _(head=head):
        x = Input((3,))
        return three_steps(set_up(Model(x, head(x))), "categorical_crossentropy", X, SOFT)


@question("loss/sparse_categorical_crossentropy of K, softmax")
def _():
    model = set_up(Sequential([L.Dense(4, activation="softmax", input_shape=(3,))]))
    return three_steps(model, sparse_of_backend, X, POINTS["sparse_categorical_crossentropy"])


for activation, loss in (("softmax", "categorical_crossentropy"), ("sigmoid", "binary_crossentropy"), ("softmax", "sparse_categorical_crossentropy"), ("softmax", "binary_crossentropy")):

    @question("loss/%s of %s on images, soft labels" % (loss, activation))
    def _(activation=activation, loss=loss):
        model = set_up(Sequential([L.Conv2D(4, 1, activation=activation, input_shape=(2, 3, 3))]))
        y = whole(44, 4, 8, 2, 3, 1) if "sparse" in loss else np.tile(SOFT[:8, None, None], (1, 2, 3, 1))
        return three_steps(model, loss, numbers(45, 8, 2, 3, 3), y)


for loss in (batch_dice, focal):

    @question("loss/%s" % loss.__name__)
    def _(loss=loss):
        return three_steps(set_up(Sequential([L.Dense(4, activation="softmax", input_shape=(3,))])), loss, X, LABELS)


for loss in ("mse", "mae", "mape", "msle", "hinge", "squared_hinge", "categorical_hinge", "logcosh", "cosine_proximity", "poisson", "kld"):

    @question("loss/%s of tanh" % loss)
    def _(loss=loss):
        return three_steps(set_up(Sequential([L.Dense(4, activation="tanh", input_shape=(3,))])), loss, X, LABELS)


@question("loss/saturated outputs")
def _():
    answers = []
    for activation, loss in (("softmax", "categorical_crossentropy"), ("sigmoid", "binary_crossentropy"), ("softmax", "sparse_categorical_crossentropy"), ("linear", "binary_crossentropy"), ("linear", "categorical_crossentropy")):
        model = compiled(Sequential([L.Activation(activation, input_shape=(2,))]), "sgd", loss)
        answers.append(model.test_on_batch(np.array([[0.0, 40.0], [60.0, 1.0]]), np.array([[1], [0]]) if "sparse" in loss else np.array([[1.0, 0], [1, 0]])))
    return answers


@question("loss/two outputs with weights of the losses")
def _():
    x = Input((3,))
    model = set_up(Model(x, [L.Dense(4, activation="softmax", name="a")(x), L.Dense(4, activation="sigmoid", name="b")(x)]))
    trained = compiled(model, sgd(0.3), {"a": "categorical_crossentropy", "b": "binary_crossentropy"}, loss_weights={"a": 0.3, "b": 2.0})
    return [trained.train_on_batch(X, [SOFT, BITS]) for _ in range(2)]


# --- weights of samples and classes, masks ----------------------------------------------------------------------------

WEIGHTS = np.array([0.5, 2.0, 0.0, 1.0, 3.0, 0.0, 0.1, 1.0, 0.7, 1.5])


def weighted(shape, weights, loss="mse", **more):
    x = Input(shape + (3,))
    model = set_up(Model(x, L.Dense(2, activation="sigmoid")(x)))
    data = [numbers(51, *((10,) + shape + (3,))), np.abs(numbers(52, *((10,) + shape + (2,))))]
    trained = compiled(model, sgd(0.3), loss, **more)
    history = trained.fit(data[0], data[1], batch_size=4, epochs=2, shuffle=False, verbose=0, sample_weight=weights).history
    forget(trained)
    batch = trained.train_on_batch(data[0], data[1], sample_weight=weights)
    evaluated = trained.evaluate(data[0], data[1], batch_size=4, verbose=0, sample_weight=weights)
    return history["loss"], batch, evaluated, trained.evaluate(data[0], data[1], batch_size=10, verbose=0)


for rank, shape in enumerate(((), (4,), (2, 4), (2, 2, 2)), 2):
    for loss in ("mse", "binary_crossentropy"):

        @question("weights/of samples, output of rank %d, %s" % (rank, loss))
        def _(shape=shape, loss=loss):
            return weighted(shape, WEIGHTS, loss)


@question("weights/of time steps")
def _():
    return weighted((4,), np.abs(numbers(53, 10, 4)) * (whole(54, 3, 10, 4) > 0), sample_weight_mode="temporal")


@question("weights/of samples, all 0 in a batch")
def _():
    return weighted((), np.array([1.0] * 4 + [0.0] * 4 + [2.0] * 2))


@question("weights/of validation data")
def _():
    model = set_up(Sequential([L.Dense(2, input_shape=(3,))]))
    trained = compiled(model, sgd(), "mse")
    x, y = numbers(55, 10, 3), numbers(56, 10, 2)
    history = trained.fit(x, y, batch_size=4, epochs=2, shuffle=False, verbose=0, sample_weight=WEIGHTS, validation_data=(x, y, WEIGHTS[::-1])).history
    split = trained.fit(x, y, batch_size=4, epochs=1, shuffle=False, verbose=0, sample_weight=WEIGHTS, validation_split=0.3).history
    return [[history[name], split[name]] for name in ("loss", "val_loss")]


@question("weights/of two outputs")
def _():
    x = Input((3,))
    model = set_up(Model(x, [L.Dense(2, name="a")(x), L.Dense(1, name="b")(x)]))
    trained = compiled(model, sgd(), "mse", loss_weights=[1.0, 0.5])
    y = [numbers(57, 10, 2), numbers(58, 10, 1)]
    return [trained.train_on_batch(X, y, sample_weight=[WEIGHTS, WEIGHTS[::-1]]), trained.train_on_batch(X, y, sample_weight={"a": WEIGHTS, "b": np.ones(10)})]


@question("weights/of samples from a generator")
def _():
    model = set_up(Sequential([L.Dense(2, input_shape=(3,))]))
    trained = compiled(model, sgd(), "mse")
    y = numbers(56, 10, 2)

    def batches():
        while True:
            for start in (0, 4, 8):
                stop = start + 4
                yield X[start:stop], y[start:stop], WEIGHTS[start:stop]

    return trained.fit_generator(batches(), 3, epochs=2, verbose=0).history["loss"] if hasattr(trained, "fit_generator") else trained.fit(batches(), steps_per_epoch=3, epochs=2, verbose=0).history["loss"]


@question("weights/a loss of one number for the batch")
def _():
    model = set_up(Sequential([L.Dense(4, activation="softmax", input_shape=(3,))]))
    trained = compiled(model, sgd(), batch_dice)
    return [trained.train_on_batch(X, LABELS, sample_weight=WEIGHTS) for _ in range(2)]


CLASSES = {0: 0.5, 1: 1.0, 2: 3.0, 3: 0.0}
for loss, y in (("categorical_crossentropy", LABELS), ("sparse_categorical_crossentropy", POINTS["sparse_categorical_crossentropy"])):

    @question("weights/of classes, %s" % loss)
    def _(loss=loss, y=y):
        model = set_up(Sequential([L.Dense(4, activation="softmax", input_shape=(3,))]))
        trained = compiled(model, sgd(), loss)
        history = trained.fit(X, y, batch_size=4, epochs=2, shuffle=False, verbose=0, class_weight=CLASSES).history["loss"]
        forget(trained)
        return history, trained.train_on_batch(X, y, class_weight=CLASSES), trained.fit(X, y, batch_size=4, shuffle=False, verbose=0, class_weight={}).history["loss"]


@question("weights/of classes and of samples: fit")
def _():
    trained = compiled(set_up(Sequential([L.Dense(4, activation="softmax", input_shape=(3,))])), sgd(), "categorical_crossentropy")
    return trained.fit(X, LABELS, batch_size=4, epochs=2, shuffle=False, verbose=0, class_weight=CLASSES, sample_weight=WEIGHTS).history["loss"]


@question("weights/of classes and of samples: train_on_batch")
def _():
    trained = compiled(set_up(Sequential([L.Dense(4, activation="softmax", input_shape=(3,))])), sgd(), "categorical_crossentropy")
    return [trained.train_on_batch(X, LABELS, class_weight=CLASSES, sample_weight=WEIGHTS) for _ in range(2)]


@question("weights/of classes, one sigmoid")
def _():
    trained = compiled(set_up(Sequential([L.Dense(1, activation="sigmoid", input_shape=(3,))])), sgd(), "binary_crossentropy")
    return trained.fit(X, BITS[:, :1], batch_size=4, epochs=2, shuffle=False, verbose=0, class_weight={0: 0.3, 1: 2.0}).history["loss"]


@question("weights/weighted and other metrics")
def _():
    model = set_up(Sequential([L.Dense(2, input_shape=(3,))]))
    trained = compiled(model, sgd(), "mse", metrics=["mae"], weighted_metrics=["mae"])
    y = numbers(56, 10, 2)
    batch = trained.train_on_batch(X, y, sample_weight=WEIGHTS)
    return batch, trained.evaluate(X, y, batch_size=4, verbose=0, sample_weight=WEIGHTS), trained.evaluate(X, y, batch_size=4, verbose=0)


SENTENCES = np.array([[1, 2, 3, 4], [5, 1, 0, 0], [2, 0, 0, 0], [3, 3, 1, 0], [6, 6, 6, 6], [1, 0, 0, 0]])


def masked(head, loss, y, metrics=("mae",), weights=None, **more):
    words = Input((4,))
    model = set_up(Model(words, head(L.Embedding(7, 3, mask_zero=True)(words))))
    trained = compiled(model, sgd(), loss, metrics=list(metrics), **more)
    return [trained.train_on_batch(SENTENCES, y, sample_weight=weights) for _ in range(2)] + [trained.test_on_batch(SENTENCES, y), trained.evaluate(SENTENCES, y, batch_size=4, verbose=0)]


STEPS = hot(61, 3, 6, 4)
for title, head in (
    ("LSTM", lambda t: L.LSTM(3, activation="softmax", return_sequences=True)(t)),
    ("TimeDistributed", lambda t: L.TimeDistributed(L.Dense(3, activation="softmax"))(L.GRU(3, return_sequences=True)(t))),
    ("Bidirectional", lambda t: L.Bidirectional(L.LSTM(3, return_sequences=True), merge_mode="sum")(t)),
    ("Dense", lambda t: L.Dense(3, activation="softmax")(L.SimpleRNN(3, return_sequences=True)(t))),
):

    @question("masks/loss and metric of time steps, %s" % title)
    def _(title=title, head=head):
        return masked(head, "mse" if title == "Bidirectional" else "categorical_crossentropy", STEPS)


@question("masks/with weights of samples")
def _():
    return masked(lambda t: L.LSTM(3, return_sequences=True)(t), "mse", STEPS, weights=WEIGHTS[:6])


@question("masks/with weights of time steps")
def _():
    return masked(lambda t: L.LSTM(3, return_sequences=True)(t), "mse", STEPS, weights=np.abs(numbers(62, 6, 4)), sample_weight_mode="temporal")


@question("masks/accuracy")
def _():
    return masked(lambda t: L.TimeDistributed(L.Dense(3, activation="softmax"))(L.LSTM(3, return_sequences=True)(t)), "categorical_crossentropy", STEPS, metrics=["categorical_accuracy"])


# --- layers -----------------------------------------------------------------------------------------------------------

IMAGES = numbers(71, 8, 3, 3, 2)


def normalised(layer, x, steps=3, learning_rate=0.1):
    model = set_up(Sequential([layer, L.Flatten(), L.Dense(1)]))
    trained = compiled(model, sgd(learning_rate), "mse")
    y = numbers(72, len(x), 1)
    losses = [trained.train_on_batch(x + i, y) for i in range(steps)]
    return losses, layer.get_weights(), trained.test_on_batch(x, y), np.ravel(model.predict(x))


if not REPLICAS:  # statistics of a batch are each replica's, in the real `multi_gpu_model` too

    @question("layer/BatchNormalization")
    def _():
        return normalised(L.BatchNormalization(input_shape=(2,), momentum=0.9), IMAGES[:, 0, 0])

    @question("layer/BatchNormalization on images")
    def _():
        return normalised(L.BatchNormalization(input_shape=(3, 3, 2), momentum=0.9, epsilon=0.01), IMAGES)

    @question("layer/BatchNormalization on sequences, no scale")
    def _():
        return normalised(L.BatchNormalization(input_shape=(3, 2), scale=False), IMAGES[:, 0])

    @question("layer/BatchNormalization along another axis")
    def _():
        return normalised(L.BatchNormalization(input_shape=(3, 3, 2), axis=1), IMAGES)

    @question("layer/BatchNormalization called twice")
    def _():
        layer, a, b = L.BatchNormalization(), Input((2,)), Input((2,))
        model = set_up(Model([a, b], L.Dense(1)(L.concatenate([layer(a), layer(b)]))))
        trained = compiled(model, sgd(), "mse")
        x = [IMAGES[:, 0, 0], IMAGES[:, 1, 1] + 1]
        return [trained.train_on_batch(x, numbers(72, 8, 1)) for _ in range(2)], layer.get_weights()

    @question("layer/BatchNormalization frozen, then thawed")
    def _():
        layer = L.BatchNormalization(input_shape=(2,))
        model = set_up(Sequential([layer, L.Dense(1)]))
        layer.trainable = False
        model.compile(sgd(), "mse")
        x, y = IMAGES[:, 0, 0], numbers(72, 8, 1)
        losses = [model.train_on_batch(x, y) for _ in range(2)] + [layer.get_weights()]
        layer.trainable = True
        model.compile(sgd(), "mse")
        return losses, [model.train_on_batch(x, y) for _ in range(2)], layer.get_weights()

    @question("layer/BatchNormalization after its weights were set")
    def _():
        layer = L.BatchNormalization(input_shape=(2,))
        model = set_up(Sequential([layer, L.Dense(1)]))
        model.compile(sgd(), "mse")
        x, y = IMAGES[:, 0, 0], numbers(72, 8, 1)
        model.train_on_batch(x, y)
        model.set_weights([w + 0.5 for w in model.get_weights()])
        return [model.train_on_batch(x, y), layer.get_weights()]

    @question("layer/recompiled after layers were frozen and thawed")
    def _():
        model = set_up(Sequential([L.Dense(3, input_shape=(3,)), L.Dense(1)]))
        losses = []
        for frozen in (True, False, True):
            model.layers[0].trainable = not frozen
            model.compile(sgd(), "mse")
            losses += [model.train_on_batch(X, TARGETS[0]) for _ in range(2)]
            model.layers[0].trainable = frozen
            losses.append(model.train_on_batch(X, TARGETS[0]))
        return losses, model.get_weights()


SEQUENCES = numbers(73, 6, 4, 2) * (np.arange(4)[None, :, None] < np.array([4, 1, 2, 3, 4, 2])[:, None, None])
RECURRENT = {
    "LSTM": lambda: L.LSTM(2, return_sequences=True),
    "GRU backwards": lambda: L.GRU(2, return_sequences=True, go_backwards=True),
    "Bidirectional LSTM": lambda: L.Bidirectional(L.LSTM(2, return_sequences=True)),
    "Bidirectional GRU of sums": lambda: L.Bidirectional(L.GRU(2, return_sequences=True), merge_mode="sum"),
    "Bidirectional SimpleRNN, products": lambda: L.Bidirectional(L.SimpleRNN(2, return_sequences=True), merge_mode="mul"),
    "Bidirectional LSTM, the last step": lambda: L.Bidirectional(L.LSTM(2), merge_mode="ave"),
    "stacked": lambda: L.Bidirectional(L.LSTM(2)),
}
for title, make in RECURRENT.items():
    for masks in (True, False):

        @question("layer/%s%s" % (title, " with masks" if masks else ""))
        def _(title=title, make=make, masks=masks):
            x = Input((4, 2))
            h = L.Masking()(x) if masks else x
            h = L.Bidirectional(L.GRU(2, return_sequences=True))(h) if title == "stacked" else h
            model = set_up(Model(x, make()(h)))
            seen = model.predict(SEQUENCES)
            trained = compiled(model, sgd(), "mse")
            return seen, [trained.train_on_batch(SEQUENCES, numbers(74, *seen.shape)) for _ in range(2)]


@question("layer/activity regularizers")
def _():
    x = Input((3,))
    h = L.Dense(3, activity_regularizer=keras.regularizers.l2(0.1), kernel_regularizer=keras.regularizers.l1(0.01))(x)
    h = L.ActivityRegularization(l1=0.05)(h)
    model = set_up(Model(x, L.Dense(1, bias_regularizer=keras.regularizers.l2(0.3))(h)))
    trained = compiled(model, sgd(), "mse")
    return [trained.train_on_batch(X[:n], TARGETS[0][:n]) for n in (10, 4, 7)], trained.test_on_batch(X[:5], TARGETS[0][:5])


@question("layer/UpSampling2D")
def _():
    answers = []
    for size, how in (((2, 2), "bilinear"), ((3, 1), "bilinear"), ((2, 3), "nearest")):
        x = Input((3, 3, 2))
        model = set_up(Model(x, L.Dense(1)(L.UpSampling2D(size, interpolation=how)(x))))
        seen = model.predict(IMAGES)
        trained = compiled(model, sgd(), "mse")
        answers.append([np.ravel(seen[0]), trained.train_on_batch(IMAGES, 0 * seen), trained.train_on_batch(IMAGES, 0 * seen)])
    return answers


json.dump(ANSWERS, open(sys.argv[2], "w"), indent=1, sort_keys=True)
