"""What Keras answers across the library: whole_library.py keras|tf.keras OUT.json [REPLICAS] [NAMES.json]

Defaults, steps of optimizers, losses, weights of samples, layers, names, graph code, configurations. Runs on Keras 2.2.4
and 2.3.1 and on `tf.keras` of TensorFlow 1.15 and 2.2, which recorded `tests/data/eras/whole_library.*.json`, and under
`parallel-compat run`. A fact that raises is "raises ErrorType: message". Weights are set from a fixed seed, nothing is
shuffled or dropped unless the fact is about that. With REPLICAS, the models of steps, losses, weights and accuracies
are parallel ones, and nothing else is asked; with NAMES.json, only the facts of that list.
"""
import json
import os
import sys
import warnings

warnings.filterwarnings("ignore")
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""
import numpy as np
import tensorflow as tf

if sys.argv[1] == "keras":
    import keras
else:
    keras = tf.keras
K, L = keras.backend, keras.layers
REPLICAS = int(sys.argv[3]) if len(sys.argv) > 3 else 0
NAMES = json.load(open(sys.argv[4])) if len(sys.argv) > 4 else None
OF_TOWERS = ("step/", "loss/", "weights/", "accuracy/")  # groups that are asked of parallel models
Model, Sequential = keras.models.Model, keras.models.Sequential
FACTS = {}


def plain(v):
    if isinstance(v, dict):
        return {str(k): plain(x) for k, x in sorted(v.items(), key=lambda kv: str(kv[0]))}
    if isinstance(v, (list, tuple)):
        return [plain(x) for x in v]
    if hasattr(v, "numpy"):
        v = v.numpy()
    if isinstance(v, np.ndarray):
        return plain(v.tolist())
    if isinstance(v, np.generic):
        v = v.item()
    if isinstance(v, float):
        return float("%.6g" % v)
    if isinstance(v, (int, bool, str)) or v is None:
        return v
    return type(v).__name__


def fact(name):
    def run(function):
        if (REPLICAS and not name.startswith(OF_TOWERS)) or (NAMES is not None and name not in NAMES):
            return
        K.clear_session()
        np.random.seed(0)
        try:
            FACTS[name] = plain(function())
        except Exception as error:  # noqa: BLE001
            FACTS[name] = "raises %s: %s" % (type(error).__name__, " ".join(str(error).split())[:110])
    return run


def rng(seed=0):
    return np.random.RandomState(seed)


def fill(model, seed=1):
    r = rng(seed)
    model.set_weights([r.normal(0, .4, w.shape) if w.ndim > 1 else w + r.uniform(-.1, .1, w.shape) for w in model.get_weights()])
    return model


def parallel(model):
    """Return the model to compile: itself, or a parallel one."""
    return keras.utils.multi_gpu_model(model, REPLICAS) if REPLICAS else model


def rate(value):
    """Learning rate argument of the era."""
    return {"lr": value} if "lr" in keras.optimizers.SGD().get_config() else {"learning_rate": value}


def sgd(value=.1, **more):
    return keras.optimizers.SGD(**dict(rate(value), **more))


X, Y1 = rng(2).normal(size=(12, 4)).astype("f4"), rng(3).normal(size=(12, 1)).astype("f4")
ONE_HOT = np.eye(3, dtype="f4")[rng(4).randint(0, 3, 12)]
BITS = rng(5).randint(0, 2, (12, 3)).astype("f4")


def mlp(units=3, activation=None, layers=()):
    return fill(Sequential([L.Dense(units, activation=activation, input_shape=(4,))] + list(layers)))


# ---- defaults -------------------------------------------------------------------------------------------------------
OPTIMIZER_ARGUMENTS = "learning_rate momentum nesterov rho beta_1 beta_2 epsilon amsgrad decay".split()
for name in "SGD RMSprop Adagrad Adadelta Adam Adamax Nadam".split():
    @fact("defaults/optimizer " + name)
    def _(name=name):
        config = dict(getattr(keras.optimizers, name)().get_config())
        config["learning_rate"] = config.pop("lr", config.get("learning_rate"))
        config.setdefault("decay", 0.)
        return {k: v for k, v in config.items() if k in OPTIMIZER_ARGUMENTS}

SCALED = {"GlorotUniform": ("uniform", "fan_avg", 1.), "GlorotNormal": ("truncated_normal", "fan_avg", 1.), "HeNormal": ("truncated_normal", "fan_in", 2.),
          "HeUniform": ("uniform", "fan_in", 2.), "LecunNormal": ("truncated_normal", "fan_in", 1.), "LecunUniform": ("uniform", "fan_in", 1.)}


def initializer(v):
    """Name and arguments, whatever the spelling of the version: a GlorotUniform is a VarianceScaling."""
    if not isinstance(v, dict):
        v = {"class_name": type(v).__name__, "config": v.get_config()}
    if isinstance(v.get("config"), str):
        return v["config"]                                # Keras 3 writes an activation as an object
    inner = {k: x for k, x in (v.get("config") or {}).items() if k not in ("dtype", "seed", "gain", "name") and x is not None}
    if v["class_name"] in SCALED:
        inner = dict(zip(("distribution", "mode", "scale"), SCALED[v["class_name"]]))
    if inner.get("distribution") == "normal":
        inner["distribution"] = "truncated_normal"      # Keras 2.2.4's "normal" is truncated
    return "%s(%s)" % ("VarianceScaling" if v["class_name"] in SCALED else v["class_name"], ", ".join("%s=%s" % kv for kv in sorted(inner.items())))


LAYER_ARGUMENTS = set("""units filters kernel_size strides padding dilation_rate activation recurrent_activation use_bias kernel_initializer recurrent_initializer
    bias_initializer depthwise_initializer pointwise_initializer embeddings_initializer alpha_initializer beta_initializer gamma_initializer moving_mean_initializer
    moving_variance_initializer unit_forget_bias dropout recurrent_dropout reset_after go_backwards stateful unroll return_sequences return_state momentum epsilon
    center scale axis alpha theta max_value negative_slope threshold rate stddev pool_size size interpolation mask_value mask_zero normalize axes depth_multiplier
    shared_axes output_padding""".split())
MINIMAL = dict(Dense=(2,), Conv1D=(2, 3), Conv2D=(2, 3), Conv2DTranspose=(2, 3), SeparableConv2D=(2, 3), DepthwiseConv2D=(3,), Conv3D=(2, 3),
               LocallyConnected1D=(2, 3), LocallyConnected2D=(2, 3), Embedding=(5, 2), LSTM=(2,), GRU=(2,), SimpleRNN=(2,), BatchNormalization=(),
               ConvLSTM2D=(2, 3), PReLU=(), ELU=(), LeakyReLU=(), ThresholdedReLU=(), ReLU=(), Softmax=(), Dropout=(.5,), SpatialDropout1D=(.5,),
               GaussianNoise=(.1,), GaussianDropout=(.1,), AlphaDropout=(.1,), MaxPooling2D=(), AveragePooling2D=(), UpSampling2D=(), ZeroPadding2D=(),
               Flatten=(), Masking=(), Dot=(1,), Concatenate=(), ActivityRegularization=())
for name, args in MINIMAL.items():
    @fact("defaults/layer " + name)
    def _(name=name, args=args):
        config = getattr(L, name)(*args).get_config()
        config = {{"negative_slope": "alpha"}.get(k, k) if name == "LeakyReLU" else k: v for k, v in config.items()}
        return {k: initializer(v) if isinstance(v, dict) and "class_name" in v else v for k, v in config.items() if k in LAYER_ARGUMENTS}

for name in "glorot_uniform he_normal lecun_normal orthogonal VarianceScaling TruncatedNormal RandomNormal RandomUniform".split():
    @fact("defaults/initializer " + name)
    def _(name=name):
        return initializer(keras.initializers.get(name))

for name in "EarlyStopping ReduceLROnPlateau ModelCheckpoint CSVLogger".split():
    @fact("defaults/callback " + name)
    def _(name=name):
        made = vars(getattr(keras.callbacks, name)(*(["x.h5"] if name in ("ModelCheckpoint", "CSVLogger") else [])))
        return {k: made[k] for k in "monitor patience factor cooldown min_lr min_delta save_best_only save_weights_only period append verbose baseline".split() if k in made}

# ---- optimizer steps ------------------------------------------------------------------------------------------------
def stepped(optimizer, embedding=False, steps=3):
    if embedding:
        i = keras.layers.Input((4,))
        m = fill(Model(i, L.Dense(1)(L.Flatten()(L.Embedding(6, 2)(i)))))
        x = rng(6).randint(0, 5, (12, 4))     # row 5 is never looked up
    else:
        m, x = mlp(1), X
    trained = parallel(m)
    trained.compile(optimizer, "mse")
    for _ in range(steps):
        trained.train_on_batch(x, Y1)
    return m.get_weights()[0]


OPTIMIZERS = {
    "SGD": dict(), "SGD momentum": dict(momentum=.9), "SGD nesterov": dict(momentum=.9, nesterov=True), "RMSprop": dict(), "Adagrad": dict(), "Adadelta": dict(),
    "Adam": dict(), "Adam amsgrad": dict(amsgrad=True), "Adamax": dict(), "Nadam": dict()}
for title, more in OPTIMIZERS.items():
    cls = title.split()[0]
    for tail, extra in (("", {}), (" decay", {"decay": .1}), (" clipnorm", {"clipnorm": .1}), (" clipvalue", {"clipvalue": .02}), (" clipnorm clipvalue", {"clipnorm": .1, "clipvalue": .02})):
        for embedding in (False, True):
            @fact("step/%s%s%s" % (title, tail, " on an Embedding" if embedding else ""))
            def _():
                return stepped(getattr(keras.optimizers, cls)(**dict(rate(.05), **dict(more, **extra))), embedding)


@fact("step/Nadam schedule_decay")
def _():
    return stepped(keras.optimizers.Nadam(schedule_decay=.02, **rate(.05)))


# ---- losses and what the output was made of -------------------------------------------------------------------------
def k_bce(t, p):
    return K.mean(K.binary_crossentropy(t, p), axis=-1)


def k_cce(t, p):
    return K.categorical_crossentropy(t, p)


WEIGHED = np.array([[1., 0, 0], [0, 0, 0], [0, 2, 0], [.2, .2, .2]] * 3, "f4")
CASES = [("softmax", "binary_crossentropy", ONE_HOT), ("sigmoid", "categorical_crossentropy", ONE_HOT), ("softmax", k_bce, ONE_HOT), ("softmax", k_cce, WEIGHED),
         ("softmax", "categorical_crossentropy", WEIGHED), ("relu", "categorical_crossentropy", ONE_HOT), ("linear", "binary_crossentropy", ONE_HOT),
         ("sigmoid", "sparse_categorical_crossentropy", rng(4).randint(0, 3, (12, 1))), ("softmax", "kullback_leibler_divergence", ONE_HOT), ("tanh", "hinge", BITS * 2 - 1),
         ("tanh", "hinge", BITS), ("tanh", "squared_hinge", BITS), ("linear", "logcosh", ONE_HOT), ("linear", "cosine_proximity", ONE_HOT), ("sigmoid", "poisson", BITS),
         ("linear", "mean_absolute_percentage_error", ONE_HOT), ("linear", "mean_squared_logarithmic_error", BITS), ("softmax", "categorical_hinge", ONE_HOT)]
for activation, loss, y in CASES:
    for how in ("activation=", "Activation layer", "nested model", "TimeDistributed"):
        title = "loss/%s of %s by %s%s" % (loss if isinstance(loss, str) else loss.__name__, activation, how, "" if y is not WEIGHED else ", rows that do not sum to 1")
        if y is BITS and loss in ("hinge", "squared_hinge"):
            title += ", labels 0 and 1"
        @fact(title)
        def _():
            xx, yy = X * 3, y
            if how == "activation=":
                m = mlp(3, activation)
            elif how == "Activation layer":
                m = mlp(3, None, [L.Activation(activation)])
            elif how == "nested model":
                i, j = keras.layers.Input((4,)), keras.layers.Input((4,))
                m = fill(Model(j, Model(i, L.Dense(3, activation=activation)(i))(j)))
            else:
                m = fill(Sequential([L.TimeDistributed(L.Dense(3, activation=activation), input_shape=(2, 4))]))
                xx, yy = xx.reshape(6, 2, 4), y.reshape(6, 2, -1)
            m = parallel(m)
            m.compile(sgd(.5), loss)
            return [m.train_on_batch(xx, yy) for _ in range(3)]


@fact("loss/values at the ends: binary_crossentropy, categorical_crossentropy of exact 0 and 1")
def _():
    i = keras.layers.Input((2,))
    out = []
    for loss in ("binary_crossentropy", "categorical_crossentropy"):
        m = parallel(Model(i, L.Activation("linear")(i))); m.compile("sgd", loss)
        out.append(m.test_on_batch(np.array([[0., 1.]]), np.array([[1., 0.]])))
    return out


# ---- sample weights, class weights, masks ---------------------------------------------------------------------------
WEIGHTS = np.array([.5, 2., 0., 1., 1., 3., 0., .1, 1., 1., 2., .7])


def fitted(shape, weights, **more):
    i = keras.layers.Input(shape + (4,))
    m = parallel(fill(Model(i, L.Dense(2)(i))))
    r = rng(7)
    x, y = r.normal(size=(12,) + shape + (4,)), r.normal(size=(12,) + shape + (2,))
    m.compile(sgd(), "mse", metrics=["mae"], **more)
    h = m.fit(x, y, batch_size=5, epochs=2, shuffle=False, verbose=0, sample_weight=weights)
    return [h.history["loss"], m.evaluate(x, y, batch_size=5, verbose=0, sample_weight=weights), m.evaluate(x, y, batch_size=5, verbose=0)]


for shape in ((), (5,), (3, 3), (2, 2, 2)):
    @fact("weights/one per sample, output of rank %d" % (2 + len(shape)))
    def _():
        return fitted(shape, WEIGHTS)


@fact("weights/temporal")
def _():
    return fitted((5,), rng(8).uniform(0, 2, (12, 5)), sample_weight_mode="temporal")


@fact("weights/weighted_metrics")
def _():
    return fitted((), WEIGHTS, weighted_metrics=["mse"])


@fact("weights/class_weight, and with sample_weight")
def _():
    out = []
    for weights in (None, WEIGHTS):
        m = parallel(mlp(3, "softmax")); m.compile(sgd(), "categorical_crossentropy")
        out.append(m.fit(X, ONE_HOT, batch_size=5, epochs=2, shuffle=False, verbose=0, class_weight={0: .5, 1: 1., 2: 3.}, sample_weight=weights).history["loss"])
    return out


@fact("weights/mask of an Embedding: loss and accuracy")
def _():
    i = keras.layers.Input((4,))
    m = fill(Model(i, L.TimeDistributed(L.Dense(3, activation="softmax"))(L.LSTM(3, return_sequences=True)(L.Embedding(6, 2, mask_zero=True)(i)))))
    m = parallel(m); m.compile(sgd(), "categorical_crossentropy", metrics=["accuracy"])
    x = np.array([[1, 2, 3, 4], [5, 0, 0, 0], [1, 1, 0, 0]]); y = np.eye(3)[rng(9).randint(0, 3, (3, 4))]
    return [m.train_on_batch(x, y), m.train_on_batch(x, y)]


# ---- layers ---------------------------------------------------------------------------------------------------------
@fact("layer/BatchNormalization: moving statistics after 1, 2, 3 steps")
def _():
    m = fill(Sequential([L.BatchNormalization(input_shape=(4,)), L.Dense(1)])); m.compile(sgd(0.), "mse"); out = []
    for _ in range(3):
        m.train_on_batch(X, Y1); out.append([w[:2] for w in m.get_weights()[2:4]])
    return out


@fact("layer/BatchNormalization on images (fused): moving variance after 1 step of 4 x 2 x 2")
def _():
    m = fill(Sequential([L.BatchNormalization(input_shape=(2, 2, 3)), L.Flatten(), L.Dense(1)])); m.compile(sgd(0.), "mse")
    m.train_on_batch(rng(1).normal(size=(4, 2, 2, 3)), Y1[:4]); return m.get_weights()[2:4]


@fact("layer/BatchNormalization frozen: loss in training, moving statistics")
def _():
    b = L.BatchNormalization(input_shape=(4,)); m = Sequential([b, L.Dense(1)]); b.trainable = False; m.build() if not m.weights else None; r = rng(1)
    m.set_weights([r.uniform(.5, 1, w.shape) for w in m.get_weights()]); m.compile(sgd(), "mse")
    return [m.train_on_batch(X, Y1), m.train_on_batch(X, Y1), b.get_weights()]


MASKED = (rng(1).normal(size=(3, 4, 2)) * (np.arange(4)[None] < np.array([4, 2, 1])[:, None])[:, :, None]).astype("f4")
for title, make in (("LSTM", lambda: L.LSTM(2, return_sequences=True)), ("GRU", lambda: L.GRU(2, return_sequences=True)), ("SimpleRNN", lambda: L.SimpleRNN(2, return_sequences=True)),
                    ("LSTM go_backwards", lambda: L.LSTM(2, return_sequences=True, go_backwards=True)), ("Bidirectional LSTM", lambda: L.Bidirectional(L.LSTM(2, return_sequences=True))),
                    ("Bidirectional GRU ave", lambda: L.Bidirectional(L.GRU(2, return_sequences=True), merge_mode="ave")), ("Bidirectional LSTM last", lambda: L.Bidirectional(L.LSTM(2))),
                    ("TimeDistributed Dense", lambda: L.TimeDistributed(L.Dense(2)))):
    for masked in (True, False):
        @fact("layer/%s%s" % (title, ", masked steps" if masked else ""))
        def _():
            i = keras.layers.Input((4, 2))
            return fill(Model(i, make()(L.Masking()(i) if masked else i))).predict(MASKED)


@fact("layer/activity_regularizer in the loss (batch of 12, and of 5)")
def _():
    out = []
    for n in (12, 5):
        m = fill(Sequential([L.Dense(3, input_shape=(4,), activity_regularizer=keras.regularizers.l2(.1)), L.Dense(1)])); m.compile(sgd(), "mse"); out.append([m.train_on_batch(X[:n], Y1[:n]), m.test_on_batch(X[:n], Y1[:n])])
    return out


for name in "relu elu selu softplus softsign sigmoid hard_sigmoid tanh exponential linear".split():
    @fact("layer/activation " + name)
    def _():
        i = keras.layers.Input((5,)); return Model(i, L.Activation(name)(i)).predict(np.array([[-3., -1., 0., .5, 3.]]))


@fact("layer/UpSampling2D bilinear, Conv2DTranspose same, AveragePooling2D same")
def _():
    i = keras.layers.Input((3, 3, 1)); x = np.arange(9.).reshape(1, 3, 3, 1); out = []
    for layer in (L.UpSampling2D(interpolation="bilinear"), L.Conv2DTranspose(1, 3, strides=2, padding="same"), L.AveragePooling2D(2, padding="same")):
        m = Model(i, layer(i)); fill(m) if m.get_weights() else None; out.append(np.ravel(m.predict(x)))
    return out


# ---- order of weights -----------------------------------------------------------------------------------------------
def shapes(model):
    return [list(w.shape) for w in model.get_weights()]


def nested(kind, frozen):
    if kind == "functional":
        a = keras.layers.Input((4,)); base = Model(a, L.Dense(3)(L.BatchNormalization()(L.Dense(5)(a)))); first = base.layers[1]
        b = keras.layers.Input((4,)); made = Model(b, L.Dense(2)(base(b)))
    else:
        base = Sequential([L.Dense(5, input_shape=(4,)), L.BatchNormalization(), L.Dense(3)]); first = base.layers[0]
        made = Sequential([base, L.Dense(2)])
    if frozen:
        first.trainable = False
    return made


for kind in ("functional", "sequential"):
    for frozen in (False, True):
        @fact("weights order/%s model in a model%s" % (kind, ", its first layer frozen" if frozen else ""))
        def _():
            return shapes(nested(kind, frozen))


@fact("weights order/not nested, first layer frozen")
def _():
    m = Sequential([L.Dense(3, input_shape=(4,)), L.BatchNormalization(), L.Dense(2)]); m.layers[0].trainable = False; return shapes(m)


@fact("model.losses of a layer used twice and a regularizer")
def _():
    i = keras.layers.Input((4,)); d = L.Dense(4, kernel_regularizer=keras.regularizers.l2(.1), activity_regularizer=keras.regularizers.l1(.1)); return len(Model(i, d(d(i))).losses)


# ---- names, logs, callbacks -----------------------------------------------------------------------------------------
def top2(t, p):
    return keras.metrics.top_k_categorical_accuracy(t, p, k=2)


class Seen(keras.callbacks.Callback):
    def __init__(self):
        super(Seen, self).__init__(); self.seen = []

    def on_train_begin(self, logs=None): self.seen.append(["params", {k: sorted(v) if isinstance(v, list) else v for k, v in self.params.items()}])
    def on_batch_begin(self, batch, logs=None): self.seen.append(["batch begin", batch, sorted(logs or {})])
    def on_batch_end(self, batch, logs=None): self.seen.append(["batch end", batch, sorted(logs or {}), (logs or {}).get("loss")])
    def on_epoch_end(self, epoch, logs=None): self.seen.append(["epoch end", epoch, list(logs or {}), (logs or {}).get("loss")])


def logged(loss, metrics, y, activation=None, units=None, **more):
    m = mlp(units or y.shape[1], activation); m.compile(sgd(), loss, metrics=metrics)
    before = list(m.metrics_names)
    h = m.fit(X, y, batch_size=5, epochs=1, shuffle=False, verbose=0, validation_split=.25)
    return {"metrics_names before fit": before, "after": list(m.metrics_names), "history": sorted(h.history)}


for metrics in (["mae"], ["mse", "acc"], ["accuracy"], ["categorical_accuracy", "mape"], ["cosine_proximity"], ["top_k_categorical_accuracy"], [top2, "msle"], ["kullback_leibler_divergence", "logcosh"]):
    @fact("names/metrics=%s" % [n if isinstance(n, str) else n.__name__ for n in metrics])
    def _():
        return logged("categorical_crossentropy", metrics, ONE_HOT, "softmax")


@fact("names/two outputs, a dict of metrics")
def _():
    i = keras.layers.Input((4,)); m = Model(i, [L.Dense(3, name="b")(i), L.Dense(3, name="a")(i)])
    m.compile("sgd", "mse", metrics={"a": ["mae", "acc"], "b": "mse"}); before = list(m.metrics_names)
    return before, sorted(m.fit(X, [ONE_HOT, ONE_HOT], verbose=0).history), list(m.metrics_names)


@fact("names/two outputs, weighted metrics and a list")
def _():
    i = keras.layers.Input((4,)); m = Model(i, [L.Dense(3, name="b")(i), L.Dense(3, name="a")(i)])
    m.compile("sgd", ["mse", "mae"], metrics=["acc"], weighted_metrics=["mae"], loss_weights=[1., .5]); return sorted(m.fit(X, [ONE_HOT, ONE_HOT], verbose=0).history), list(m.metrics_names)


@fact("callback/params, batches, logs")
def _():
    seen = Seen(); m = mlp(3, "softmax"); m.compile(sgd(), "categorical_crossentropy", metrics=["acc"])
    m.fit(X, ONE_HOT, batch_size=5, epochs=1, shuffle=False, verbose=0, validation_split=.25, callbacks=[seen]); return seen.seen


@fact("callback/CSVLogger, header and lines")
def _():
    m = mlp(3); m.compile(sgd(), "mse", metrics=["mae", "acc"])
    m.fit(X, ONE_HOT, epochs=1, shuffle=False, verbose=0, validation_split=.25, callbacks=[keras.callbacks.CSVLogger("probe.csv")]); return open("probe.csv").read().split("\n")[0]


@fact("callback/validation_data seen by a callback")
def _():
    class C(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None): self.got = [np.shape(v) for v in (getattr(self, "validation_data", None) or [])]
    c = C(); m = mlp(3); m.compile(sgd(), "mse"); m.fit(X, ONE_HOT, epochs=1, verbose=0, validation_data=(X, ONE_HOT), callbacks=[c]); return c.got


# ---- what accuracy means --------------------------------------------------------------------------------------------
for title, units, activation, loss, y in (
        ("one unit, mse", 1, None, "mse", BITS[:, :1]), ("one unit, hinge", 1, "tanh", "hinge", BITS[:, :1] * 2 - 1), ("one unit, own loss", 1, "sigmoid", k_bce, BITS[:, :1]),
        ("one unit, binary_crossentropy, soft labels", 1, "sigmoid", "binary_crossentropy", BITS[:, :1] * .5 + .2), ("three units, binary_crossentropy", 3, "sigmoid", "binary_crossentropy", BITS),
        ("three units, the function binary_crossentropy", 3, "sigmoid", keras.losses.binary_crossentropy, BITS), ("three units, own loss", 3, "sigmoid", k_bce, BITS), ("three units, mse", 3, "sigmoid", "mse", BITS),
        ("softmax of 2, binary_crossentropy", 2, "softmax", "binary_crossentropy", ONE_HOT[:, :2]), ("sparse labels, own loss", 3, "softmax", lambda t, p: K.sparse_categorical_crossentropy(t, p), rng(4).randint(0, 3, (12, 1)))):
    @fact("accuracy/" + title)
    def _():
        m = parallel(mlp(units, activation)); m.compile("sgd", loss, metrics=["accuracy"]); return m.test_on_batch(X, y)


# ---- epochs, shuffling, averages ------------------------------------------------------------------------------------
@fact("fit/order of samples, np.random.seed(3), shuffle=True, two epochs")
def _():
    order = []

    class Watch(keras.callbacks.Callback):
        def on_batch_end(self, batch, logs=None): order.append(round(float(self.model.get_weights()[0][0, 0]), 5))
    m = Sequential([L.Dense(1, use_bias=False, input_shape=(1,))]); m.set_weights([np.zeros((1, 1))]); m.compile(sgd(.01), "mse"); np.random.seed(3)
    m.fit(np.arange(1., 7.).reshape(-1, 1), np.ones((6, 1)), batch_size=2, epochs=2, verbose=0, callbacks=[Watch()]); return order, np.random.rand()


@fact("fit/loss and metric of an epoch with a smaller last batch; evaluate; generator")
def _():
    m = mlp(3); m.compile(sgd(), "mse", metrics=["mae", top2])
    out = [m.fit(X, ONE_HOT, batch_size=5, epochs=1, shuffle=False, verbose=0).history, m.evaluate(X, ONE_HOT, batch_size=5, verbose=0)]
    batches = [(X[a:b], ONE_HOT[a:b]) for a, b in ((0, 5), (5, 10), (10, 12))]
    def forever():
        while True:
            for b in batches:
                yield b
    go = getattr(m, "fit_generator", None) or m.fit
    out.append(go(forever(), steps_per_epoch=3, epochs=1, verbose=0).history)
    ev = getattr(m, "evaluate_generator", None)
    out.append(ev(forever(), steps=3) if ev else m.evaluate(forever(), steps=3, verbose=0))
    return out


@fact("fit/validation_split takes the last samples; validation_data with weights")
def _():
    m = mlp(3); m.compile(sgd(), "mse"); return m.fit(X, ONE_HOT, batch_size=5, epochs=1, shuffle=False, verbose=0, validation_data=(X, ONE_HOT, WEIGHTS)).history


@fact("fit/learning rate under decay after 3 steps: K.get_value(optimizer.lr)")
def _():
    o = sgd(.1, decay=.5); m = mlp(3); m.compile(o, "mse"); [m.train_on_batch(X, ONE_HOT) for _ in range(3)]; return K.get_value(o.lr), K.get_value(o.iterations)


@fact("fit/recompiled after a layer was frozen")
def _():
    m = mlp(3, None, [L.Dense(2)]); m.compile(sgd(), "mse"); a = m.train_on_batch(X, ONE_HOT[:, :2]); m.layers[0].trainable = False; b = m.train_on_batch(X, ONE_HOT[:, :2]); w = m.get_weights()[0][0]
    m.compile(sgd(), "mse"); c = m.train_on_batch(X, ONE_HOT[:, :2]); return a, b, c, (m.get_weights()[0][0] == w).all()


# ---- preprocessing --------------------------------------------------------------------------------------------------
@fact("preprocessing/ImageDataGenerator with a seed: first batch")
def _():
    g = keras.preprocessing.image.ImageDataGenerator(rotation_range=20, width_shift_range=.1, zoom_range=.2, horizontal_flip=True)
    x = rng(1).uniform(size=(6, 8, 8, 3)); return [float(np.sum(b)) for b in next(g.flow(x, np.arange(6), batch_size=4, seed=3))]


@fact("preprocessing/Tokenizer, pad_sequences")
def _():
    t = keras.preprocessing.text.Tokenizer(num_words=6, oov_token="?"); t.fit_on_texts(["the cat sat on the mat", "the dog"]); s = t.texts_to_sequences(["the dog sat on a cow", ""])
    return s, keras.preprocessing.sequence.pad_sequences(s, maxlen=4), t.texts_to_matrix(["the the dog"], mode="tfidf")


# ---- graph code -----------------------------------------------------------------------------------------------------
@fact("graph/K.function with K.learning_phase()")
def _():
    m = mlp(3, "tanh", [L.Dropout(.5), L.Dense(2)]); f = K.function([m.input, K.learning_phase()], [m.layers[0].output, m.output]); return f([X[:2], 0])


@fact("graph/K.function over placeholders")
def _():
    a, b = K.placeholder(shape=(None, 2)), K.placeholder(ndim=2); return K.function([a, b], [K.dot(a, K.transpose(b)), K.sum(a, axis=1)])([X[:2, :2], X[:3, :2]])


@fact("graph/K.gradients of an output to the input")
def _():
    m = mlp(3, "softmax"); g = K.gradients(K.mean(m.output[:, 0]), m.input)[0]; return K.function([m.input], [g])([X[:2]])


@fact("graph/K.function with updates of a variable")
def _():
    v, a = K.variable(np.ones(2)), K.placeholder(shape=(2,)); f = K.function([a], [a * 2], updates=[K.update_add(v, a)]); f([np.ones(2)]); f([np.ones(2)]); return K.get_value(v)


@fact("graph/TensorFlow functions on a model's output, as a Lambda layer")
def _():
    m = mlp(3, "tanh"); made = Model(m.input, L.Lambda(lambda t: tf.concat([tf.reduce_max(t, axis=1, keepdims=True), t[:, :1] * 2.], axis=1))(m.output)); return made.predict(X[:2])


@fact("graph/a Lambda layer that uses a tensor from outside")
def _():
    i = keras.layers.Input((4,)); d = L.Dense(3); t = d(i); made = fill(Model(i, L.Lambda(lambda u: u * K.sum(t, axis=1, keepdims=True))(t))); return made.predict(X[:2])


@fact("graph/a loss that uses tensors of the model (variational autoencoder)")
def _():
    i = keras.layers.Input((4,)); mean, log_var = L.Dense(2, name="mean")(i), L.Dense(2, name="log_var")(i)
    m = fill(Model(i, L.Dense(4)(mean)))
    outside = [w for w in (mean, log_var)]
    def loss(t, p): return K.mean(K.square(t - p), axis=-1) - .5 * K.mean(1 + outside[0] - K.square(outside[0]), axis=-1)
    m.compile(sgd(), loss); return [m.train_on_batch(X, X) for _ in range(3)]


@fact("graph/model.add_loss of a tensor")
def _():
    i = keras.layers.Input((4,)); mean = L.Dense(2)(i); m = fill(Model(i, L.Dense(4)(mean))); m.add_loss(K.mean(K.square(mean))); m.compile(sgd(), "mse"); return [m.train_on_batch(X, X) for _ in range(3)]


@fact("graph/compile(target_tensors=)")
def _():
    m = mlp(3); target = K.placeholder(shape=(None, 3)); m.compile(sgd(), "mse", target_tensors=[target]); return [m.train_on_batch(X, ONE_HOT) for _ in range(2)]


@fact("graph/K.in_train_phase, K.switch, K.rnn-free loop in a layer")
def _():
    i = keras.layers.Input((4,)); m = Model(i, L.Lambda(lambda t: K.in_train_phase(t * 2., t * 3.))(i)); m.compile(sgd(), "mse"); return [m.predict(X[:2]), m.train_on_batch(X, X)]


@fact("graph/a layer with add_weight by position and add_update")
def _():
    class Count(L.Layer):
        def build(self, shape):
            self.kernel = self.add_weight("kernel", (int(shape[-1]),), initializer="ones"); self.seen = self.add_weight("seen", (), initializer="zeros", trainable=False); super(Count, self).build(shape)
        def call(self, x):
            self.add_update(K.update_add(self.seen, 1.)); return x * self.kernel
        def compute_output_shape(self, shape): return shape
    m = Sequential([Count(input_shape=(4,)), L.Dense(1)]); fill(m); m.compile(sgd(), "mse"); before = K.get_value(m.layers[0].seen); [m.train_on_batch(X, Y1) for _ in range(3)]; m.predict(X); return K.get_value(m.layers[0].seen) - before


# ---- configurations -------------------------------------------------------------------------------------------------
def own_loss(t, p):
    return K.mean(K.square(t - p), axis=-1)


@fact("config/clone, from_config and to_json of a model compiled with an own loss")
def _():
    m = mlp(3); m.compile("sgd", own_loss); return [type(keras.models.clone_model(m)).__name__, type(keras.models.model_from_json(m.to_json())).__name__, type(Sequential.from_config(m.get_config())).__name__]


@fact("config/optimizer.get_weights after 2 steps: shapes")
def _():
    m = mlp(3); m.compile("adam", "mse"); [m.train_on_batch(X, ONE_HOT) for _ in range(2)]; return [list(np.shape(w)) for w in m.optimizer.get_weights()]


json.dump(FACTS, open(sys.argv[2], "w"), indent=1, sort_keys=True)
print(len(FACTS), "facts,", sum(isinstance(v, str) and v.startswith("raises") for v in FACTS.values()), "raise")
