"""Random scripts of seeds above `FIRST`: rows of a table of the public interface, their arguments drawn one by one.

The other generators write trainings as users do, and know what follows from each choice. This one knows little: a row is
a call, what it may be called on, and what each argument may be. A script has some parts, each a function of its own
state; what a part cannot do on the real stack (`refused`) is no fact of the era, and not compared.

Seeds from `ONE_ANSWER` (2300) on ask for nothing that has no one answer on the real stack itself, so that each number
that differs is this package's: no weight keeps what an initializer drew without a seed, a tensor of a graph that has no
value is refused, a generator that a thread reads ahead yields the same batch again and again, no moving statistics are
updated twice side by side, and no gradient is made of rounding errors alone (a bias before a BatchNormalization, one
of channels that are all alike). The texts of the seeds below stay as they were.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .random_scripts import RandomScript

FIRST = 2000
WIDER = 2100  # seeds from here on ask for more of the interface; the texts of those below are recorded
ONE_ANSWER = 2300  # seeds from here on ask for what has one answer on the real stack alone

START = '''
def part(function):
    """Note what a part returns; or that it is refused."""
    K.clear_session()
    np.random.seed(SEED)
    random.seed(SEED)
    try:
        note(function.__name__, function())
    except Exception as error:
        RESULT[function.__name__] = {"refused": "%s: %s" % (type(error).__name__, str(error)[:300])}


def drawn(shape, whole=0):
    """Return an array of this shape, of whole numbers below `whole` if there is one."""
    draw = np.random.RandomState(SEED + len(shape))
    return draw.randint(0, whole, shape) if whole else draw.normal(size=shape).astype("float32")


def weights_of(model):
    return [[w.shape, w] for w in model.get_weights()]

'''

# `start` of the seeds from `ONE_ANSWER` on: a bias keeps what an initializer says, but not what it draws.
START_OF_ONE_ANSWER = '''
def said(w):
    """Return weights of one axis without the values that are drawn."""
    return np.where(np.isin(w, np.float32([0, 1, 2, 0.3])), w, 0)


def start(model, seed=SEED):
    """Give a model weights that depend on its order of weights, their shapes and their constant values alone."""
    draw = np.random.RandomState(seed)
    model.set_weights(
        [draw.normal(0, 0.4, w.shape) if w.ndim > 1 else said(w) + draw.uniform(-0.1, 0.1, w.shape) for w in model.get_weights()]
    )
    return model

'''

# ---- the table: what an argument may be -----------------------------------------------------------------------------

ACTIVATIONS = ("'relu'", "'tanh'", "'softmax'", "'elu'", "'selu'", "'softplus'", "'softsign'", "'sigmoid'",
               "'hard_sigmoid'", "'linear'", "None", "K.tanh", "activations.softsign", "lambda t: t * K.sigmoid(t)")  # fmt: skip
REGULARIZERS = ("'l1'", "'l2'", "regularizers.l1_l2(0.01, 0.02)", "regularizers.l1(0.01)", "regularizers.l2(l=0.03)",
                "'l1_l2'", "lambda w: 0.01 * K.sum(K.square(w))")  # fmt: skip
CONSTRAINTS = ("'max_norm'", "'non_neg'", "'unit_norm'", "'min_max_norm'", "constraints.MaxNorm(0.5, axis=0)",
               "constraints.UnitNorm(axis=0)", "constraints.MinMaxNorm(0.1, 0.4, rate=0.5, axis=0)",
               "constraints.NonNeg()", "lambda w: w * K.cast(w > 0, 'float32')")  # fmt: skip
INITIALIZERS = ("'ones'", "'zeros'", "initializers.Constant(0.3)", "'orthogonal'", "'lecun_normal'", "'he_uniform'",
                "initializers.VarianceScaling(2.0, 'fan_avg', 'normal')", "initializers.TruncatedNormal(0.0, 0.1)")  # fmt: skip
YES, NO = ("True",), ("False",)


def of_weights(*names: str) -> dict[str, tuple[str, ...]]:
    """Return what may be said of weights of these names."""
    return {
        f"{name}_{kind}": values
        for name in names
        for kind, values in (("regularizer", REGULARIZERS), ("constraint", CONSTRAINTS), ("initializer", INITIALIZERS))
    }


PADDING = ("'same'", "'valid'")
FORMAT = ("'channels_first'", "'channels_last'")
CONVOLUTION: dict[str, tuple[str, ...]] = {
    "activation": ACTIVATIONS, "use_bias": NO, "padding": PADDING, "activity_regularizer": REGULARIZERS,
    "data_format": FORMAT, "name": ("'own'",), "trainable": NO,
}  # fmt: skip
KERNEL = {**CONVOLUTION, **of_weights("kernel", "bias")}
DEPTH = {**CONVOLUTION, **of_weights("depthwise", "bias"), "depth_multiplier": ("2",)}
POOL = {"padding": PADDING, "data_format": FORMAT}
RECURRENT: dict[str, tuple[str, ...]] = {
    "activation": ACTIVATIONS[:-1], "use_bias": NO, "return_sequences": YES, "return_state": YES, "go_backwards": YES,
    "unroll": YES, "activity_regularizer": REGULARIZERS, "dropout": ("0.",), "recurrent_dropout": ("0.",),
    **of_weights("kernel", "recurrent", "bias"),
}  # fmt: skip
GATED = {**RECURRENT, "implementation": ("1", "2"), "recurrent_activation": ("'sigmoid'", "'hard_sigmoid'", "'tanh'")}
GRU = {**GATED, "reset_after": ("True", "False")}
LSTM = {**GATED, "unit_forget_bias": NO}
STRIDES_2 = ("2", "(2, 1)", "(1, 2)")
CONV_LSTM = {
    **LSTM, "padding": PADDING, "data_format": FORMAT, "strides": ("2", "(2, 1)"), "dilation_rate": ("2", "(1, 2)"),
}  # fmt: skip
for _each in ("unroll", "implementation"):
    del CONV_LSTM[_each]
WRAPPED = ("L.LSTM(2)", "L.GRU(3, return_sequences=True)", "L.SimpleRNN(2, activation='relu')",
           "L.LSTM(2, return_sequences=True, go_backwards=True)", "L.RNN(L.GRUCell(2), return_sequences=True)",
           "L.RNN([L.LSTMCell(2), L.GRUCell(3)])", "L.LSTM(2, return_state=True)",
           "L.GRU(2, return_sequences=True, return_state=True)")  # fmt: skip
IN_TIME = ("L.Dense(3, activation='tanh')", "L.Dense(2, kernel_regularizer='l2')", "L.Activation('softmax')",
           "L.BatchNormalization()", "L.Lambda(lambda t: t * 2)", "L.Dropout(0.)",
           "models.Sequential([L.Dense(4, activation='relu', input_shape=(3,)), L.Dense(2)])")  # fmt: skip
PICTURE_IN_TIME = ("L.Conv2D(2, 2)", "L.MaxPooling2D()", "L.Flatten()", "L.GlobalAveragePooling2D()",
                   "L.Conv2DTranspose(2, 2)", "L.DepthwiseConv2D(2)", "L.SeparableConv2D(2, 2)")  # fmt: skip

# A call, the shape of its input (whole numbers for `Embedding`), its arguments; "=" is what stands without a name.
LAYERS: tuple[tuple[str, tuple[int, ...], dict[str, tuple[str, ...]]], ...] = (
    ("Dense(3", (4,), {k: v for k, v in KERNEL.items() if k not in ("padding", "data_format")}),
    ("Dense(3", (3, 4), {k: v for k, v in KERNEL.items() if k not in ("padding", "data_format")}),
    ("Dense(2", (2, 3, 4), {"activation": ACTIVATIONS, "use_bias": NO}),
    ("Activation(", (3, 4), {"=": ACTIVATIONS}),
    ("Flatten(", (2, 3, 4), {"data_format": FORMAT}),
    ("Reshape(", (4, 3), {"=": ("(-1,)", "(2, -1)", "(6, 2)", "(-1, 2, 3)", "target_shape=(3, 4)")}),
    ("Permute(", (2, 3, 4), {"=": ("(2, 1, 3)", "(3, 1, 2)", "dims=(1, 3, 2)")}),
    ("RepeatVector(", (4,), {"=": ("3", "n=2", "1")}),
    ("Lambda(", (3, 4), {"=": (
        "lambda t: K.mean(t, axis=1)", "lambda t: t[:, 0]", "lambda t: K.reverse(t, 1)", "lambda t: K.l2_normalize(t, -1)",
        "lambda t: K.sum(t, -1, keepdims=True)", "lambda t: K.permute_dimensions(t, (0, 2, 1))", "K.softmax",
        "lambda t: K.expand_dims(t, 1)", "lambda t: K.batch_dot(t, t, axes=(2, 2))", "lambda t: K.max(t, axis=(1, 2))",
        "lambda t: K.concatenate([t, -t], axis=1)", "lambda t: K.repeat_elements(t, 2, axis=1)", "lambda t: t ** 2",
        "lambda t: K.cumsum(t, axis=1)", "lambda t: K.stack([t, t], axis=1)", "lambda t: K.std(t, axis=-1)",
        "lambda t: K.switch(t > 0, t, K.zeros_like(t))", "lambda t: K.reshape(t, (-1, 12))", "lambda t: -t[:, ::-1, 1:3]",
        "lambda t: K.one_hot(K.argmax(t, -1), 4) * t", "lambda t: K.logsumexp(t, axis=1)", "lambda t: K.var(t, axis=1)",
        "lambda t, k: t * k, arguments={'k': 3}", "lambda t: t / K.sqrt(K.maximum(K.sum(t * t, -1, True), 1e-6))",
        "lambda t: K.dot(t, K.constant(np.ones((4, 2))))", "lambda t: K.tile(t, (1, 2, 1))", "lambda t: 1 - t",
        "lambda t: K.map_fn(lambda u: u * 2, t)", "lambda t: K.resize_images(K.expand_dims(t), 2, 2, 'channels_last')",
        "lambda t: K.temporal_padding(t, (1, 2))", "lambda t: K.relu(t, alpha=0.1, max_value=0.5)",
        "lambda t: K.gather(K.transpose(K.flatten(t)), K.constant([0, 2], dtype='int32'))")}),
    ("ActivityRegularization(", (4,), {"l1": ("0.1", "0."), "l2": ("0.2",)}),
    ("Masking(", (4, 3), {"mask_value": ("0.", "1.5")}),
    ("LeakyReLU(", (3, 4), {"alpha": ("0.1", "0.5")}),
    ("PReLU(", (3, 4), {"alpha_initializer": INITIALIZERS[:3], "alpha_regularizer": REGULARIZERS,
                       "alpha_constraint": CONSTRAINTS, "shared_axes": ("[1]", "[2]", "[1, 2]", "1")}),
    ("ELU(", (4,), {"alpha": ("0.5", "2.")}),
    ("ThresholdedReLU(", (4,), {"theta": ("0.5", "0.1")}),
    ("Softmax(", (3, 4), {"axis": ("1", "-1", "2")}),
    ("ReLU(", (4,), {"max_value": ("0.5", "6"), "negative_slope": ("0.2",), "threshold": ("0.1", "0.3")}),
    ("BatchNormalization(", (4,), {
        "axis": ("-1", "1"), "momentum": ("0.5", "0.9"), "epsilon": ("0.01",), "center": NO, "scale": NO,
        **of_weights("beta", "gamma"), "moving_mean_initializer": ("'ones'",), "trainable": NO, "renorm": YES,
        "moving_variance_initializer": ("initializers.Constant(2.0)",), "virtual_batch_size": ("2",)}),
    ("BatchNormalization(", (3, 4, 2), {
        "axis": ("-1", "1", "2", "3", "[1, 3]"), "momentum": ("0.5", "0.9"), "center": NO, "scale": NO,
        "fused": ("True", "False"), "renorm": YES, "epsilon": ("0.01",), "gamma_initializer": ("'zeros'",)}),
    ("LayerNormalization(", (3, 4), {"axis": ("-1", "1", "[1, 2]"), "epsilon": ("0.1",), "center": NO, "scale": NO}),
    ("Dropout(", (3, 4), {"=": ("0.",), "noise_shape": ("(None, 1, 4)",), "seed": ("3",)}),
    ("SpatialDropout1D(", (3, 4), {"=": ("0.",)}),
    ("SpatialDropout2D(", (3, 4, 2), {"=": ("0.",), "data_format": FORMAT}),
    ("SpatialDropout3D(", (2, 3, 4, 2), {"=": ("0.",), "data_format": FORMAT}),
    ("GaussianNoise(", (4,), {"=": ("0.",)}),
    ("AlphaDropout(", (4,), {"=": ("0.",), "seed": ("1",)}),
    ("Conv1D(3, 2", (7, 2), {**KERNEL, "strides": ("2", "3"), "dilation_rate": ("2",), "padding": ("'causal'", "'same'")}),
    ("Conv1D(3, 3", (7, 2), {**KERNEL, "padding": ("'causal'", "'same'"), "dilation_rate": ("2",)}),
    ("Conv2D(4, 2", (6, 5, 2), {**KERNEL, "strides": STRIDES_2, "dilation_rate": ("2", "(1, 2)")}),
    ("Conv2D(4, (3, 2)", (6, 6, 2), {**KERNEL, "strides": STRIDES_2, "dilation_rate": ("2", "(2, 1)")}),
    ("Conv3D(2, 2", (4, 4, 5, 2), {**KERNEL, "strides": ("2", "(1, 2, 1)"), "dilation_rate": ("2",)}),
    ("Conv2DTranspose(3, 2", (4, 3, 2), {**KERNEL, "strides": ("2", "(2, 2)", "(2, 1)"), "output_padding": ("1", "(1, 0)"),
                                        "dilation_rate": ("2",)}),
    ("Conv2DTranspose(3, (3, 2)", (4, 3, 2), {**KERNEL, "strides": ("2", "(3, 2)")}),
    ("Conv3DTranspose(2, 2", (2, 3, 2, 2), {**KERNEL, "strides": ("2",), "output_padding": ("1",)}),
    ("SeparableConv1D(3, 2", (7, 2), {**DEPTH, **of_weights("pointwise"), "strides": ("2",), "dilation_rate": ("2",)}),
    ("SeparableConv2D(3, 2", (6, 5, 2), {**DEPTH, **of_weights("pointwise"), "strides": ("2",), "dilation_rate": ("2",)}),
    ("DepthwiseConv2D(2", (6, 5, 2), {**DEPTH, "strides": ("2",), "dilation_rate": ("2",)}),
    ("LocallyConnected1D(2, 2", (5, 2), {**KERNEL, "strides": ("2",), "implementation": ("1", "2", "3")}),
    ("LocallyConnected2D(2, 2", (4, 5, 2), {**KERNEL, "strides": ("2", "(1, 2)"), "implementation": ("1", "2", "3")}),
    ("MaxPooling1D(", (6, 2), {**POOL, "pool_size": ("3",), "strides": ("1", "2")}),
    ("AveragePooling1D(", (7, 2), {**POOL, "pool_size": ("3",), "strides": ("1", "2")}),
    ("MaxPooling2D(", (6, 5, 2), {**POOL, "pool_size": ("3", "(2, 3)"), "strides": STRIDES_2}),
    ("AveragePooling2D(", (6, 5, 2), {**POOL, "pool_size": ("3", "(2, 3)"), "strides": STRIDES_2}),
    ("MaxPooling3D(", (4, 5, 4, 2), {**POOL, "pool_size": ("3", "(2, 1, 2)"), "strides": ("1",)}),
    ("AveragePooling3D(", (4, 5, 4, 2), {**POOL, "pool_size": ("3", "(2, 1, 2)"), "strides": ("1",)}),
    ("GlobalMaxPooling1D(", (4, 3), {"data_format": FORMAT}),
    ("GlobalAveragePooling1D(", (4, 3), {"data_format": FORMAT}),
    ("GlobalMaxPooling2D(", (4, 3, 2), {"data_format": FORMAT}),
    ("GlobalAveragePooling2D(", (4, 3, 2), {"data_format": FORMAT}),
    ("GlobalMaxPooling3D(", (2, 4, 3, 2), {"data_format": FORMAT}),
    ("GlobalAveragePooling3D(", (2, 4, 3, 2), {"data_format": FORMAT}),
    ("UpSampling1D(", (3, 2), {"size": ("3", "2")}),
    ("UpSampling2D(", (3, 4, 2), {"size": ("3", "(1, 2)"), "interpolation": ("'bilinear'", "'nearest'"), "data_format": FORMAT}),
    ("UpSampling3D(", (2, 3, 2, 2), {"size": ("(1, 2, 3)",), "data_format": FORMAT}),
    ("Cropping1D(", (5, 2), {"=": ("1", "(1, 2)", "cropping=(0, 1)")}),
    ("Cropping2D(", (5, 6, 2), {"=": ("1", "(1, 2)", "((1, 0), (2, 1))"), "data_format": FORMAT}),
    ("Cropping3D(", (4, 5, 4, 2), {"=": ("1", "(1, 2, 1)", "((1, 0), (0, 1), (1, 1))"), "data_format": FORMAT}),
    ("ZeroPadding1D(", (3, 2), {"padding": ("2", "(1, 0)")}),
    ("ZeroPadding2D(", (3, 2, 2), {"padding": ("2", "(1, 0)", "((1, 0), (0, 2))"), "data_format": FORMAT}),
    ("ZeroPadding3D(", (2, 3, 2, 2), {"padding": ("2", "((1, 0), (0, 2), (1, 1))"), "data_format": FORMAT}),
    ("Embedding(9, 3", (5,), {**of_weights("embeddings"), "mask_zero": YES, "input_length": ("5",), "trainable": NO}),
    ("SimpleRNN(3", (4, 2), RECURRENT),
    ("GRU(3", (4, 2), GRU),
    ("GRU(3", (4, 2), GRU),
    ("LSTM(3", (4, 2), LSTM),
    ("LSTM(3", (4, 2), LSTM),
    ("ConvLSTM2D(2, 2", (3, 4, 5, 2), CONV_LSTM),
    ("ConvLSTM2D(2, 3", (3, 5, 5, 1), CONV_LSTM),
    ("RNN(", (4, 2), {
        "=": ("L.LSTMCell(3)", "L.GRUCell(2, reset_after=True)", "[L.GRUCell(2), L.LSTMCell(3)]",
              "L.SimpleRNNCell(2, recurrent_regularizer='l2')", "L.StackedRNNCells([L.LSTMCell(2), L.LSTMCell(3)])",
              "L.GRUCell(3, implementation=2, recurrent_activation='tanh')", "L.LSTMCell(2, unit_forget_bias=False)"),
        "return_sequences": YES, "return_state": YES, "go_backwards": YES, "unroll": YES}),
    ("Bidirectional(", (4, 3), {"=": WRAPPED, "merge_mode": ("'sum'", "'mul'", "'ave'", "'concat'", "None")}),
    ("TimeDistributed(", (4, 3), {"=": IN_TIME}),
    ("TimeDistributed(", (2, 4, 5, 1), {"=": PICTURE_IN_TIME}),
    ("TimeDistributed(L.Bidirectional(", (2, 4, 3), {"=": ("L.LSTM(2))", "L.GRU(2), merge_mode='sum')")}),
    ("CuDNNLSTM(2", (4, 3), {}),
    ("MaxPool2D(", (4, 4, 1), {}),
    ("GlobalAvgPool2D(", (4, 4, 1), {}),
    ("Convolution1D(2, 3", (5, 2), {"activation": ACTIVATIONS}),
)  # fmt: skip

MERGES = (
    "add", "subtract", "multiply", "average", "maximum", "minimum", "concatenate", "dot",
)  # fmt: skip
OPTIMIZERS: dict[str, dict[str, tuple[str, ...]]] = {
    "SGD": {"lr": ("0.1", "0.5"), "momentum": ("0.9", "0.0"), "nesterov": ("True", "False"), "decay": ("0.5", "1e-2")},
    "RMSprop": {"lr": ("0.1",), "rho": ("0.5",), "epsilon": ("0.1", "None", "1e-7"), "decay": ("0.5",)},
    "Adagrad": {"lr": ("0.1",), "epsilon": ("0.1", "None"), "decay": ("0.5",)},
    "Adadelta": {"lr": ("1.0", "3"), "rho": ("0.5",), "epsilon": ("0.1", "None"), "decay": ("0.5",)},
    "Adam": {"lr": ("0.1",), "beta_1": ("0.5", "0."), "beta_2": ("0.9",), "epsilon": ("0.1", "None"), "decay": ("0.5",),
             "amsgrad": YES},
    "Adamax": {"lr": ("0.1",), "beta_1": ("0.5",), "beta_2": ("0.9",), "epsilon": ("0.1", "None"), "decay": ("0.5",)},
    "Nadam": {"lr": ("0.1",), "beta_1": ("0.5",), "beta_2": ("0.9",), "epsilon": ("0.1",), "schedule_decay": ("0.1",)},
    "Ftrl": {"learning_rate": ("0.1",), "learning_rate_power": ("-0.3",), "l1_regularization_strength": ("0.1",),
             "l2_regularization_strength": ("0.2",), "l2_shrinkage_regularization_strength": ("0.1",)},
}  # fmt: skip
SCHEDULES = (
    "optimizers.schedules.ExponentialDecay(0.1, 2, 0.5)", "optimizers.schedules.ExponentialDecay(0.1, 3, 0.5, True)",
    "optimizers.schedules.PiecewiseConstantDecay([2, 4], [0.1, 0.05, 0.2])",
    "optimizers.schedules.PolynomialDecay(0.1, 4, 0.01, power=2.0)", "optimizers.schedules.InverseTimeDecay(0.1, 2, 0.5)",
    "optimizers.schedules.PolynomialDecay(0.1, 2, 0.01, cycle=True)",
)  # fmt: skip
# Losses and metrics by what their targets are: positive numbers below 1, rows of classes, classes, bits, -1 and 1.
LOSSES = {
    "number": ("mse", "mae", "mape", "msle", "mean_squared_error", "mean_absolute_error", "logcosh", "poisson", "kld",
               "MSE", "MAE", "MAPE", "MSLE", "KLD", "mean_absolute_percentage_error", "kullback_leibler_divergence",
               "mean_squared_logarithmic_error", "cosine_proximity", "cosine", "cosine_similarity", "huber_loss"),
    "classes": ("categorical_crossentropy", "categorical_hinge", "mse", "kullback_leibler_divergence"),
    "class": ("sparse_categorical_crossentropy",),
    "bit": ("binary_crossentropy", "mse", "poisson"),
    "sign": ("hinge", "squared_hinge"),
}  # fmt: skip
LOSS_OBJECTS = {
    "number": ("MeanSquaredError", "MeanAbsoluteError", "MeanAbsolutePercentageError", "MeanSquaredLogarithmicError",
               "LogCosh", "Huber", "Poisson", "KLDivergence", "CosineSimilarity"),
    "classes": ("CategoricalCrossentropy", "CategoricalHinge"),
    "class": ("SparseCategoricalCrossentropy",),
    "bit": ("BinaryCrossentropy",),
    "sign": ("Hinge", "SquaredHinge"),
}  # fmt: skip
LOSS_ARGUMENTS = {
    "reduction": ("R.SUM", "R.NONE", "R.AUTO", "R.SUM_OVER_BATCH_SIZE"),
    "name": ("'own'",),
    "from_logits": YES,
    "label_smoothing": ("0.2",),
    "delta": ("0.3",),
}
METRICS = {
    "number": ("mse", "mae", "mape", "msle", "logcosh", "cosine_proximity", "cosine_similarity", "kld", "poisson", "MSE",
               "accuracy", "acc"),
    "classes": ("accuracy", "acc", "categorical_accuracy", "categorical_crossentropy", "top_k_categorical_accuracy",
                "binary_accuracy", "mse", "kullback_leibler_divergence", "crossentropy", "ce"),
    "class": ("accuracy", "acc", "sparse_categorical_accuracy", "sparse_categorical_crossentropy", "crossentropy",
              "sparse_top_k_categorical_accuracy"),
    "bit": ("accuracy", "acc", "binary_accuracy", "binary_crossentropy", "mse", "hinge", "ce"),
    "sign": ("hinge", "squared_hinge", "mae"),
}  # fmt: skip
METRIC_OBJECTS = {
    "number": ("MeanSquaredError()", "RootMeanSquaredError()", "MeanAbsolutePercentageError()", "LogCoshError()",
               "CosineSimilarity(axis=-1)", "Poisson()", "KLDivergence()", "MeanRelativeError([0.5, 1.0, 2.0])",
               "MeanSquaredLogarithmicError(name='log')"),
    "classes": ("CategoricalAccuracy()", "TopKCategoricalAccuracy(k=2)", "CategoricalCrossentropy(label_smoothing=0.1)",
                "Precision(top_k=1)", "Recall(class_id=0)", "CategoricalHinge()", "Precision(thresholds=[0.3, 0.6])",
                "AUC(curve='PR', num_thresholds=9)", "FalsePositives(thresholds=0.3)"),
    "class": ("SparseCategoricalAccuracy()", "SparseTopKCategoricalAccuracy(k=2)", "SparseCategoricalCrossentropy()"),
    "bit": ("BinaryAccuracy(threshold=0.6)", "AUC()", "AUC(num_thresholds=7, summation_method='majoring')", "Precision()",
            "Recall(thresholds=[0.2, 0.7])", "TruePositives()", "TrueNegatives()", "FalsePositives(thresholds=[0.4])",
            "FalseNegatives()", "SensitivityAtSpecificity(0.4, num_thresholds=9)", "BinaryCrossentropy()",
            "SpecificityAtSensitivity(0.4, num_thresholds=9)", "MeanIoU(num_classes=2)"),
    "sign": ("Hinge()", "SquaredHinge(name='h')"),
}  # fmt: skip
TARGETS = {
    "number": ("L.Dense(2, activation='sigmoid')", "np.random.RandomState(1).uniform(0.1, 0.9, (13, 2))"),
    "classes": ("L.Dense(3, activation='softmax')", "np.eye(3)[drawn((13,), 3)]"),
    "class": ("L.Dense(3, activation='softmax')", "drawn((13, 1), 3)"),
    "bit": ("L.Dense(1, activation='sigmoid')", "drawn((13, 1), 2)"),
    "sign": ("L.Dense(1, activation='tanh')", "drawn((13, 1), 2) * 2. - 1"),
}

# Functions of the backend, of `a` (3, 4), `b` (4, 2), `c` (2, 3, 4), `i` (3,) whole, `p` (3, 4) in (0, 1).
BACKEND = (
    "K.dot(a, b)", "K.dot(c, b)", "K.batch_dot(c, c, axes=2)", "K.batch_dot(c, c, axes=[1, 1])", "K.transpose(a)",
    "K.gather(b, i)", "K.max(a, 0)", "K.min(a, axis=-1, keepdims=True)", "K.sum(c, axis=[0, 2])", "K.prod(a, axis=1)",
    "K.cumsum(a, axis=1)", "K.cumprod(a)", "K.var(a)", "K.std(a, axis=0)", "K.mean(c, axis=(0, 1))", "K.any(a > 1, axis=0)",
    "K.all(a > -1)", "K.argmax(a)", "K.argmin(a, axis=0)", "K.square(a)", "K.abs(a)", "K.sqrt(a)", "K.exp(a)", "K.log(p)",
    "K.logsumexp(a, axis=1)", "K.round(a)", "K.sign(a)", "K.pow(p, 3)", "K.clip(a, -0.5, 0.5)", "K.equal(i, 1)",
    "K.not_equal(a, a)", "K.greater(a, 0)", "K.less_equal(a, p)", "K.maximum(a, p)", "K.minimum(a, 0.1)", "K.sin(a)",
    "K.cos(a)", "K.normalize_batch_in_training(a, K.ones((4,)), K.zeros((4,)), [0])[0]", "K.in_train_phase(a, p)",
    "K.batch_normalization(a, K.mean(a, 0), K.var(a, 0), K.zeros((4,)), K.ones((4,)))", "K.concatenate([a, p])",
    "K.concatenate([a, p], axis=0)", "K.reshape(c, (2, -1))", "K.permute_dimensions(c, (2, 0, 1))", "K.in_test_phase(a, p)",
    "K.resize_images(K.reshape(c, (1, 2, 3, 4)), 2, 3, 'channels_last')", "K.resize_volumes(K.reshape(c, (1, 1, 2, 3, 4)), "
    "1, 2, 2, 'channels_last')", "K.repeat_elements(a, 2, axis=0)", "K.repeat(a, 3)", "K.arange(5)", "K.arange(2, 9, 3)",
    "K.tile(a, [2, 1])", "K.tile(b, (1, 2))", "K.flatten(c)", "K.batch_flatten(c)", "K.expand_dims(a, 1)", "K.softplus(a)",
    "K.squeeze(K.expand_dims(a, 0), 0)", "K.temporal_padding(c, (1, 0))", "K.stack([a, p], axis=1)", "K.softsign(a)",
    "K.spatial_2d_padding(K.expand_dims(c), ((1, 0), (0, 2)))", "K.one_hot(i, 4)", "K.reverse(c, axes=(1, 2))",
    "K.relu(a, alpha=0.2, max_value=1., threshold=0.1)", "K.relu(a)", "K.elu(a, 0.5)", "K.softmax(a)", "K.softmax(c, axis=1)",
    "K.categorical_crossentropy(K.one_hot(i, 4), p)", "K.categorical_crossentropy(K.one_hot(i, 4), a, from_logits=True)",
    "K.sparse_categorical_crossentropy(i, p)", "K.sparse_categorical_crossentropy(i, a, from_logits=True)", "K.tanh(a)",
    "K.binary_crossentropy(K.round(p), p)", "K.binary_crossentropy(K.round(p), a, from_logits=True)", "K.sigmoid(a)",
    "K.hard_sigmoid(a)", "K.l2_normalize(a, axis=1)", "K.in_top_k(p, i, 2)", "K.conv1d(c, K.ones((2, 4, 3)), padding='causal')",
    "K.conv2d(K.expand_dims(c), K.ones((2, 2, 1, 2)), padding='same')", "K.pool2d(K.expand_dims(c), (2, 2), pool_mode='avg')",
    "K.conv2d_transpose(K.expand_dims(c), K.ones((2, 2, 3, 1)), (2, 4, 5, 3))", "K.bias_add(c, K.ones((4,)))",
    "K.depthwise_conv2d(K.expand_dims(c), K.ones((2, 2, 1, 2)))", "K.map_fn(lambda t: t * 2, a)", "K.cast(a, 'int32')",
    "K.foldl(lambda s, t: s + t, a)", "K.foldr(lambda s, t: s - t, a)", "K.zeros_like(a)", "K.ones_like(c)", "K.eye(3)",
    "K.switch(K.constant(1.) > 0, a, -a)", "K.switch(a > 0, a, p)", "K.ndim(c)", "K.int_shape(c)", "K.dtype(i)", "K.epsilon()",
    "K.eval(K.shape(c))", "K.count_params(b)", "K.is_sparse(a)", "K.floatx()", "K.image_data_format()", "K.identity(a)",
    "K.conv3d(K.reshape(c, (1, 2, 3, 4, 1)), K.ones((1, 2, 2, 1, 2)))", "K.separable_conv2d(K.reshape(c, (2, 3, 4, 1)), "
    "K.ones((2, 2, 1, 2)), K.ones((1, 1, 2, 3)))", "K.ctc_decode(K.softmax(c), K.constant([3, 2], dtype='int32'))[0][0]",
    "K.ctc_batch_cost(K.constant([[1, 0], [2, 1]]), K.softmax(c), K.constant([[3], [3]]), K.constant([[1], [1]]))",
    "K.rnn(lambda x, s: (x + s[0], [x + s[0]]), c, [K.zeros((2, 4))])[0]", "K.get_value(K.update_add(K.variable(1.), 2.))",
    "K.moving_average_update(K.variable([1.]), K.constant([2.]), 0.9)", "K.local_conv2d(K.expand_dims(c), K.ones((6, 4, 2)), "
    "(2, 2), (1, 1), (2, 3))", "K.pool3d(K.reshape(c, (1, 2, 3, 4, 1)), (1, 2, 2))", "K.dropout(a, 0.)", "K.truncated_normal((2,)).shape",
)  # fmt: skip
FUNCTIONS = (
    *(f"activations.{name}(a)" for name in ("softmax", "elu", "selu", "softplus", "softsign", "relu", "tanh", "sigmoid",
                                            "hard_sigmoid", "exponential", "linear")),
    "activations.relu(a, alpha=0.1, max_value=0.8, threshold=0.2)", "activations.elu(a, 0.3)", "activations.softmax(c, axis=1)",
    *(f"losses.{name}(p, a)" for name in ("mse", "mae", "mape", "msle", "hinge", "squared_hinge", "categorical_hinge",
                                          "logcosh", "kld", "poisson", "cosine_proximity", "cosine_similarity")),
    *(f"losses.{name}(K.round(p), p)" for name in ("binary_crossentropy", "categorical_crossentropy")),
    "losses.sparse_categorical_crossentropy(i, p)", "losses.categorical_crossentropy(K.one_hot(i, 4), p, label_smoothing=0.1)",
    "losses.get('mse')(p, a)", "losses.categorical_crossentropy(K.one_hot(i, 4), a, from_logits=True)",
    *(f"metrics.{name}(K.one_hot(i, 4), p)" for name in ("categorical_accuracy", "binary_accuracy", "categorical_crossentropy",
                                                         "binary_crossentropy", "mse", "mae", "top_k_categorical_accuracy")),
    "metrics.top_k_categorical_accuracy(K.one_hot(i, 4), p, k=2)", "metrics.sparse_categorical_accuracy(i, p)",
    "metrics.sparse_top_k_categorical_accuracy(i, p, k=2)", "metrics.binary_accuracy(K.round(p), p, threshold=0.3)",
    *(f"{text}(K.variable(b))" for text in REGULARIZERS if text.startswith("reg")),
    *(f"{text}(K.identity(b))" for text in CONSTRAINTS if text.startswith("con")), "constraints.get('max_norm')(K.identity(b))",
    "initializers.Identity(gain=2.)((3, 3))", "initializers.Constant(2)((2, 3))", "initializers.get('ones')((2,))",
    "initializers.Orthogonal(seed=1)((3, 3)).shape", "utils.to_categorical([1, 0, 2])", "utils.normalize(drawn((3, 4)), axis=1)",
    "utils.to_categorical([[1], [2]], num_classes=4, dtype='int32')", "regularizers.l1_l2(0.1, 0.2).get_config()",
    "sorted(initializers.VarianceScaling(2., 'fan_out').get_config().items())", "constraints.MinMaxNorm(0.1).get_config()",
    "losses.serialize(losses.mse)", "metrics.serialize(metrics.mae)", "activations.serialize(activations.tanh)",
    "prep.sequence.pad_sequences([[1, 2], [3, 4, 5], [6]], maxlen=2, padding='post', truncating='pre', value=9)",
    "prep.sequence.pad_sequences([[1, 2], [3.5, 4, 5]], dtype='float32')", "prep.text.hashing_trick('a b a', 5, 'md5')",
    "prep.sequence.TimeseriesGenerator(drawn((9, 2)), drawn((9,)), 3, batch_size=4, stride=2, sampling_rate=1)[0]",
    "prep.sequence.skipgrams([1, 2, 3], 4, negative_samples=0., shuffle=False)", "prep.sequence.make_sampling_table(5)",
    "prep.text.text_to_word_sequence('One two, THREE!', lower=False)", "texts_of('tfidf')", "texts_of('freq')",
    "pictures(rotation_range=20, fill_mode='reflect')", "pictures(horizontal_flip=True, width_shift_range=0.2)",
    "pictures(featurewise_center=True, featurewise_std_normalization=True)", "pictures(zoom_range=[0.8, 1.2], cval=0.1, "
    "fill_mode='constant')", "pictures(shear_range=10, channel_shift_range=0.2)", "pictures(brightness_range=[0.5, 1.2])",
    "pictures(rescale=0.5, vertical_flip=True, preprocessing_function=lambda t: t + 1)", "pictures(samplewise_std_normalization=True)",
    "pictures(samplewise_center=True, validation_split=0.5)",
)  # fmt: skip
MORE_LAYERS: tuple[tuple[str, tuple[int, ...], dict[str, tuple[str, ...]]], ...] = (
    ("GaussianDropout(", (4,), {"=": ("0.",)}),
    ("Dropout(", (3, 4), {"=": ("0.",), "noise_shape": ("(None, 3, 1)",), "name": ("'own'",)}),
    ("Lambda(", (3, 4), {"=": (
        "lambda t: t[:, :2], output_shape=(2, 4)", "lambda t: K.sum(t, 1), output_shape=lambda s: (s[0], s[2])",
        "function=lambda t, by: t * by, arguments={'by': 2.}", "lambda t: K.local_conv1d(t, K.ones((2, 8, 3)), (2,), (1,))",
        "lambda t: K.spatial_2d_padding(K.expand_dims(t), ((1, 0), (0, 2)))", "lambda t: K.conv1d(t, K.ones((2, 4, 3)))",
        "lambda t: K.batch_flatten(t)", "lambda t: K.prod(t, axis=-1)", "lambda t: K.l2_normalize(t, axis=1)")}),
    ("ConvLSTM2D(2, 2", (3, 4, 5, 2), {**CONV_LSTM, "return_state": YES, "dropout": ("0.",)}),
    ("RNN(", (4, 2), {
        "=": ("[L.SimpleRNNCell(2, activation='relu'), L.SimpleRNNCell(3)]", "L.LSTMCell(3, bias_regularizer='l1')",
              "L.GRUCell(2, recurrent_constraint='unit_norm', use_bias=False)", "L.LSTMCell(2, implementation=2)"),
        "return_sequences": YES, "go_backwards": YES, "name": ("'own'",)}),
    ("Bidirectional(", (4, 3), {"=": ("L.SimpleRNN(2, return_sequences=True, use_bias=False)", "layer=L.GRU(2)",
                                      "L.GRU(3, reset_after=True)"),
                                "merge_mode": ("'sum'", "None", "'ave'"), "name": ("'own'",)}),
    ("Softmax(", (2, 3, 4), {"axis": ("1", "2", "3")}),
    ("PReLU(", (3, 4, 2), {"shared_axes": ("[1, 2]", "[3]"), "alpha_initializer": INITIALIZERS[2:4]}),
    ("Embedding(9, 3", (2, 3), {**of_weights("embeddings"), "input_length": ("(2, 3)",)}),
    ("Conv2DTranspose(2, 3", (3, 3, 1), {**KERNEL, "strides": ("2", "(2, 1)", "3")}),
    ("SeparableConv2D(2, 3", (5, 5, 3), {**DEPTH, **of_weights("pointwise")}),
)  # fmt: skip
MORE_FUNCTIONS = (
    "K.local_conv1d(c, K.ones((2, 8, 3)), (2,), (1,))", "K.get_variable_shape(b)", "K.batch_get_value([b, i])", "K.less(a, p)",
    "K.greater_equal(a, 0.1)", "K.separable_conv1d(c, K.ones((2, 4, 1)), K.ones((1, 4, 3)))", "K.learning_phase()",
    "K.conv3d_transpose(K.reshape(c, (1, 2, 3, 4, 1)), K.ones((1, 2, 2, 3, 1)), (1, 2, 4, 5, 3))", "K.random_binomial((3,), 1.)",
    "K.spatial_3d_padding(K.reshape(c, (1, 2, 3, 4, 1)), ((1, 0), (0, 1), (1, 1)))", "K.get_uid('mine')", "K.is_tensor(a)",
    "K.ctc_label_dense_to_sparse(K.constant([[1, 0]], dtype='int32'), K.constant([2], dtype='int32'))", "K.backend()",
    "K.batch_dot(K.ones((2, 3)), K.ones((2, 3)), 1)", "K.batch_dot(c, K.ones((2, 4, 5)))", "K.std(c, axis=[0, 1], keepdims=True)",
    "K.update_sub(K.variable(3.), 2.)", "K.update(K.variable([1.]), K.constant([4.]))", "K.gradients(K.sum(a * a), [a])",
    "K.slice(a, [0, 1], [2, 2])", "K.any(a > 0, axis=1, keepdims=True)", "K.softmax(a, axis=0)", "K.elu(a)", "K.zeros((2, 3))",
    "K.constant(3, shape=(2, 2))", "K.pool2d(K.expand_dims(c), (2, 2), strides=(1, 1), padding='same')", "K.cast_to_floatx([1, 2])",
    "K.conv2d(K.reshape(c, (2, 1, 3, 4)), K.ones((2, 2, 1, 2)), data_format='channels_first')", "K.exp(-a)", "K.sum(a * a)",
    *(f"initializers.{name}.get_config()" for name in ("Constant(2)", "Ones()", "RandomNormal(1., 2., seed=3)", "Zeros()",
                                                       "RandomUniform(-1, 1)", "Orthogonal(2., 3)", "Identity(2.)")),
    *(f"constraints.{name}.get_config()" for name in ("MaxNorm(3)", "NonNeg()", "UnitNorm(1)", "max_norm(2., 1)")),
    "regularizers.serialize(regularizers.l1(0.25))", "regularizers.get('l2')(b)", "regularizers.l1(0.5).get_config()",
    "regularizers.deserialize({'class_name': 'L1L2', 'config': {'l1': 0.5, 'l2': 0.25}})(b)", "losses.get('hinge')(p, a)",
    "metrics.get('mae')(p, a)", "metrics.deserialize('mse')(p, a)", "losses.deserialize('poisson')(p, a)",
    "activations.get('tanh')(a)", "activations.deserialize('elu')(a)", "activations.get(None)(a)", "utils.generic_utils.to_list(3)",
    "utils.conv_utils.conv_output_length(9, 3, 'same', 2)", "utils.conv_utils.conv_input_length(4, 3, 'valid', 2)",
    "utils.conv_utils.normalize_tuple(2, 3, 'k')", "utils.conv_utils.normalize_padding('SAME')", "utils.to_categorical(3, 5)",
    "utils.conv_utils.convert_kernel(drawn((3, 3, 2, 1)))", "utils.conv_utils.deconv_length(4, 2, 3, 'same', None)",
    "utils.generic_utils.has_arg(L.Dense, 'units')", "utils.generic_utils.slice_arrays([np.arange(5), np.arange(3)], 1, 3)",
    "utils.generic_utils.unpack_singleton([4])", "utils.generic_utils.transpose_shape((1, 2, 3), 'channels_first', (1,))",
    "utils.normalize(drawn((3, 4)), axis=-1, order=1)", "prep.text.one_hot('a b c', 50) == prep.text.one_hot('a b c', 50)",
    "prep.sequence.pad_sequences([[1], [2, 3]], padding='post', dtype='int64')", "texts_of('count')", "texts_of('binary')",
    "prep.sequence.TimeseriesGenerator(np.arange(20), np.arange(20), 4, sampling_rate=2, reverse=True, batch_size=3)[1]",
    "prep.sequence.TimeseriesGenerator(np.arange(20), np.arange(20), 4, start_index=3, end_index=12, shuffle=False)[0]",
    "prep.text.Tokenizer(char_level=True).fit_on_texts(['abc'])", "prep.sequence.make_sampling_table(4, 0.001)",
    "pictures(zca_whitening=True, zca_epsilon=0.1)", "pictures(height_shift_range=[-1, 1], data_format='channels_last')",
    "pictures(rotation_range=90, zoom_range=0.3, shear_range=5, fill_mode='wrap')", "pictures(dtype='float32', rescale=1. / 3)",
)  # fmt: skip
PREPROCESSING = """
prep = keras.preprocessing


def texts_of(mode):
    tokenizer = prep.text.Tokenizer(num_words=6, oov_token="?", filters="!,", char_level=False)
    tokenizer.fit_on_texts(["the cat sat, the dog", "a dog ran!"])
    found = [tokenizer.word_index, tokenizer.texts_to_sequences(["the bird ran"]), tokenizer.document_count]
    return found + [tokenizer.texts_to_matrix(["the dog the", "cat"], mode=mode)]


def pictures(**given):
    made = prep.image.ImageDataGenerator(**given)
    made.fit(drawn((6, 5, 5, 3)))
    flow = made.flow(drawn((6, 5, 5, 3)), np.arange(6), batch_size=4, seed=3, shuffle=True)
    return [len(flow)] + [each for _ in range(3) for each in next(flow)]


def asked(text):
    a, b, c = (K.variable(drawn(shape)) for shape in ((3, 4), (4, 2), (2, 3, 4)))
    i, p = K.variable(np.array([1, 0, 1]), dtype="int32"), K.variable(np.random.RandomState(2).uniform(0.05, 0.2, (3, 4)))
    found = eval(text, dict(globals(), a=a, b=b, c=c, i=i, p=p))
    try:
        return K.eval(found)
    except Exception:
        return found

"""

WITHOUT_VALUE = """        if "Tensor" in type(found).__name__:
            raise
        return found
"""


# ---- the parts ------------------------------------------------------------------------------------------------------


class Api:
    """The parts of one script."""

    def __init__(self, script: RandomScript) -> None:
        self.s = script
        self.count = 0
        self.wide = script.seed >= WIDER
        self.sure = script.seed >= ONE_ANSWER

    def write(self) -> None:
        """Write the script behind its imports."""
        self.s.add(START_OF_ONE_ANSWER + START if self.sure else START)
        asked = self.s.maybe(0.4)
        if asked:
            asking = PREPROCESSING if self.s.standalone else PREPROCESSING.replace("keras.", "tf.keras.", 1)
            self.s.add(asking.replace("        return found\n", WITHOUT_VALUE) if self.sure else asking)
            self.functions()
        kinds = (
            [self.layer] * 6
            + [self.optimizer, self.objective, self.objective, self.mask, self.callback, self.callback]
            + [self.fitted, self.generator, self.files, self.graph, self.merged, self.stateful, self.steps, self.own]
        )
        for kind in self.s.random.sample(kinds, 6 if asked else 8):
            self.count += 1
            self.s.add(f"@part\ndef {kind.__name__}_{self.count}():")
            kind()
            self.s.add()
        self.s.add("print(json.dumps(RESULT, default=str))")

    def lines(self, text: str) -> None:
        self.s.add(text.strip("\n"), 4)

    def arguments(self, table: dict[str, tuple[str, ...]], chance: float = 0.2) -> list[str]:
        """Return some arguments of a table, each with one of its values."""
        kept = [name for name in table if name == "=" or self.s.maybe(chance)]
        return [
            self.s.one(*table[name]) if name == "=" else f"{name}={self.s.one(*table[name])}"
            for name in sorted(kept, key=lambda name: name != "=")
        ]

    def called(self, start: str, given: list[str]) -> str:
        """Return a call that begins so, with more arguments."""
        open_ones = start.count("(") - start.count(")")
        text = start + (", " if given and start[-1] != "(" else "") + ", ".join(given)
        return text + ")" * (open_ones - "".join(given).count(")") + "".join(given).count("("))

    def any_optimizer(self, chance: float = 0.35) -> str:
        names = [name for name in OPTIMIZERS if name != "Ftrl" or not self.s.standalone]
        name = self.s.one(*names)
        given = self.arguments(OPTIMIZERS[name], chance)
        if not self.s.standalone and self.s.maybe(0.15):
            given = [f"learning_rate={self.s.one(*SCHEDULES)}"] + [
                g for g in given if not g.startswith(("lr", "decay", "learning"))
            ]
        for clip in ("clipnorm=0.05", "clipvalue=0.03"):
            if self.s.maybe(0.15):
                given.append(clip)
        return f"optimizers.{name}({', '.join(given)})"

    def functions(self) -> None:
        """Functions of the backend and of modules, each on small arrays."""
        texts = self.s.random.sample((*BACKEND, *FUNCTIONS, *(MORE_FUNCTIONS if self.wide else ())), 40)
        for text in texts:
            self.s.add(f"@part\ndef {self.s.name('asked_')}():\n    return asked({text!r})\n")

    def layer(self) -> None:
        """One layer of the table, between others or alone."""
        start, shape, table = self.s.one(*LAYERS, *(2 * MORE_LAYERS if self.wide else ()))
        given = self.arguments(table)
        text = self.called(f"L.{start}", given)
        whole = 9 if start.startswith("Embedding") else 0
        several = self.s.maybe(0.25)
        self.lines(
            f"""
layer = {text}
a = L.Input({shape})
found = layer(a)
found = list(found) if isinstance(found, (list, tuple)) else [found]
model = start(models.Model(a, found))
x = drawn((7,) + {shape}, {whole})
noted = [layer.name if "own" in layer.name else "", [K.int_shape(each) for each in found], model.predict(x, batch_size=4)]
noted.append([[w.name.split("/")[-1] for w in model.weights], layer.count_params(), len(layer.trainable_weights)])
"""
        )
        if several:
            self.lines(
                "found = [L.Dense(2)(L.Flatten()(each)) if K.ndim(each) > 2 else L.Dense(2)(each) for each in found]"
            )
            self.lines("model = start(models.Model(a, found))")
        replicas = self.s.maybe(0.15) and "BatchNorm" not in text and "activity" not in text and "Activity" not in text
        name = "model"
        if replicas:
            self.lines(f"parallel = utils.multi_gpu_model(model, {self.s.one(2, 3)})")
            name = "parallel"
        self.lines(
            f"""
{name}.compile({self.any_optimizer(0.1)}, {self.s.one("'mse'", "'mae'", "'mse'", "'logcosh'")})
y = [drawn((7,) + K.int_shape(each)[1:]) for each in found]
noted.append([{name}.train_on_batch(x, y) for _ in range(2)])
noted.append({name}.fit(x, y, batch_size=4, epochs=1, shuffle=False, verbose=0).history["loss"])
noted += [weights_of(model), {name}.predict(x, batch_size=5)]
"""
        )
        if self.s.maybe(0.5) and "lambda" not in text:
            self.lines(
                """
again = type(layer).from_config(layer.get_config())
inputs = L.Input(K.int_shape(a)[1:])
other = models.Model(inputs, again(inputs))
other.set_weights(model.get_weights()[:len(other.get_weights())])
noted.append(other.predict(x))
"""
            )
        self.lines("return noted")

    def small(self, last: str = "L.Dense(1)", wide: bool = False) -> None:
        """A model of four numbers."""
        middle = self.s.one("L.Dense(5, activation='tanh')", "L.Dense(3, activation='relu', kernel_regularizer='l2')",
                            "L.Dense(4, activation='elu', bias_constraint='non_neg')")  # fmt: skip
        if self.s.maybe(0.5):
            self.lines(f"model = start(models.Sequential([L.InputLayer((4,)), {middle}, {last}]))")
        else:
            self.lines(f"a = L.Input(shape=(4,))\nmodel = start(models.Model(a, {last}({middle}(a))))")

    def optimizer(self) -> None:
        """An optimizer on dense and on looked-up weights, and its config."""
        if self.s.maybe(0.4):
            self.lines(
                "model = start(models.Sequential([L.Embedding(9, 3, input_length=4), L.Flatten(), L.Dense(1)]))\n"
                "x = drawn((13, 4), 9)"
            )
        else:
            self.small()
            self.lines("x = drawn((13, 4))")
        text = self.any_optimizer()
        if self.s.maybe(0.2):
            text = repr(text.split(".")[1].split("(")[0].lower())
        config = self.s.maybe(0.4) and text.startswith("opt")
        self.lines(
            f"""
optimizer = {text}
y = drawn((13, 1))
model.compile(optimizer=optimizer, loss="mse")
noted = [model.train_on_batch(x[:5], y[:5]) for _ in range(3)] + [weights_of(model)]
noted.append(model.fit(x, y, batch_size=5, epochs=2, shuffle=False, verbose=0).history)
noted += [weights_of(model), int(K.get_value(model.optimizer.iterations))]
noted.append([w.shape for w in model.optimizer.get_weights()])
"""
        )
        if config:
            self.lines(
                "noted.append(sorted((k, v) for k, v in optimizer.get_config().items() if not isinstance(v, dict)))"
            )
            self.lines("model.compile(type(optimizer).from_config(optimizer.get_config()), 'mse')")
            self.lines("noted += [model.train_on_batch(x, y), weights_of(model)]")
        if self.s.maybe(0.3):
            self.lines("kept = model.optimizer.get_weights()\nmodel.optimizer.set_weights(kept)")
            self.lines(
                "K.set_value(model.optimizer.lr, 0.02)\nnoted += [model.train_on_batch(x, y), weights_of(model)]"
            )
        self.lines("return noted")

    def any_loss(self, kind: str) -> str:
        if not self.s.has_classes or self.s.maybe(0.5):
            name = self.s.one(*LOSSES[kind])
            return f"losses.{name}" if self.s.maybe(0.3) and name not in ("cosine", "huber_loss") else repr(name)
        given = self.arguments(LOSS_ARGUMENTS, 0.15)
        name = self.s.one(*LOSS_OBJECTS[kind])
        given = [g for g in given if not g.startswith("delta") or name == "Huber"]
        given = [g for g in given if not g.startswith("from_logits") or "Crossentropy" in name]
        given = [
            g for g in given if not g.startswith("label") or name in ("BinaryCrossentropy", "CategoricalCrossentropy")
        ]
        return f"losses.{name}({', '.join(given)})"

    def some_metrics(self, kind: str) -> str:
        chosen = [repr(each) for each in self.s.random.sample(METRICS[kind], self.s.one(1, 1, 2))]
        if self.s.has_classes and self.s.maybe(0.6):
            objects = METRIC_OBJECTS[kind]
            chosen += [f"metrics.{each}" for each in self.s.random.sample(objects, self.s.one(1, min(2, len(objects))))]
        if self.s.maybe(0.15):
            chosen.append("own")
        return f"[{', '.join(chosen)}]"

    def objective(self) -> None:
        """A loss and metrics, with weights."""
        kind = self.s.one(*TARGETS)
        last, y = TARGETS[kind]
        self.lines(
            "R = getattr(losses, 'Reduction', None)\n\n\ndef own(y_true, y_pred):\n    return K.max(y_pred) - K.min(y_true)\n"
        )
        self.small(last)
        weighted = ", weighted_metrics=" + self.some_metrics(kind) if self.s.maybe(0.2) else ""
        target = "model"
        if self.s.maybe(0.2):
            self.lines(f"parallel = utils.multi_gpu_model(model, {self.s.one(2, 3, 4)})")
            target = "parallel"
        self.lines(f"x, y, w = drawn((13, 4)), {y}, np.linspace(0, 2, 13)")
        self.lines(f"{target}.compile('adam', {self.any_loss(kind)}, metrics={self.some_metrics(kind)}{weighted})")
        given = self.s.one("", ", sample_weight=w", ", validation_split=0.3", ", validation_data=(x, y, w)")
        if kind in ("bit", "class", "classes") and self.s.maybe(0.25):
            given += ", class_weight={0: 2.0, 1: 0.5, 2: 1.0}"
        self.lines(
            f"""
noted = [{target}.train_on_batch(x[:5], y[:5]), {target}.test_on_batch(x, y, sample_weight=w)]
history = {target}.fit(x, y, batch_size=5, epochs=2, shuffle=False, verbose=0{given}).history
noted += [history, sorted(history), {target}.metrics_names, weights_of(model)]
noted.append({target}.evaluate(x, y, batch_size=4, verbose=0{", sample_weight=w" if self.s.maybe(0.5) else ""}))
return noted + [{target}.train_on_batch(x, y)]
"""
        )

    def mask(self) -> None:
        """Masks on their way through layers that pass, use, merge or drop them."""
        s = self.s
        self.lines("words = drawn((8, 5), 4) * (np.arange(5) < np.arange(8)[:, None] % 6)")
        if s.maybe(0.5):
            self.lines("a = L.Input((5,))\nx = L.Embedding(6, 3, mask_zero=True)(a)")
        else:
            self.lines("a = L.Input((5, 3))\nwords = np.repeat(words[:, :, None], 3, -1) * 0.5")
            if self.sure:  # steps that no mask is about have other channels than their first
                self.lines("words = np.where(words > 0.5, words * [1., 0.4, 1.7], words)")
            self.lines(f"x = L.Masking({s.one('', 'mask_value=0.', '0.5')})(a)")
        for _ in range(s.one(1, 2, 2, 3)):
            through = (
                s.one(
                    "x = L.Dropout(0.)(x)", "x = L.TimeDistributed(L.Dense(3, activation='tanh'))(x)", "x = L.Activation('relu')(x)",
                    "x = L.add([x, x])", "x = L.concatenate([x, L.LSTM(2, return_sequences=True)(x)])", "x = L.BatchNormalization()(x)",
                    "x = L.multiply([x, L.Dense(3)(x)]) if K.int_shape(x)[-1] == 3 else x", "x = L.GRU(3, return_sequences=True)(x)",
                    "x = L.Bidirectional(L.GRU(2, return_sequences=True), merge_mode='ave')(x)", "x = L.LeakyReLU()(x)",
                    "x = L.Lambda(lambda t: t * 2)(x)", "x = L.Lambda(lambda t: t + 1, mask=lambda i, m: m)(x)",
                    "x = L.concatenate([x, L.Lambda(lambda t: t)(x)], axis=-1)", "x = L.SpatialDropout1D(0.)(x)", "x = L.Softmax()(x)",
                    "x = L.concatenate([x, x], axis=1)", "x = L.average([x, L.Activation('tanh')(x)])", "x = L.Dense(3)(x)",
                    "x = L.TimeDistributed(models.Sequential([L.Dense(4, input_shape=(K.int_shape(x)[-1],)), L.Dense(3)]))(x)",
                    "x = L.SimpleRNN(3, return_sequences=True, go_backwards=True)(x)", "x = L.PReLU(shared_axes=[1])(x)",
                    "x = L.RNN([L.LSTMCell(2), L.GRUCell(3)], return_sequences=True)(x)", "x = L.ActivityRegularization(l2=0.1)(x)",
                    "x = L.maximum([L.Dense(3)(x), L.Dense(3)(x)])",
                )
            )  # fmt: skip
            self.lines(through.replace("L.Dense(3)", "L.Dense(3, use_bias=False)") if self.sure else through)
        self.lines(
            s.one("out = L.LSTM(2)(x)", "out = L.GRU(2, unroll=True)(x)", "out = L.Dense(2)(x)", "out = L.Bidirectional(L.LSTM(2))(x)",
                  "out = L.TimeDistributed(L.Dense(2))(x)", "out = L.GlobalAveragePooling1D()(x)", "out = L.SimpleRNN(2, go_backwards=True)(x)",
                  "out = L.dot([x, x], axes=1)", "out = L.Lambda(lambda t: K.sum(t, 1))(x)")
        )  # fmt: skip
        mode = s.maybe(0.3)
        self.lines(
            f"""
model = start(models.Model(a, out))
y = drawn((8,) + tuple(each or 5 for each in K.int_shape(out)[1:]))
weights = np.random.RandomState(3).uniform(0, 2, {"(8, 5)" if mode else "8"})
model.compile({self.any_optimizer(0.2)}, {s.one("'mse'", "'mae'")}, metrics=['mae', 'acc']{", sample_weight_mode='temporal'" if mode else ""})
noted = [model.predict(words), model.train_on_batch(words, y, sample_weight=weights), model.train_on_batch(words, y)]
history = model.fit(words, y, batch_size=3, epochs=2, shuffle=False, sample_weight={s.one("weights", "None")}, verbose=0).history
return noted + [history, weights_of(model), model.evaluate(words, y, batch_size=3, verbose=0)]
"""
        )

    def callback(self) -> None:
        """Callbacks with their arguments, and one that notes what each hook is given."""
        s = self.s
        self.small()
        given = s.random.sample(
            [
                "callbacks.EarlyStopping(%s)" % ", ".join(self.arguments({
                    "monitor": ("'loss'", "'val_loss'", "'mae'", "'nothing'"), "min_delta": ("0.5", "0.01", "-1"), "patience": ("0", "1", "2"),
                    "mode": ("'max'", "'min'", "'auto'"), "baseline": ("0.5", "2."), "restore_best_weights": YES}, 0.5)),
                "callbacks.ReduceLROnPlateau(%s)" % ", ".join(self.arguments({
                    "monitor": ("'loss'", "'val_loss'", "'val_mean_absolute_error'"), "factor": ("0.5", "0.1"), "patience": ("0", "1"),
                    "mode": ("'max'", "'min'"), "min_delta": ("0.5", "0.01"), "cooldown": ("1", "2"), "min_lr": ("0.02",)}, 0.5)),
                "callbacks.LearningRateScheduler(%s)" % s.one(
                    "lambda epoch: 0.1 / (1 + epoch)", "lambda epoch, lr: lr * 0.5", "schedule=lambda epoch: 0.1 if epoch < 1 else 0.01",
                    "lambda epoch: float(np.float32(0.05))", "lambda epoch, rate: rate + 0.01, verbose=1"),
                "callbacks.ModelCheckpoint('at-{epoch}-{loss:.3f}.h5'%s)" % "".join(", " + each for each in self.arguments({
                    "monitor": ("'loss'", "'val_loss'"), "save_best_only": YES, "save_weights_only": YES, "mode": ("'max'", "'min'"),
                    "period": ("2",)}, 0.4)),
                "callbacks.CSVLogger('log.csv'%s)" % "".join(", " + each for each in self.arguments({
                    "separator": ("';'",), "append": YES}, 0.5)),
                "callbacks.TerminateOnNaN()", "callbacks.ProgbarLogger()", "callbacks.ProgbarLogger('steps')",
                "callbacks.LambdaCallback(on_epoch_begin=lambda epoch, logs: seen.append(['lambda', epoch]), "
                "on_batch_end=lambda batch, logs: seen.append([batch, float(logs['loss'])]), on_train_end=lambda logs: seen.append('end'))",
                "callbacks.BaseLogger()", "callbacks.History()",
            ],
            s.one(1, 2, 2, 3),
        )  # fmt: skip
        hooks = (
            "on_train_begin on_train_end on_epoch_begin on_epoch_end on_batch_begin on_batch_end on_train_batch_begin on_train_batch_end "
            "on_test_begin on_test_end on_test_batch_begin on_test_batch_end on_predict_begin on_predict_batch_end on_predict_end"
        )
        asked = s.random.sample(hooks.split(), 7)
        self.lines("import glob\nseen = []\n\n\nclass Notes(callbacks.Callback):")
        for hook in asked:
            logs = "logs=None" if "epoch" not in hook and "batch" not in hook else "index, logs=None"
            index = "index" if "index" in logs else "''"
            self.lines(f"    def {hook}(self, {logs}):")
            what = "sorted((k, float(v)) for k, v in (logs or {}).items())"
            self.lines(
                f"        seen.append(['{hook}', {index}, {what}, float(K.get_value(self.model.optimizer.lr))])\n"
            )
        self.lines("notes = Notes()\nx, y = drawn((13, 4)), drawn((13, 1))")
        if self.wide:  # of another part
            self.lines("import os\nfor name in glob.glob('at-*') + glob.glob('log.csv'):\n    os.remove(name)")
        given.append("notes")
        valid = s.one("", ", validation_data=(x, y)", ", validation_split=0.3", ", validation_data=(x[:5], y[:5])")
        if valid and s.maybe(0.2):
            valid += ", validation_freq=2"
        verbose = s.one(0, 0, 1, 2)
        self.lines(
            f"model.compile({self.any_optimizer(0.2)}, 'mse', metrics={s.one(repr(['mae']), repr(['mean_absolute_error', 'mse']))})"
        )
        if s.maybe(0.3):
            self.lines("model.fit(x, y, epochs=1, verbose=0, shuffle=False)")
        self.lines(
            f"""
history = model.fit(x, y, batch_size=5, epochs={s.one(3, 4)}, shuffle=False, verbose={verbose}, callbacks=[{", ".join(given)}]{valid})
noted = [history.history, list(history.history), history.epoch, seen, weights_of(model), sorted(glob.glob('at-*'))]
noted += [sorted(notes.params.items(), key=str), float(K.get_value(model.optimizer.lr))]
for name in glob.glob('log.csv'):
    noted.append([[field[:7] for field in line.rstrip().replace(';', ',').split(',')] for line in open(name)])
"""
        )
        if s.has_classes:
            self.lines(
                "noted.append(model.evaluate(x, y, verbose=0, callbacks=[notes]))\nnoted.append(model.predict(x, callbacks=[notes]))"
            )
        self.lines("return noted + [getattr(each, 'stopped_epoch', None) for each in [history]]")

    def fitted(self) -> None:
        """`fit` with its arguments, on inputs of several forms."""
        s = self.s
        form = s.one("one", "two", "dict")
        if form == "one":
            self.small("L.Dense(3, activation='softmax')")
            x, y, names = "drawn((13, 4))", "np.eye(3)[drawn((13,), 3)]", ("",)
        else:
            self.lines(
                "a, b = L.Input((4,), name='a'), L.Input((3,), name='b')\nh = L.concatenate([L.Dense(3, activation='tanh')(a), b])"
            )
            self.lines(
                "model = start(models.Model(inputs=[a, b], outputs=[L.Dense(1, name='one')(h), L.Dense(2, name='two')(h)]))"
            )
            x, y = "[drawn((13, 4)), drawn((13, 3))]", "[drawn((13, 1)), drawn((13, 2))]"
            if form == "dict":
                x, y = "{'a': drawn((13, 4)), 'b': drawn((13, 3))}", "{'two': drawn((13, 2)), 'one': drawn((13, 1))}"
            names = ("one", "two")
        loss = (
            "'categorical_crossentropy'"
            if form == "one"
            else s.one("'mse'", "['mse', 'mae']", "{'one': 'mae', 'two': 'mse'}")
        )
        more = s.one("", "metrics=['mae']", "metrics=['acc', 'mse']")
        if form != "one":
            more = s.one(more, "metrics={'one': 'mae'}", "metrics={'two': ['mse', 'mae'], 'one': ['mae']}", "metrics=[['mae'], ['mse', 'mae']]",
                         "loss_weights=[0.3, 2.]", "loss_weights={'one': 0.3, 'two': 2.}, metrics=['mae']", "weighted_metrics=['mae']")  # fmt: skip
        w = (
            "np.linspace(0, 2, 13)"
            if form == "one"
            else s.one(
                "[np.linspace(0, 2, 13), np.linspace(1, 0, 13)]",
                "{'one': np.linspace(0, 2, 13), 'two': np.linspace(1, 2, 13)}",
            )
        )
        self.lines(
            f"x, y, w = {x}, {y}, {w}\nmodel.compile({self.any_optimizer(0.15)}, {loss}{', ' + more if more else ''})"
        )
        shuffle = ("False",) if not s.standalone else ("False", "True", "'batch'")
        given = self.arguments({
            "batch_size": ("4", "5", "13", "20", "1"), "epochs": ("2", "3"), "initial_epoch": ("1",), "sample_weight": ("w",),
            "validation_split": ("0.3", "0.5"), "validation_data": ("(x, y)", "(x, y, w)"), "verbose": ("0", "1", "2"),
            **({"class_weight": ("{0: 1., 1: 2., 2: 0.5}", "{0: 3, 1: 1, 2: 1}")} if names == ("",) else {})}, 0.4)  # fmt: skip
        given.append(f"shuffle={s.one(*shuffle)}")
        self.lines(
            f"""
history = model.fit(x, y, {", ".join(given)})
noted = [history.history, sorted(history.history), history.epoch, model.metrics_names, weights_of(model)]
noted.append(model.evaluate(x, y{s.one("", ", sample_weight=w", ", batch_size=4")}, verbose=0))
noted += [model.predict(x, {s.one("batch_size=4", "verbose=0", "batch_size=100")}), np.random.randint(1000), random.random()]
return noted
"""
        )

    def generator(self) -> None:
        """`fit_generator` and the like with their arguments."""
        s = self.s
        self.small()
        weights = s.one("", ", w[at:at + 5]")
        # How many batches a thread has read ahead when the next round of validation begins, no two runs agree on.
        steady = (
            f"\n\ndef steady():\n    while True:\n        yield x[:5], y[:5]{weights.replace('at:at + 5', ':5')}\n"
            if self.sure
            else ""
        )
        self.lines(
            f"""
x, y, w = drawn((13, 4)), drawn((13, 1)), np.linspace(0, 2, 13)


class Rows(utils.Sequence):
    def __len__(self):
        return 3

    def __getitem__(self, index):
        at = 5 * index
        return x[at:at + 5], y[at:at + 5]{weights}

    def on_epoch_end(self):
        seen.append("rows")


def batches():
    while True:
        for at in range(0, 13, 5):
            yield x[at:at + 5], y[at:at + 5]{weights}
{steady}

seen = []


class Notes(callbacks.Callback):
    def on_train_begin(self, logs=None):
        seen.append(sorted(self.params.items(), key=str))

    def on_batch_end(self, batch, logs=None):
        seen.append([batch, sorted((k, float(v)) for k, v in logs.items())])

    def on_batch_begin(self, batch, logs=None):
        seen.append([batch, sorted((k, float(v)) for k, v in (logs or {{}}).items())])

"""
        )
        self.lines(f"model.compile({self.any_optimizer(0.2)}, 'mse', metrics=['mae'])")
        fed = s.one("Rows()", "batches()", "batches()")
        steps = "steps_per_epoch=%s" % s.one(3, 2, 5) if fed == "batches()" or s.maybe(0.3) else ""
        valid = s.one(
            "",
            "validation_data=(x, y)",
            "validation_data=Rows()",
            f"validation_data={'steady' if self.sure else 'batches'}(), validation_steps=2",
            "validation_data=(x, y, w)",
        )
        if valid and s.maybe(0.15):
            valid += ", validation_freq=2"
        given = [each for each in (steps, valid) if each]
        given += self.arguments({"epochs": ("2", "3"), "initial_epoch": ("1",), "workers": ("0", "1"), "max_queue_size": ("1", "3"),
                                 "verbose": ("0", "2"), "callbacks": ("[Notes()]", "[Notes(), callbacks.CSVLogger('log.csv')]"),
                                 "class_weight": ("{0: 1.}",) if weights else ("None",)}, 0.4)  # fmt: skip
        if not any(each.startswith("callbacks") for each in given) and s.maybe(0.5):
            given.append("callbacks=[Notes()]")
        own = s.maybe(0.2) and s.has_classes
        evaluated = s.one("Rows(), workers=1", "batches(), 3, workers=0", "batches(), steps=2, max_queue_size=1")
        predicted = s.one("Rows()", "batches(), 3, workers=0", "batches(), steps=2")
        self.lines(
            f"""
history = model.{"fit" if own else "fit_generator"}({fed}, shuffle=False, {", ".join(given)})
noted = [history.history, list(history.history), weights_of(model), model.metrics_names]
noted.append(model.evaluate_generator({evaluated}))
found = model.predict_generator({predicted})
return noted + [found, [each for each in seen if each != "rows"]]
"""
        )

    def files(self) -> None:
        """Models and weights to files and back; configs."""
        s = self.s
        shapes = s.one(
            ("(4,)", "L.Dense(4, activation='relu', name='d')(a)", "L.Dense(4, activation='relu', name='d')"),
            ("(5, 3)", "L.LSTM(3, name='d')(a)", ""), ("(5, 3)", "L.Bidirectional(L.GRU(2), name='d')(a)", ""),
            ("(5, 5, 2)",
             # A bias before it has a gradient of rounding errors alone.
             f"L.Flatten()(L.BatchNormalization()(L.Conv2D(2, 2, name='d', padding='same'{', use_bias=False' if self.wide else ''})(a)))", ""),
            ("(5, 3)", "L.GlobalMaxPooling1D()(L.TimeDistributed(L.Dense(2, activation=K.tanh if False else 'tanh'), name='d')(a))", ""),
            ("(4,)", "models.Sequential([L.Dense(3, input_shape=(4,)), L.PReLU()], name='inner')(a)", ""),
            ("(5, 3)", "L.Flatten()(L.SeparableConv1D(2, 2, depth_multiplier=2, name='d')(a))", ""),
            ("(4,)", "L.add([L.Dense(2, name='d')(a), L.Dense(2, kernel_regularizer='l1', name='e')(a)])", ""),
        )  # fmt: skip
        self.lines(
            f"def make():\n    a = L.Input({shapes[0]}, name='a')\n    return models.Model(a, L.Dense(2, name='last')({shapes[1]}), name='m')\n\n"
        )
        optimizer = self.any_optimizer(0.25)
        self.lines(
            f"""
model = start(make())
x, y = drawn((9,) + {shapes[0]}), drawn((9, 2))
model.compile({optimizer}, 'mse', metrics=['mae'])
noted = [model.train_on_batch(x, y) for _ in range(2)]
"""
        )
        kinds = {
            "h5": "model.save('m.h5')\nother = models.load_model('m.h5')",
            "without": "model.save('m.h5', include_optimizer=False)\nother = models.load_model('m.h5', compile=False)\nother.compile('adam', 'mse')",
            "function": "models.save_model(model, 'm.h5', overwrite=True)\nother = models.load_model('m.h5')",
            "json": "other = models.model_from_json(model.to_json())\nother.set_weights(model.get_weights())\nother.compile('sgd', 'mae')",
            "config": "other = models.Model.from_config(model.get_config())\nother.set_weights(model.get_weights())\nother.compile('sgd', 'mae')",
            "weights": "model.save_weights('w.h5')\nother = start(make(), 9)\nother.load_weights('w.h5')\nother.compile('sgd', 'mae')",
            "by name": "model.save_weights('w.h5')\nother = start(make(), 9)\nother.layers[-1].name\nother.load_weights('w.h5', by_name=True)\nother.compile('rmsprop', 'mae')",
            "mismatch": (
                "model.save_weights('w.h5')\na = L.Input(K.int_shape(model.inputs[0])[1:])\n"
                "other = start(models.Model(a, L.Dense(3, name='last')(L.Flatten()(a))), 9)\n"
                "other.load_weights('w.h5', by_name=True, skip_mismatch=True)\nother.compile('sgd', 'mae')\ny = drawn((9, 3))"
            ),
            "clone": "other = models.clone_model(model)\nother.set_weights(model.get_weights())\nother.compile('sgd', 'mae')",
            "clone tensors": "b = L.Input(K.int_shape(model.inputs[0])[1:])\nother = models.clone_model(model, input_tensors=b)\nother.set_weights(model.get_weights())\nother.compile('sgd', 'mae')",
            "yaml": "other = models.model_from_yaml(model.to_yaml())\nother.set_weights(model.get_weights())\nother.compile('sgd', 'mae')",
        }  # fmt: skip
        self.lines(kinds[s.one(*kinds)])
        self.lines(
            """
noted += [other.predict(x), other.train_on_batch(x, y), other.train_on_batch(x, y), weights_of(other), other.metrics_names]
noted += [[layer.name for layer in other.layers], [w.name for w in other.weights], other.name, other.count_params()]
noted += [other.evaluate(x, y, batch_size=4, verbose=0), model.input_names, model.output_names]
"""
        )
        if s.maybe(0.4):
            self.lines(
                "rows = []\nmodel.summary(print_fn=rows.append)\nnoted.append(['Total' in ' '.join(rows), len(rows)])"
            )
        self.lines("return noted")

    def graph(self) -> None:
        """Layers that are shared, models in models, tensors by functions of the backend; what one can ask of them."""
        s = self.s
        self.lines(
            s.one(
                "shared = L.Dense(3, activation='tanh')\na, b = L.Input((4,)), L.Input((4,))\nh = L.concatenate([shared(a), shared(b)])",
                f"base = models.Sequential([L.Dense(3, input_shape=(4,)), {'L.ELU()' if self.sure else 'L.BatchNormalization(momentum=0.5)'}])\n"
                "a, b = L.Input((4,)), L.Input((4,))\nh = L.subtract([base(a), base(b)])",
                "a, b = L.Input((4,)), L.Input((4,))\nh = L.Lambda(lambda t: K.abs(t[0] - t[1]))([L.Dense(3)(a), L.Dense(3)(b)])",
                "a, b = L.Input((4,)), L.Input((4,))\ninner = models.Model([a, b], [L.Dense(3)(a), L.Dense(2)(b)])\n"
                "a, b = L.Input((4,)), L.Input((4,))\nh = L.concatenate(inner([a, b]))",
                "a, b = L.Input((4,)), L.Input((4,))\nx = L.Dense(4, activation='relu')(a)\nh = L.add([x, b, L.Dense(4)(x)])",
                "a, b = L.Input((4,)), L.Input((4,))\nh = L.dot([L.Reshape((2, 2))(a), L.Reshape((2, 2))(b)], axes=(1, 2))\nh = L.Flatten()(h)",
                "base = models.Sequential([L.Dense(3, input_shape=(4,))])\nbase.add(L.Dense(5, name='top'))\nbase.pop()\n"
                # Keras 2.2.4 lists the weights of a layer that is called by itself as well twice, and updates them twice,
                # side by side: no two of its runs are alike.
                f"a, b = L.Input((4,)), L.Input((4,))\nh = L.concatenate([base(a), {'base' if self.wide else 'base.layers[0]'}(b)])",
            )
        )  # fmt: skip
        self.lines(
            f"""
out = L.Dense(1, activation={s.one("'sigmoid'", "None")}, name='out')(h)
model = start(models.Model([a, b], {s.one("out", "[out]", "[out, h]")}))
x = [drawn((9, 4)), drawn((9, 4))[::-1]]
y = [drawn((9,) + K.int_shape(each)[1:]) for each in model.outputs]
model.compile({self.any_optimizer(0.2)}, 'mse')
noted = [model.train_on_batch(x, y if len(y) > 1 else y[0]), model.predict(x)]
"""
        )
        self.lines(
            s.one(
                "look = models.Model(model.input, model.layers[-2].output)\nnoted.append(look.predict(x))",
                "f = K.function(model.inputs, [h, out])\nnoted.append(f(x))",
                "f = K.function(model.inputs + [K.learning_phase()], [out])\nnoted.append([f(x + [0]), f(x + [1])])",
                "layer = model.get_layer('out')\nlayer.trainable = False\nmodel.compile('sgd', 'mse')\nnoted.append(model.train_on_batch(x, y if len(y) > 1 else y[0]))",
                "layer = model.get_layer('out')\nnoted += [layer.input_shape, layer.output_shape, model.input_shape, model.output_shape, layer.get_config()['units']]",
                "for layer in model.layers[:-1]:\n    layer.trainable = False\nmodel.compile('adam', 'mse')\n"
                "noted += [model.fit(x, y, epochs=2, batch_size=4, shuffle=False, verbose=0).history, len(model.trainable_weights)]",
                "noted.append([layer.name for layer in model.layers])\nnoted.append([len(layer._inbound_nodes) for layer in model.layers])",
                "twice = models.Model([a, b], L.Dense(2)(model.outputs[0]))\nstart(twice, 5)\ntwice.compile('rmsprop', 'mae')\n"
                "noted.append([twice.train_on_batch(x, drawn((9, 2))), twice.predict(x)])",
                "model.add_loss(0.1 * K.mean(K.square(h)))\nmodel.compile('sgd', 'mse')\nnoted.append(model.train_on_batch(x, y if len(y) > 1 else y[0]))",
            )
        )  # fmt: skip
        if not s.tf2 and s.maybe(0.4):
            self.lines("noted.append(K.function(model.inputs, K.gradients(K.sum(out), model.inputs))(x))")
        self.lines("return noted + [weights_of(model), model.count_params()]")

    def merged(self) -> None:
        """Merging layers on inputs of several ranks."""
        s = self.s
        name = s.one(*MERGES, "dot", "concatenate")
        shape = s.one((4,), (3, 4), (2, 3, 4), (3, 3))
        given = ""
        if name == "dot":
            given = s.one("1", "-1", "axes=(1, 2)", "axes=2", "axes=1, normalize=True", "axes=-1, normalize=True")
        elif name == "concatenate" and s.maybe(0.6):
            given = f"axis={s.one(1, -1, 2)}"
        count = 2 if name in ("dot", "subtract") else s.one(2, 3)
        other = s.one(shape, shape, (shape[-1],) if name in ("add", "multiply", "maximum") else shape)
        first = name[0].upper() + name[1:]
        call = f"L.{name}(tensors, {given})" if given else f"L.{name}(tensors)"
        if s.maybe(0.5):
            call = f"L.{first}({given})(tensors)"
        self.lines(
            f"""
shapes = [{shape}] + [{other}] * {count - 1}
inputs = [L.Input(each) for each in shapes]
tensors = [L.Dense(each[-1], activation='tanh')(t) for each, t in zip(shapes, inputs)]
out = {call}
model = start(models.Model(inputs, out))
x = [drawn((5,) + each) * (i + 1) for i, each in enumerate(shapes)]
model.compile('adam', 'mse')
y = drawn((5,) + K.int_shape(out)[1:])
return [K.int_shape(out), model.predict(x), [model.train_on_batch(x, y) for _ in range(2)], weights_of(model)]
"""
        )

    def stateful(self) -> None:
        """Recurrent layers with states: kept, given, returned."""
        s = self.s
        kind = s.one("LSTM", "GRU", "SimpleRNN")
        given = ", ".join(
            self.arguments(
                {
                    k: v
                    for k, v in RECURRENT.items()
                    if k not in ("return_sequences", "return_state", "activity_regularizer")
                },
                0.1,
            )
        )
        given = f", {given}" if given else ""
        if s.maybe(0.5):
            self.lines(
                f"""
layer = L.{kind}(3, stateful=True, batch_input_shape=(4, {s.one(5, "None")}, 2), return_sequences={s.one("True", "False")}{given})
model = start(models.Sequential([layer, {s.one("L.Dense(1)", "L.Dense(1, activation='tanh')")}]))
x = drawn((8, 5, 2))
y = drawn((8, 5, 1) if layer.return_sequences else (8, 1))
model.compile({self.any_optimizer(0.2)}, 'mse')
noted = [model.predict(x, batch_size=4), model.predict_on_batch(x[:4])]
{s.one("layer.reset_states()", "model.reset_states()", "pass")}
noted.append(model.fit(x, y, batch_size=4, epochs=2, shuffle=False, verbose=0).history)
noted.append([K.get_value(each) for each in layer.states])
{s.one("layer.reset_states(states=[np.ones((4, 3))] * len(layer.states))", "pass")}
return noted + [model.predict(x, batch_size=4), model.train_on_batch(x[:4], y[:4]), weights_of(model)]
"""
            )
            return
        wrapped = s.maybe(0.3)
        states = 2 if kind == "LSTM" else 1
        call = (
            f"L.Bidirectional(L.{kind}(3, return_state=True, return_sequences=True{given}))"
            if wrapped
            else f"L.{kind}(3, return_state=True, return_sequences={s.one('True', 'False')}{given})"
        )
        count = states * (2 if wrapped else 1)
        self.lines(
            f"""
a, begin = L.Input((4, 2)), [L.Input((3,)) for _ in range({count})]
found = {call}(a, initial_state={s.one("begin", "begin" if count > 1 else "begin[0]")})
other = L.{kind}(3)(a, initial_state=found[1:{1 + states}])
model = start(models.Model([a] + begin, list(found) + [other]))
x = [drawn((6, 4, 2))] + [drawn((6, 3)) * (i + 1) for i in range({count})]
model.compile({self.any_optimizer(0.2)}, 'mse')
y = [drawn((6,) + K.int_shape(each)[1:]) for each in model.outputs]
return [model.predict(x), [model.train_on_batch(x, y) for _ in range(2)], weights_of(model)]
"""
        )

    def steps(self) -> None:
        """Single batches: train, test, predict, with their arguments; compiled again, frozen and thawed."""
        s = self.s
        kind = s.one("bit", "classes", "class", "number")
        last, y = TARGETS[kind]
        self.small(last)
        target = "model"
        if s.maybe(0.25):
            self.lines(f"parallel = utils.multi_gpu_model(model, {s.one(2, 3, 4)})")
            target = "parallel"
        loss = {
            "bit": "binary_crossentropy",
            "classes": "categorical_crossentropy",
            "class": "sparse_categorical_crossentropy",
            "number": "mse",
        }[kind]
        self.lines(
            f"x, y, w = drawn((13, 4)), {y}, np.linspace(0, 2, 13)\n{target}.compile({self.any_optimizer(0.2)}, '{loss}', metrics={s.one(repr(['acc']), '[]', repr(['accuracy', 'mae']))})"
        )
        self.lines("noted = []")
        chosen = [
            f"noted.append({target}.train_on_batch(x[:5], y[:5]))", f"noted.append({target}.train_on_batch(x[5:], y[5:], sample_weight=w[5:]))",
            f"noted.append({target}.train_on_batch(x, y, class_weight={{0: 2., 1: 0.5, 2: 3.}}))" if kind != "number" else "pass",
            f"noted.append({target}.test_on_batch(x[:7], y[:7]))", f"noted.append({target}.test_on_batch(x, y, sample_weight=w))",
            f"noted.append({target}.predict_on_batch(x[:3]))", f"model.layers[-1].trainable = False\n{target}.compile('adam', '{loss}')",
            f"model.trainable = True\n{target}.compile('sgd', '{loss}', metrics=['mae'])", "model.trainable = False", "model.trainable = True",
            f"noted.append({target}.evaluate(x, y, verbose=0))", f"noted.append({target}.fit(x, y, batch_size=5, shuffle=False, verbose=0).history)",
            f"noted.append(K.get_value({target}.optimizer.lr))", f"K.set_value({target}.optimizer.lr, 0.2)", f"noted.append({target}.metrics_names)",
            f"{target}.reset_states()", "model.set_weights([w * 0.5 for w in model.get_weights()])", "noted.append(len(model.trainable_weights))",
            "model.layers[-1].set_weights(model.layers[-1].get_weights())",
        ]  # fmt: skip
        if s.tf2:
            chosen += [f"noted.append({target}.train_on_batch(x[:5], y[:5], reset_metrics=False))", f"noted.append(sorted({target}.test_on_batch(x, y, return_dict=True).items()))",
                       f"{target}.reset_metrics()", "noted.append(model(x[:3], training=True).numpy())", f"noted.append({target}.fit(tf.data.Dataset.from_tensor_slices((x, y)).batch(4), verbose=0).history)"]  # fmt: skip
        for each in s.random.choices(chosen, k=10):
            self.lines(each)
        self.lines(f"noted.append({target}.train_on_batch(x, y))\nreturn noted + [weights_of(model)]")

    def own(self) -> None:
        """Layers, losses, metrics, regularizers, constraints, initializers and optimizers of one's own."""
        s = self.s
        pass_mask = s.one("self.supports_masking = True", "pass")
        weight = s.one(
            "self.w = self.add_weight(name='w', shape=(int(shape[-1]), self.units), initializer='uniform', trainable=True)",
            "self.w = self.add_weight(shape=(int(shape[-1]), self.units), initializer='ones', name='w', regularizer=regularizers.l2(0.1))",
            "self.w = self.add_weight('w', (int(shape[-1]), self.units), initializer=start_of, constraint=keep)",
        )
        done = s.one("super(Mine, self).build(shape)", "self.built = True")
        body = s.one(
            "K.dot(x, self.w)", "K.dot(x, self.w) * K.sigmoid(self.g)", "K.tanh(K.bias_add(K.dot(x, self.w), self.g))"
        )
        training = s.maybe(0.3)
        self.lines(
            f"""
def start_of(shape, dtype=None, **kwargs):
    return K.ones(shape, dtype=dtype) * 0.5


def keep(w):
    return K.clip(w, -0.3, 0.3)


def loss(y_true, y_pred):
    return {s.one("K.mean(K.square(y_pred - y_true), axis=-1)", "K.mean(K.abs(y_pred - y_true))", "K.sum(K.log(1. + K.square(y_pred - y_true)), axis=-1)",
                  "losses.mean_squared_error(y_true, y_pred) + 0.1 * K.mean(y_pred)", "K.switch(K.abs(y_pred - y_true) < 1., K.square(y_pred - y_true), K.abs(y_pred - y_true))")}


def metric(y_true, y_pred):
    return {s.one("K.mean(y_pred)", "K.max(K.abs(y_true - y_pred), axis=-1)", "K.sqrt(K.mean(K.square(y_pred - y_true)))", "K.mean(K.cast(y_pred > y_true, 'float32'))")}


class Mine(L.Layer):
    def __init__(self, units=3, **kwargs):
        super(Mine, self).__init__(**kwargs)
        self.units = units
        {pass_mask}

    def build(self, shape):
        {weight}
        self.g = self.add_weight(name='g', shape=(self.units,), initializer='zeros', trainable={s.one("True", "False")})
        {done}

    def call(self, x{", training=None" if training else s.one("", ", mask=None")}):
        out = {body}
        return {"K.in_train_phase(out, out * 2., training=training)" if training else "out"}

    def compute_output_shape(self, shape):
        return tuple(shape[:-1]) + (self.units,)

    def get_config(self):
        config = super(Mine, self).get_config()
        config['units'] = self.units
        return config


a = L.Input({s.one("(4,)", "(3, 4)")})
model = start(models.Model(a, {s.one("L.Dense(2)(Mine(3)(a))", "Mine(2)(L.Dense(3, kernel_initializer=start_of)(a))", "Mine()(Mine(5, name='first')(a))")}))
x = drawn((9,) + K.int_shape(a)[1:])
y = drawn((9,) + K.int_shape(model.outputs[0])[1:])
model.compile({self.any_optimizer(0.2)}, loss, metrics=[metric, 'mae'])
noted = [model.predict(x), model.fit(x, y, batch_size=4, epochs=2, shuffle=False, validation_data=(x, y), verbose=0).history]
noted += [[w.name for w in model.weights], weights_of(model), model.metrics_names]
"""
        )  # fmt: skip
        if s.maybe(0.6):
            how = s.one(
                "model.save('m.h5')\nother = models.load_model('m.h5', custom_objects={'Mine': Mine, 'loss': loss, 'metric': metric, 'start_of': start_of, 'keep': keep})",
                "with utils.CustomObjectScope({'Mine': Mine, 'start_of': start_of, 'keep': keep}):\n    other = models.clone_model(model)\nother.set_weights(model.get_weights())\nother.compile('sgd', loss)",
                "other = models.model_from_json(model.to_json(), custom_objects={'Mine': Mine, 'start_of': start_of, 'keep': keep})\nother.set_weights(model.get_weights())\nother.compile('sgd', loss)",
            )
            self.lines(how)
            self.lines("noted += [other.train_on_batch(x, y), weights_of(other), other.metrics_names]")
        self.lines("return noted")


def write(script: RandomScript) -> None:
    """Write the script behind its imports."""
    Api(script).write()
