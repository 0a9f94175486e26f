"""Write the old files in `old/`: run this under each of the old stacks, it writes what that stack can.

    make_old_files.py OUT_DIR

The stacks (a virtual environment each; no GPU is needed, the list of devices is faked as the oracle does):

    Python 3.6: tensorflow==1.4.1  keras==2.0.9 'h5py<3' 'numpy<1.17' 'protobuf<3.20'      -> keras209_*
    Python 3.6: tensorflow==1.4.1  keras==2.1.6 (the same)                                 -> keras216_*
    Python 3.7: tensorflow==1.15.5 keras==2.2.4 'h5py<3' 'numpy<1.19' 'protobuf<3.20'      -> keras224_*
    Python 3.7: tensorflow==1.15.5 keras==2.3.1 (the same)                                 -> keras231_*
    Python 3.6: tensorflow==1.13.2 (no keras)                                              -> tf1132_*
    Python 3.7: tensorflow==2.2.3  (no keras)                                              -> tf223_*

For each case: `<stack>_<case>.{parallel,template}{,_weights}.h5`, and `<stack>_<case>.npz` with the inputs `x_i`
and the old stack's own predictions `predict_i`; the `resume_*` cases hold `w_after_i` instead, the weights after two
further steps of training that begin with what was saved.
"""

import os
import sys
import warnings

warnings.filterwarnings("ignore")
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import numpy as np
import tensorflow as tf

OUT = sys.argv[1]
if tf.__version__.startswith("1.1"):  # 1.13 to 1.15; as the oracle: the order of reads and writes is then fixed
    (tf.compat.v1 if hasattr(tf.compat, "v1") else tf).enable_resource_variables()
try:
    import keras

    TF_KERAS = False
    STACK = "keras" + keras.__version__.replace(".", "")
except ImportError:
    keras = tf.keras
    TF_KERAS = True
    STACK = "tf" + tf.__version__.replace(".", "")

K, L, Model, Sequential = keras.backend, keras.layers, keras.models.Model, keras.models.Sequential
DEVICES = ["/device:CPU:0"] + ["/device:GPU:%d" % i for i in range(8)]
if TF_KERAS:
    from tensorflow.python.keras.utils import multi_gpu_utils as utils
else:
    try:
        import keras.utils.multi_gpu_utils as utils
    except ImportError:
        import keras.utils.training_utils as utils
utils._get_available_devices = lambda: DEVICES
multi_gpu_model = utils.multi_gpu_model
if not TF_KERAS and tf.__version__.startswith("1.15"):
    # Keras 2.2 asks TensorFlow 1.15 for the current device in a way that 1.15 no longer answers.
    K.tensorflow_backend._get_current_tf_device = lambda: None
TF2 = tf.__version__.startswith("2")


def fresh():
    K.clear_session()
    if not TF2:
        config = tf.ConfigProto if hasattr(tf, "ConfigProto") else tf.compat.v1.ConfigProto
        session = tf.Session if hasattr(tf, "Session") else tf.compat.v1.Session
        K.set_session(session(config=config(allow_soft_placement=True)))


def f32(*shape):
    return np.random.randn(*shape).astype("float32")


def shake(model):
    """Weights that can be distinguished: none is zero or one; variances stay positive."""
    values = [0.3 * np.random.randn(*value.shape) + (0.1 if value.ndim == 1 else 0.0) for value in model.get_weights()]
    positive = ["variance" in w.name for layer in model.layers for w in layer.weights]
    assert len(positive) == len(values)
    model.set_weights([abs(v) + 0.5 if p else v for v, p in zip(values, positive)])


# --- models ---------------------------------------------------------------------------------------------------


def lstm():
    x = L.Input((6, 3), name="x")
    return Model(x, L.Dense(2, name="out")(L.LSTM(4, name="lstm")(x)), name="reader"), [f32(5, 6, 3)]


def gru_wrappers():
    x = L.Input((6,), name="x")
    h = L.Embedding(11, 5, mask_zero=True, name="words")(x)
    h = L.Bidirectional(L.GRU(3, return_sequences=True), name="both")(h)
    h = L.TimeDistributed(L.Dense(4, activation="hard_sigmoid"), name="each")(h)
    h = L.SimpleRNN(3, name="simple")(h)
    x0 = np.random.randint(1, 11, (5, 6))
    x0[:, 4:] = 0
    return Model(x, L.Dense(2, activation="sigmoid", name="out")(h), name="tagger"), [x0]


def images():
    x = L.Input((8, 8, 3), name="x")
    h = L.Conv2D(4, 3, padding="same", use_bias=False, kernel_initializer="he_normal", name="conv")(x)
    h = L.BatchNormalization(name="bn")(h)
    h = L.LeakyReLU(0.3, name="leaky")(h)
    h = L.SeparableConv2D(6, 3, padding="same", kernel_regularizer=None, name="separable")(h)
    h = L.PReLU(shared_axes=[1, 2], name="prelu")(h)
    h = L.MaxPooling2D(2, name="pool")(h)
    h = L.Conv2DTranspose(4, 3, strides=2, padding="same", activation="elu", name="up")(h)
    h = L.ThresholdedReLU(0.2, name="threshold")(h)
    h = L.UpSampling2D(2, name="double")(h)
    h = L.ZeroPadding2D(1, name="pad")(h)
    h = L.Cropping2D(2, name="crop")(h)
    h = L.Conv2D(3, (3, 2), strides=2, dilation_rate=1, activation="hard_sigmoid", name="gate")(h)
    h = L.Activation("hard_sigmoid", name="hard")(h)
    h = L.SpatialDropout2D(0.2, name="drop")(h)
    h = L.GlobalAveragePooling2D(name="mean")(h)
    return Model(x, L.Dense(2, kernel_constraint=keras.constraints.max_norm(3.0), name="out")(h), name="images"), [f32(4, 8, 8, 3)]


def shared():
    a, b = L.Input((4,), name="a"), L.Input((4,), name="b")
    i = L.Input((4,), name="i")
    encoder = Model(i, [L.Dense(3, activation="tanh", name="first")(i), L.Dense(3, activation="relu", name="second")(i)], name="encoder")
    head = Sequential([L.Dense(3, activation="relu", input_shape=(3,), name="h1"), L.Dense(2, name="h2")], name="head")
    (fa, sa), (fb, sb) = encoder(a), encoder(b)
    dense = L.Dense(3, name="twice")
    both = L.multiply([dense(fa), dense(fb)], name="product")
    return Model([a, b], [head(both), L.subtract([sa, sb], name="difference"), head(sa)], name="shared"), [f32(5, 4), f32(5, 4)]


def frozen():
    x = L.Input((4,), name="x")
    i = L.Input((4,), name="i")
    h = L.BatchNormalization(name="bn1")(L.Dense(4, name="d1")(i))
    h = L.BatchNormalization(name="bn2")(L.Dense(4, name="d2")(h))
    inner = Model(i, h, name="inner")
    inner.get_layer("d1").trainable = False
    inner.get_layer("bn2").trainable = False
    h = L.Dense(4, name="d3")(inner(x))
    h = L.Dense(4, name="d4", trainable=False)(h)
    return Model(x, L.Dense(4, name="d5")(h), name="frozen"), [f32(5, 4)]


def states():
    x, y = L.Input((5, 3), name="x"), L.Input((4, 3), name="y")
    _, h, c = L.LSTM(4, return_state=True, recurrent_activation="sigmoid", name="encoder")(x)
    decoded = L.LSTM(4, return_sequences=True, name="decoder")(y, initial_state=[h, c])
    return Model([x, y], L.TimeDistributed(L.Dense(2), name="out")(decoded), name="translator"), [f32(3, 5, 3), f32(3, 4, 3)]


def stacked():
    """A Sequential whose first layer is a model, one in it built without a shape."""
    i = L.Input((6, 6, 1), name="i")
    base = Model(i, L.Conv2D(3, 3, name="conv")(i), name="base")
    top = Sequential(name="top")
    top.add(L.Flatten(name="flat", input_shape=(4, 4, 3)))
    top.add(L.Dropout(0.5, name="drop"))
    top.add(L.Dense(3, activation="relu", name="dense"))
    model = Sequential([base, top, L.Dense(2, name="out")], name="stacked") if STACK != "keras209" else None
    if model is None:
        model = Sequential(name="stacked")
        for layer in (base, top, L.Dense(2, name="out")):
            model.add(layer)
    return model, [f32(4, 6, 6, 1)]


class Scale(L.Layer):
    def __init__(self, factor=1.0, **kwargs):
        self.factor = factor
        super(Scale, self).__init__(**kwargs)

    def build(self, input_shape):
        self.gain = self.add_weight(name="gain", shape=(int(input_shape[-1]),), initializer="ones")
        super(Scale, self).build(input_shape)

    def call(self, inputs):
        return inputs * self.gain * self.factor

    def compute_output_shape(self, input_shape):
        return input_shape

    def get_config(self):
        return dict(super(Scale, self).get_config(), factor=self.factor)


def custom():
    x = L.Input((4,), name="x")
    return Model(x, L.Dense(2, name="out")(Scale(2.0, name="scale")(L.Dense(3, name="dense")(x))), name="custom"), [f32(5, 4)]


def own_lambda():
    x = L.Input((4,), name="x")
    return Model(x, L.Dense(2, name="out")(L.Lambda(lambda t: t * 2.0, name="double")(x)), name="doubled"), [f32(5, 4)]


def dense():
    x = L.Input((4,), name="x")
    return Model(x, L.Dense(2, name="out")(L.Dense(3, activation="tanh", name="hidden")(x)), name="dense"), [f32(6, 4)]


def convolutional_lstm():
    x = L.Input((3, 5, 5, 2), name="x")
    return Model(x, L.Flatten(name="flat")(L.ConvLSTM2D(2, 3, name="clstm")(x)), name="video"), [f32(3, 3, 5, 5, 2)]


def bilinear():
    x = L.Input((4, 4, 2), name="x")
    h = L.Conv2D(2, 1, name="conv")(x)
    return Model(x, L.UpSampling2D(2, interpolation="bilinear", name="up")(h), name="bilinear"), [f32(3, 4, 4, 2)]


def slashes():
    """Names as in the DenseNets of keras.applications."""
    x = L.Input((4,), name="in/x")
    h = L.BatchNormalization(name="block1/bn")(L.Dense(3, name="block1/dense")(x))
    return Model(x, L.Dense(2, name="block2/out")(h), name="blocks"), [f32(5, 4)]


def stateful():
    x = L.Input(batch_shape=(4, 5, 3), name="x")
    h = L.LSTM(3, stateful=True, return_sequences=True, name="lstm")(x)
    return Model(x, L.GRU(2, stateful=True, name="gru")(h), name="stateful"), [f32(4, 5, 3)]


def masked_concatenate():
    x = L.Input((6,), name="x")
    h = L.Embedding(11, 4, mask_zero=True, name="words")(x)
    both = [L.LSTM(3, return_sequences=True, go_backwards=backwards, name="lstm_%d" % backwards)(h) for backwards in (0, 1)]
    h = L.SimpleRNN(3, name="simple")(L.Concatenate(name="concatenate")(both))
    x0 = np.random.randint(1, 11, (5, 6))
    x0[:, :2] = 0
    return Model(x, L.Dense(2, name="out")(h), name="masked"), [x0]


def cells():
    x = L.Input((5, 3), name="x")
    h = L.RNN([L.LSTMCell(4), L.SimpleRNNCell(3), L.GRUCell(3)], return_sequences=True, name="stack")(x)
    return Model(x, L.RNN(L.GRUCell(2, use_bias=False), name="single")(h), name="cells"), [f32(4, 5, 3)]


def separable_hard_sigmoid():
    x = L.Input((6, 6, 2), name="x")
    h = L.SeparableConv2D(3, 3, activation="hard_sigmoid", name="biased")(x)
    return Model(x, L.SeparableConv2D(2, 3, activation="hard_sigmoid", use_bias=False, name="plain")(h), name="gate"), [f32(3, 6, 6, 2)]


def locally_connected():
    x = L.Input((4, 2), name="x")
    return Model(x, L.Dense(2, name="out")(L.Flatten()(L.LocallyConnected1D(2, 2, name="local")(x))), name="local"), [f32(3, 4, 2)]


# --- parallel models of other makes -----------------------------------------------------------------------------


def make_parallel(model, gpu_count):
    """After github.com/kuza55/keras-extras, utils/multi_gpu.py (MIT), in Keras 2's words."""

    def get_slice(data, idx, parts):
        shape = tf.shape(data)
        size = tf.concat([shape[:1] // parts, shape[1:]], axis=0)
        stride = tf.concat([shape[:1] // parts, shape[1:] * 0], axis=0)
        return tf.slice(data, stride * idx, size)

    outputs_all = [[] for _ in model.outputs]
    for i in range(gpu_count):
        inputs = []
        for x in model.inputs:
            shape = tuple(x.get_shape().as_list())[1:]
            inputs.append(L.Lambda(get_slice, output_shape=shape, arguments={"idx": i, "parts": gpu_count})(x))
        outputs = model(inputs)
        for number, output in enumerate(outputs if isinstance(outputs, list) else [outputs]):
            outputs_all[number].append(output)
    return Model(model.inputs, [L.concatenate(outputs, axis=0) for outputs in outputs_all])


class ParallelModel(Model):
    """After github.com/matterport/Mask_RCNN, mrcnn/parallel_model.py (MIT).

    There the Lambdas hold tensors, so that only weights could be saved (of the inner model). This one slices inside
    its Lambdas, as later copies of it do, and can be saved whole.
    """

    def __init__(self, keras_model, gpu_count):
        outputs_all = [[] for _ in keras_model.outputs]
        for i in range(gpu_count):
            inputs = [
                L.Lambda(lambda s, i=i, n=gpu_count: tf.split(s, n)[i], output_shape=K.int_shape(x)[1:])(x)
                for x in keras_model.inputs
            ]
            outputs = keras_model(inputs)
            for number, output in enumerate(outputs if isinstance(outputs, list) else [outputs]):
                outputs_all[number].append(output)
        names = ["merged_%d" % number for number in range(len(outputs_all))]
        merged = [L.Concatenate(axis=0, name=name)(outputs) for outputs, name in zip(outputs_all, names)]
        super(ParallelModel, self).__init__(inputs=keras_model.inputs, outputs=merged)


# --- writing ------------------------------------------------------------------------------------------------------


def path(case, kind):
    return os.path.join(OUT, "%s_%s.%s.h5" % (STACK, case, kind))


def as_list(value):
    return list(value) if isinstance(value, (list, tuple)) else [value]


def record(case, model, xs):
    predictions = as_list(model.predict(xs if len(xs) > 1 else xs[0]))
    arrays = {"x_%d" % i: x for i, x in enumerate(xs)}
    arrays.update({"predict_%d" % i: p for i, p in enumerate(predictions)})
    np.savez_compressed(os.path.join(OUT, "%s_%s.npz" % (STACK, case)), **arrays)


def write(case, make, kinds=("parallel", "template"), weights=(), wrap=lambda m: multi_gpu_model(m, gpus=2), loss="mse"):
    fresh()
    np.random.seed(sum(map(ord, case)))
    model, xs = make()
    shake(model)
    parallel = wrap(model) if any(kind.startswith("parallel") for kind in tuple(kinds) + tuple(weights)) else None
    if parallel is not None and not isinstance(parallel, ParallelModel):
        parallel.compile(loss=loss, optimizer="sgd")
    for kind in kinds:
        if kind == "parallel" and isinstance(parallel, ParallelModel):
            Model.save(parallel, path(case, kind))
        else:
            (parallel if kind == "parallel" else model).save(path(case, kind))
    for kind in weights:
        (parallel if kind == "parallel" else model).save_weights(path(case, kind + "_weights"))
    # With `cpu_relocation` the file has the weights of a clone, which no one shook.
    record(case, model if parallel is None or model in parallel.layers else parallel, xs)
    print(STACK, case)


def in_order(optimizer):
    """Let Keras's own optimizers count a step after it was computed.

    They read their counter in no fixed order to its increment, so that Adam's step is that of t or of t + 1.
    """
    updates_of = optimizer.get_updates

    def get_updates(loss, params):
        update_add, counted = K.update_add, []
        K.update_add = lambda x, increment: counted.append((x, increment)) or tf.no_op()
        try:
            updates = updates_of(loss, params)
        finally:
            K.update_add = update_add
        before = [update.op if hasattr(update, "op") else update for update in updates if not isinstance(update, tuple)]
        with tf.control_dependencies(before):
            return updates + [K.update_add(x, increment) for x, increment in counted]

    optimizer.get_updates = get_updates
    return optimizer


def resume(name, **arguments):
    """Save in the middle of training, then train two steps on: what a recovered file must be able to do."""
    fresh()
    np.random.seed(7)
    model, xs = dense()
    shake(model)
    y = f32(6, 2)
    parallel = multi_gpu_model(model, gpus=2)
    optimizer = getattr(keras.optimizers, name)(**arguments)
    parallel.compile(loss="mse", optimizer=optimizer if TF_KERAS else in_order(optimizer))
    for _ in range(3):
        parallel.train_on_batch(xs[0], y)
    case = "resume_" + "_".join([name.lower()] + sorted(key for key in arguments if key not in ("lr", "learning_rate")))
    parallel.save(path(case, "parallel"))
    model.save_weights(path(case, "template_weights"))
    for _ in range(2):
        parallel.train_on_batch(xs[0], y)
    arrays = {"w_after_%d" % i: w for i, w in enumerate(model.get_weights())}
    np.savez_compressed(os.path.join(OUT, "%s_%s.npz" % (STACK, case)), x_0=xs[0], y_0=y, **arrays)
    print(STACK, case)


def cudnn():
    """The layers can be built and saved without a GPU, not run: what they compute, the plain layers tell.

    The stack's own `load_weights` lays the weights out anew for them. So that the graph holds no operation of
    cuDNN (there is no kernel for it on a CPU), the one method that makes it is replaced; weights, config and
    saving are the layers' own.
    """

    def not_run(layer, inputs, initial_state):
        outputs = K.sum(inputs, axis=-1, keepdims=True) * K.zeros((1, 1, layer.units))
        return (outputs if layer.return_sequences else outputs[:, 0]), list(initial_state)

    L.CuDNNLSTM._process_batch = not_run
    L.CuDNNGRU._process_batch = not_run

    def build(lstm, gru):
        x = L.Input((5, 3), name="x")
        h = L.Bidirectional(lstm(4, return_sequences=True), name="both")(x)
        h = gru(3, return_sequences=True, name="gru")(h)
        return Model(x, L.Dense(2, name="out")(lstm(3, name="lstm")(h)), name="cudnn")

    fresh()
    np.random.seed(3)
    fast = build(L.CuDNNLSTM, L.CuDNNGRU)
    fast.set_weights([0.5 * f32(*value.shape) for value in fast.get_weights()])
    parallel = multi_gpu_model(fast, gpus=2)
    parallel.save(path("cudnn", "parallel"))
    fast.save(path("cudnn", "template"))
    fast.save_weights(path("cudnn", "template_weights"))
    fresh()
    plain = build(
        lambda units, **kw: L.LSTM(units, recurrent_activation="sigmoid", **kw),
        lambda units, **kw: L.GRU(units, recurrent_activation="sigmoid", reset_after=True, **kw),
    )
    plain.load_weights(path("cudnn", "template_weights"))
    record("cudnn", plain, [f32(4, 5, 3)])
    print(STACK, "cudnn")


if __name__ == "__main__":
    if not os.path.isdir(OUT):
        os.makedirs(OUT)
    rate = "learning_rate" if TF2 else "lr"
    if STACK == "keras224":
        write("lstm", lstm, weights=("parallel", "template"))
        write("gru_wrappers", gru_wrappers, weights=("parallel",))
        write("images", images, weights=("parallel",))
        write("shared", shared, weights=("parallel", "template"))
        write("frozen", frozen, weights=("parallel", "template"))
        write("states", states)
        write("stacked", stacked)
        write("custom", custom, weights=("parallel",))
        write("own_lambda", own_lambda, weights=("parallel",))
        write("convolutional_lstm", convolutional_lstm, kinds=("parallel",))
        write("bilinear", bilinear, kinds=("template",))
        write("slashes", slashes, weights=("parallel",))
        write("stateful", stateful, kinds=("template",))
        write("masked_concatenate", masked_concatenate, kinds=("template",))
        write("cells", cells, weights=("template",))
        write("separable_hard_sigmoid", separable_hard_sigmoid, kinds=("parallel",))
        write("locally_connected", locally_connected, kinds=("parallel",), wrap=lambda m: multi_gpu_model(m, gpus=2, cpu_relocation=True))
        write("make_parallel", shared, kinds=("parallel",), weights=("parallel",), wrap=lambda m: make_parallel(m, 3))
        write("mask_rcnn", shared, kinds=("parallel",), wrap=lambda m: ParallelModel(m, 2))
        write("cpu_relocation", dense, kinds=(), weights=())
        fresh()
        np.random.seed(5)
        model, xs = dense()
        parallel = multi_gpu_model(model, gpus=2, cpu_relocation=True)
        shake(parallel)
        parallel.save(path("cpu_relocation", "parallel"))
        parallel.save_weights(path("cpu_relocation", "parallel_weights"))
        record("cpu_relocation", parallel, xs)
        write("twice", shared, weights=("parallel",), kinds=("parallel",), wrap=lambda m: multi_gpu_model(multi_gpu_model(m, 2), 3))
        cudnn()
        resume("SGD", lr=0.1, momentum=0.9, nesterov=True, decay=0.1)
        resume("SGD", lr=0.5, clipnorm=0.1)
        resume("Adam", lr=0.05)
        resume("RMSprop", lr=0.01)
        resume("Adagrad", lr=0.05)
        resume("Adadelta")
        resume("Adamax", lr=0.02)
    elif STACK in ("keras209", "keras216", "keras231"):
        # The parallel model of Keras 2.0 and 2.1 could not be saved, only its weights: its Lambdas hold a module.
        kind = "parallel" if STACK == "keras231" else "template"
        write("lstm", lstm, kinds=(kind,), weights=("parallel",))
        write("gru_wrappers", gru_wrappers, kinds=(kind,))
        write("images", images, kinds=(kind,), weights=("parallel",) if kind == "template" else ())
        write("shared", shared, kinds=(kind,), weights=("parallel",) if STACK == "keras209" else ())
        write("states", states, kinds=("template",))
        write("stacked", stacked, kinds=(kind,))
        if STACK == "keras231":
            resume("Adam", lr=0.05)
    elif STACK == "tf1132":
        write("lstm", lstm)
        write("gru_wrappers", gru_wrappers, kinds=("parallel",))
        write("images", images, weights=("parallel",))
        write("states", states, kinds=("template",))
        write("stacked", stacked)
        resume("Adam", lr=0.05)
    else:
        write("lstm", lstm)
        write("gru_wrappers", gru_wrappers, weights=("parallel",))
        write("images", images, weights=("parallel",))
        write("shared", shared)
        write("frozen", frozen, weights=("parallel", "template"))
        write("states", states, kinds=("template",))
        write("stacked", stacked)
        write("bilinear", bilinear, kinds=("template",))
        resume("SGD", learning_rate=0.1, momentum=0.9, nesterov=True, decay=0.1)
        resume("SGD", learning_rate=0.5, clipnorm=0.1)
        resume("Adam", learning_rate=0.05)
        resume("RMSprop", learning_rate=0.01)
        resume("Adagrad", learning_rate=0.05)
