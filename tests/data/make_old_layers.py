"""Write the files in `old_layers/`, of layers and layouts that Keras 3 does not have: run this under each old stack.

    KERAS_BACKEND=theano THEANO_FLAGS=floatX=float32 make_old_layers.py OUT_DIR

The stacks (a virtual environment each):

    Python 3.7: theano==1.0.5 (and a BLAS library) keras==1.2.2 'h5py<3' 'numpy<1.19'   -> keras122theano_*
    Python 3.7: theano==1.0.5 keras==2.2.4 (the same)                                   -> keras224theano_*
    Python 3.7: tensorflow==1.15.5 keras==1.2.2 (the same)                              -> keras122_*
    Python 3.7: tensorflow==1.15.5 keras==2.0.8 (the same)                              -> keras208_*
    Python 3.8: tensorflow==2.2.3 (no keras)                                            -> tf223_*

For each case: `<stack>_<case>.template.h5`, of some `<stack>_<case>.template_weights.h5`, and `<stack>_<case>.npz` with
the inputs `x_i` and the old stack's own predictions `predict_i`.
"""

import os
import sys
import types
import warnings

warnings.filterwarnings("ignore")
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np

TF_KERAS = "KERAS_BACKEND" not in os.environ
if not TF_KERAS and os.environ["KERAS_BACKEND"] == "tensorflow":
    # Keras 1.2.2 looks for names that TensorFlow 1.15 has elsewhere, or no more.
    import tensorflow as tf
    from tensorflow.python.ops import ctc_ops

    contrib = types.ModuleType("tensorflow.contrib.ctc")
    contrib.ctc_loss = ctc_ops.ctc_loss
    sys.modules["tensorflow.contrib.ctc"] = contrib

if TF_KERAS:
    import tensorflow as tf

    L, Model, Sequential = tf.keras.layers, tf.keras.Model, tf.keras.Sequential
    STACK = "tf" + tf.__version__.replace(".", "")
    THEANO = ONE = False
else:
    import keras
    from keras import backend as K
    from keras import layers as L
    from keras.models import Model, Sequential

    THEANO = K.backend() == "theano"
    ONE = keras.__version__.startswith("1.")
    STACK = "keras%s%s" % (keras.__version__.replace(".", ""), "theano" if THEANO else "")
OUT = sys.argv[1]


def f32(*shape):
    return np.random.randn(*shape).astype("float32")


def shake(model):
    values = [0.3 * np.random.randn(*value.shape) + (0.1 if value.ndim == 1 else 0.0) for value in model.get_weights()]
    positive = [
        "running_std" in w.name or "variance" in w.name
        for layer in getattr(model, "flattened_layers", model.layers)
        for w in layer.weights
    ]
    assert len(positive) == len(values)
    model.set_weights([abs(v) + 0.5 if p else v for v, p in zip(values, positive)])


# --- models of Keras 1 ------------------------------------------------------------------------------------------------


def images(order):
    options = {"dim_ordering": order}
    shape = (8, 8, 3) if order == "tf" else (3, 8, 8)
    axis = -1 if order == "tf" else 1
    x = L.Input(shape, name="x")
    h = L.Convolution2D(
        4, 3, 2, border_mode="same", subsample=(1, 1), init="he_normal", W_regularizer="l2", name="conv", **options
    )(x)
    h = L.BatchNormalization(axis=axis, name="bn")(h)
    h = L.LeakyReLU(0.3, name="leaky")(h)
    h = L.AtrousConvolution2D(5, 3, 3, atrous_rate=(2, 2), border_mode="same", name="atrous", **options)(h)
    h = L.PReLU(name="prelu")(h)
    h = L.MaxPooling2D((2, 2), name="pool", **options)(h)
    h = L.ZeroPadding2D((1, 2), name="pad", **options)(h)
    h = L.Convolution2D(3, 2, 2, subsample=(2, 1), bias=False, activation="relu", name="no_bias", **options)(h)
    h = L.UpSampling2D((2, 2), name="double", **options)(h)
    h = L.Cropping2D(((1, 0), (0, 1)), name="crop", **options)(h)
    h = L.SpatialDropout2D(0.2, name="drop", **options)(h)
    h = L.AveragePooling2D(
        (2, 2), strides=(1, 1), border_mode="same" if not THEANO else "valid", name="average", **options
    )(h)
    h = L.Activation("hard_sigmoid", name="hard")(h)
    h = L.Flatten(name="flat")(h)
    h = L.Dense(4, activation="hard_sigmoid", W_constraint="nonneg", name="hidden")(h)
    h = L.Dropout(0.5, name="half")(h)
    return Model(x, L.Dense(2, activation="softmax", name="out")(h), name="images"), [f32(3, *shape)]


def transposed(order):
    shape = (4, 4, 2) if order == "tf" else (2, 4, 4)
    out = (None, 6, 7, 3) if order == "tf" else (None, 3, 6, 7)
    model = Sequential(name="transposed")
    model.add(L.Deconvolution2D(3, 3, 4, output_shape=out, dim_ordering=order, input_shape=shape, name="up"))
    return model, [f32(2, *shape)]


def texts():
    x = L.Input((6,), name="x")
    h = L.Embedding(11, 5, mask_zero=True, input_length=6, name="words")(x)
    h = L.Bidirectional(L.LSTM(3, return_sequences=True, consume_less="cpu"), name="both")(h)
    h = L.TimeDistributed(L.Dense(4, activation="tanh"), name="each")(h)
    h = L.GRU(3, return_sequences=True, dropout_W=0.1, inner_activation="sigmoid", name="gru")(h)
    h = L.LSTM(
        3, return_sequences=True, consume_less="gpu", inner_init="orthogonal", forget_bias_init="one", name="gpu"
    )(h)
    h = L.SimpleRNN(3, name="simple")(h)
    x0 = np.random.randint(1, 11, (5, 6))
    x0[:, 4:] = 0
    return Model(x, L.Dense(2, activation="sigmoid", name="out")(h), name="tagger"), [x0]


def sequence():
    model = Sequential(name="sequence")
    model.add(L.Convolution1D(4, 3, border_mode="same", input_dim=3, input_length=8, activation="relu", name="conv"))
    model.add(L.MaxPooling1D(2, name="pool"))
    model.add(L.AtrousConvolution1D(3, 2, atrous_rate=2, name="atrous"))
    model.add(L.UpSampling1D(2, name="double"))
    model.add(L.ZeroPadding1D(1, name="pad"))
    model.add(L.LSTM(3, go_backwards=True, consume_less="mem", name="lstm"))
    model.add(L.RepeatVector(2, name="repeat"))
    model.add(L.GRU(2, name="gru"))
    model.add(L.Dense(1, name="out"))
    return model, [f32(4, 8, 3)]


def merges():
    a, b = L.Input((4,), name="a"), L.Input((4,), name="b")
    shared = L.Dense(4, name="shared")
    p, q = shared(a), shared(b)
    joined = [L.merge([p, q], mode=mode, name=mode) for mode in ("sum", "mul", "ave", "max")]
    joined.append(L.merge([p, q], mode="dot", dot_axes=1, name="dot"))
    h = L.merge(joined, mode="concat", concat_axis=-1, name="concat")
    inner = Sequential(
        [L.Dense(3, input_dim=17, activation="tanh", name="inner_dense"), L.BatchNormalization(name="inner_bn")],
        name="inner",
    )
    h = L.GaussianNoise(0.1, name="noise")(inner(h))
    return Model([a, b], [L.Dense(2, name="out")(h), p], name="merges"), [f32(4, 4), f32(4, 4)]


def nested():
    first = Sequential(name="first")
    first.add(L.Dense(5, input_dim=4, activation="tanh", name="first_dense"))
    first.add(L.BatchNormalization(name="first_bn"))
    model = Sequential(name="nested")
    model.add(first)
    model.add(L.Dense(2, name="out"))
    return model, [f32(4, 4)]


def branches():
    left = Sequential([L.Dense(3, input_dim=4, name="left_dense")], name="left")
    right = Sequential([L.Dense(3, input_dim=2, name="right_dense")], name="right")
    model = Sequential(name="branches")
    model.add(L.Merge([left, right], mode="concat", name="merged"))
    model.add(L.Dense(2, name="out"))
    return model, [f32(4, 4), f32(4, 2)]


def volumes(order):
    shape = (4, 5, 6, 2) if order == "tf" else (2, 4, 5, 6)
    model = Sequential(name="volumes")
    model.add(L.Convolution3D(3, 2, 3, 2, dim_ordering=order, input_shape=shape, name="conv"))
    model.add(L.MaxPooling3D((1, 1, 2), dim_ordering=order, name="pool"))
    model.add(L.Flatten(name="flat"))
    model.add(L.Dense(2, name="out"))
    return model, [f32(2, *shape)]


def films(order):
    shape = (3, 5, 5, 2) if order == "tf" else (3, 2, 5, 5)
    model = Sequential(name="films")
    model.add(L.ConvLSTM2D(2, 3, 3, border_mode="same", dim_ordering=order, input_shape=shape, name="film"))
    model.add(L.Flatten(name="flat"))
    model.add(L.Dense(2, name="out"))
    return model, [f32(2, *shape)]


def local():
    model = Sequential(name="local")
    model.add(L.LocallyConnected2D(3, 2, 3, subsample=(2, 1), dim_ordering="tf", input_shape=(6, 5, 2), name="local2"))
    model.add(L.Reshape((9, 3), name="shape"))
    model.add(L.LocallyConnected1D(4, 3, name="local1"))
    model.add(L.Flatten(name="flat"))
    model.add(L.Dense(2, name="out"))
    return model, [f32(3, 6, 5, 2)]


def axes():
    a, b = L.Input((4, 3), name="a"), L.Input((4, 3), name="b")
    joined = [L.merge([a, b], mode="concat", concat_axis=axis, name="concat%d" % axis) for axis in (1, 2)]
    joined += [L.merge([a, b], mode="dot", dot_axes=axis, name="dot%d" % axis) for axis in (1, 2)]
    outputs = [L.Dense(2, name="out%d" % i)(L.Flatten()(h)) for i, h in enumerate(joined)]
    return Model([a, b], outputs, name="axes"), [f32(3, 4, 3), f32(3, 4, 3)]


CASES_1 = {
    "images": lambda: images("tf"), "images_first": lambda: images("th"), "transposed": lambda: transposed("tf"),
    "transposed_first": lambda: transposed("th"), "texts": texts, "sequence": sequence, "merges": merges, "nested": nested,
    "branches": branches, "volumes": lambda: volumes("tf"), "volumes_first": lambda: volumes("th"), "films": lambda: films("tf"),
    "films_first": lambda: films("th"), "local": local, "axes": axes,
}  # fmt: skip

# --- models of Keras 2 on Theano ----------------------------------------------------------------------------------------


def turned():
    x = L.Input((9, 9, 3), name="x")
    h = L.Conv2D(4, (3, 2), padding="same", activation="hard_sigmoid", name="conv")(x)
    h = L.SeparableConv2D(5, 3, name="separable")(h)
    h = L.Conv2DTranspose(3, (2, 3), strides=2, padding="valid", name="up")(h)
    h = L.DepthwiseConv2D((3, 2), name="depthwise")(h) if hasattr(L, "DepthwiseConv2D") else h
    h = L.Reshape((-1, 3), name="shape")(h)
    h = L.Conv1D(2, 3, name="conv1")(h)
    h = L.LSTM(3, name="lstm")(h)
    return Model(x, L.Dense(2, name="out")(h), name="turned"), [f32(3, 9, 9, 3)]


def turned_first():
    inner = Sequential(
        [
            L.Conv2D(2, (3, 2), data_format="channels_first", input_shape=(3, 6, 6), name="inner_conv"),
            L.BatchNormalization(axis=1, name="inner_bn"),
        ],
        name="inner",
    )
    x = L.Input((3, 6, 6), name="x")
    h = L.Flatten(name="flat")(inner(x))
    return Model(x, L.Dense(2, name="out")(h), name="turned_first"), [f32(3, 3, 6, 6)]


def turned_wrapped():
    model = Sequential(name="turned_wrapped")
    model.add(L.TimeDistributed(L.Conv2D(2, (3, 2), name="inside"), input_shape=(4, 6, 6, 2), name="each"))
    model.add(L.ConvLSTM2D(2, (1, 3), name="film"))
    model.add(L.Reshape((1, 4, 3, 2), name="shape"))
    model.add(L.Conv3D(2, (1, 2, 2), name="conv3"))
    model.add(L.Flatten(name="flat"))
    return model, [f32(2, 4, 6, 6, 2)]


def without():
    x = L.Input((5, 3), name="x")
    h = L.BatchNormalization(name="bn")(L.GRU(4, recurrent_activation="sigmoid", name="gru")(x))
    return Model(x, L.Dense(2, name="out")(h), name="without"), [f32(4, 5, 3)]


CASES_2 = {"turned": turned, "turned_first": turned_first, "turned_wrapped": turned_wrapped, "without": without}

# --- models of tf.keras -------------------------------------------------------------------------------------------------


def backwards():
    x = L.Input((5, 3), name="x")
    h = L.Bidirectional(
        L.LSTM(4, go_backwards=True, return_sequences=True, recurrent_activation="hard_sigmoid"), name="both"
    )(x)
    h = L.Bidirectional(L.GRU(3, go_backwards=True), merge_mode="sum", name="again")(h)
    return Model(x, L.Dense(2, name="out")(h), name="backwards"), [f32(4, 5, 3)]


def operations():
    x = L.Input((4, 6), name="x")
    h = tf.transpose(x, [0, 2, 1])
    h = tf.nn.relu(tf.reshape(h, [-1, 3, 8])) * 2.0 + 0.5
    h = L.Conv1D(3, 2, name="conv")(h)
    h = tf.sigmoid(tf.reshape(1.0 - (h - 1.5) / 4.0, (-1, 6)))
    h = tf.concat([h, h * h], axis=1)
    return Model(x, L.Dense(2, name="out")(h), name="operations"), [f32(4, 4, 6)]


def local_tf():
    x = L.Input((6, 5, 2), name="x")
    h = L.LocallyConnected2D(3, (2, 3), strides=2, activation="hard_sigmoid", kernel_regularizer="l2", name="local2")(x)
    h = L.Reshape((6, 3), name="shape")(h)
    frozen = L.LocallyConnected1D(4, 3, strides=2, use_bias=False, trainable=False, name="local1")
    return Model(x, L.Dense(2, name="out")(L.Flatten(name="flat")(frozen(h))), name="local"), [f32(3, 6, 5, 2)]


if not TF_KERAS and not ONE and hasattr(L, "Merge"):  # until Keras 2.1
    CASES_2 = {"merges": merges, "branches": branches}
CASES_TF = {"backwards": backwards, "operations": operations, "local": local_tf}

for number, (name, make) in enumerate(sorted((CASES_TF if TF_KERAS else CASES_1 if ONE else CASES_2).items())):
    np.random.seed(number)
    try:
        model, inputs = make()
    except (NotImplementedError, RuntimeError, TypeError, ValueError, AttributeError) as error:
        print(STACK, name, "not made:", type(error).__name__, str(error)[:200])
        continue
    if ONE or name != "branches":  # Keras 2.0.8 cannot set the weights of what begins with a Merge
        shake(model)
    predicted = model.predict(inputs if len(inputs) > 1 else inputs[0])
    predicted = predicted if isinstance(predicted, list) else [predicted]
    if name in ("nested", "without"):
        model.compile("adam", "mse")
        before = model.get_weights()
        model.train_on_batch(inputs[0], 0.0 * predicted[0])
        model.set_weights(before)
    model.save(os.path.join(OUT, "%s_%s.template.h5" % (STACK, name)))
    if name in ("texts", "images_first", "films_first", "turned"):
        model.save_weights(os.path.join(OUT, "%s_%s.template_weights.h5" % (STACK, name)))
    arrays = {"x_%d" % i: x for i, x in enumerate(inputs)}
    arrays.update(("predict_%d" % i, p) for i, p in enumerate(predicted))
    np.savez(os.path.join(OUT, "%s_%s.npz" % (STACK, name)), **arrays)
    print(STACK, name, "made")
