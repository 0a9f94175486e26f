"""Arguments of legacy calls: Keras 1's names that Keras 2 still took, and Keras 2's that Keras 3 dropped.

The Keras 1 names are those of `keras/legacy/interfaces.py` of Keras 2.2.4.
"""

from __future__ import annotations

from functools import cache

from parallel_compat.names.table import Argument, Change

LAYERS = "parallel_compat.legacy.layers"

_DIM_ORDERING = (("tf", "channels_last"), ("th", "channels_first"), ("default", None))

_DENSE = (
    "output_dim>units init>kernel_initializer W_regularizer>kernel_regularizer b_regularizer>bias_regularizer "
    "W_constraint>kernel_constraint b_constraint>bias_constraint bias>use_bias"
)
_CONV = (
    "nb_filter>filters subsample>strides border_mode>padding dim_ordering>data_format init>kernel_initializer "
    "W_regularizer>kernel_regularizer b_regularizer>bias_regularizer W_constraint>kernel_constraint "
    "b_constraint>bias_constraint bias>use_bias"
)
_RECURRENT = (
    "output_dim>units init>kernel_initializer inner_init>recurrent_initializer "
    "inner_activation>recurrent_activation W_regularizer>kernel_regularizer b_regularizer>bias_regularizer "
    "U_regularizer>recurrent_regularizer dropout_W>dropout dropout_U>recurrent_dropout"
)

# layer -> the renames that hold for it, "old>new old>new ..."
_LAYERS: dict[str, str] = {
    "Dense": _DENSE,
    "Dropout": "p>rate",
    "SpatialDropout1D": "p>rate",
    "SpatialDropout2D": "p>rate dim_ordering>data_format",
    "SpatialDropout3D": "p>rate dim_ordering>data_format",
    "GaussianDropout": "p>rate",
    "GaussianNoise": "sigma>stddev",
    "Embedding": "init>embeddings_initializer W_regularizer>embeddings_regularizer W_constraint>embeddings_constraint",
    "PReLU": "init>alpha_initializer",
    "LeakyReLU": "alpha>negative_slope",
    "MaxPooling1D": "pool_length>pool_size stride>strides border_mode>padding",
    "AveragePooling1D": "pool_length>pool_size stride>strides border_mode>padding",
    "MaxPooling2D": "border_mode>padding dim_ordering>data_format",
    "AveragePooling2D": "border_mode>padding dim_ordering>data_format",
    "MaxPooling3D": "border_mode>padding dim_ordering>data_format",
    "AveragePooling3D": "border_mode>padding dim_ordering>data_format",
    "GlobalMaxPooling2D": "dim_ordering>data_format",
    "GlobalAveragePooling2D": "dim_ordering>data_format",
    "GlobalMaxPooling3D": "dim_ordering>data_format",
    "GlobalAveragePooling3D": "dim_ordering>data_format",
    "UpSampling1D": "length>size",
    "UpSampling2D": "dim_ordering>data_format",
    "UpSampling3D": "dim_ordering>data_format",
    "ZeroPadding2D": "dim_ordering>data_format",
    "ZeroPadding3D": "dim_ordering>data_format",
    "Cropping2D": "dim_ordering>data_format",
    "Cropping3D": "dim_ordering>data_format",
    "Conv1D": _CONV.replace("subsample>", "subsample_length>").replace(" dim_ordering>data_format", "")
    + " filter_length>kernel_size",
    "Conv2D": _CONV,
    "Conv3D": _CONV,
    "Conv2DTranspose": _CONV,
    "Conv3DTranspose": _CONV,
    "SeparableConv2D": "nb_filter>filters subsample>strides border_mode>padding dim_ordering>data_format "
    "b_regularizer>bias_regularizer b_constraint>bias_constraint bias>use_bias",
    "ConvLSTM2D": _CONV + " inner_init>recurrent_initializer U_regularizer>recurrent_regularizer "
    "inner_activation>recurrent_activation dropout_W>dropout dropout_U>recurrent_dropout",
    "SimpleRNN": _RECURRENT.replace("inner_activation>recurrent_activation ", ""),
    "GRU": _RECURRENT,
    "LSTM": _RECURRENT,
    "BatchNormalization": "beta_init>beta_initializer gamma_init>gamma_initializer",
    "Input": "input_dtype>dtype",
}
# Other callables: the renames that hold for them.
_OTHER: dict[str, str] = {
    "keras.Model": "input>inputs output>outputs",
    "keras.Model.fit": "nb_epoch>epochs",
    "keras.layers.InputLayer": "input_shape>shape batch_input_shape>batch_shape input_dtype>dtype",
    "keras.callbacks.ReduceLROnPlateau": "epsilon>min_delta",
    "keras.callbacks.LambdaCallback": "on_batch_begin>on_train_batch_begin on_batch_end>on_train_batch_end",
    "keras.regularizers.l1": "l>l1",
    "keras.regularizers.l2": "l>l2",
    "keras.activations.relu": "alpha>negative_slope",
    "keras.utils.to_categorical": "y>x",
    "keras.preprocessing.text.one_hot": "text>input_text",
    "keras.preprocessing.text.text_to_word_sequence": "text>input_text",
}
_OPTIMIZERS = ("SGD", "RMSprop", "Adagrad", "Adadelta", "Adam", "Adamax", "Nadam")

# The order in which old code could pass arguments by position, where today's order is another one.
POSITIONS: dict[str, tuple[str, ...]] = {
    "keras.optimizers.SGD": ("learning_rate", "momentum", "decay", "nesterov"),
    "keras.optimizers.RMSprop": ("learning_rate", "rho", "epsilon", "decay"),
    "keras.optimizers.Adagrad": ("learning_rate", "epsilon", "decay"),
    "keras.optimizers.Adadelta": ("learning_rate", "rho", "epsilon", "decay"),
    "keras.optimizers.Adam": ("learning_rate", "beta_1", "beta_2", "epsilon", "decay", "amsgrad"),
    "keras.optimizers.Adamax": ("learning_rate", "beta_1", "beta_2", "epsilon", "decay"),
    "keras.optimizers.Nadam": ("learning_rate", "beta_1", "beta_2", "epsilon", "schedule_decay"),
    "keras.callbacks.ModelCheckpoint": (
        "filepath",
        "monitor",
        "verbose",
        "save_best_only",
        "save_weights_only",
        "mode",
        "period",
    ),
    "keras.callbacks.TensorBoard": (
        "log_dir",
        "histogram_freq",
        "batch_size",
        "write_graph",
        "write_grads",
        "write_images",
        "embeddings_freq",
        "embeddings_layer_names",
        "embeddings_metadata",
        "embeddings_data",
        "update_freq",
    ),
    "keras.callbacks.LambdaCallback": (
        "on_epoch_begin",
        "on_epoch_end",
        "on_batch_begin",
        "on_batch_end",
        "on_train_begin",
        "on_train_end",
    ),
    "keras.Input": ("shape", "batch_shape", "name", "dtype", "sparse", "tensor"),
    "keras.layers.Input": ("shape", "batch_shape", "name", "dtype", "sparse", "tensor"),
    "keras.utils.plot_model": ("model", "to_file", "show_shapes", "show_layer_names", "rankdir"),
    "keras.preprocessing.image.load_img": ("path", "grayscale", "color_mode", "target_size", "interpolation"),
    "keras.Model.compile": (
        "optimizer",
        "loss",
        "metrics",
        "loss_weights",
        "sample_weight_mode",
        "weighted_metrics",
        "target_tensors",
    ),
    "keras.layers.Layer.add_weight": (
        "name",
        "shape",
        "dtype",
        "initializer",
        "regularizer",
        "trainable",
        "constraint",
    ),
}
# How many of these leading positions mean the same today.
AGREEING: dict[str, int] = {
    "keras.optimizers.SGD": 2,
    "keras.optimizers.RMSprop": 2,
    "keras.optimizers.Adagrad": 1,
    "keras.optimizers.Adadelta": 3,
    "keras.optimizers.Adam": 4,
    "keras.optimizers.Adamax": 4,
    "keras.optimizers.Nadam": 4,
    "keras.callbacks.ModelCheckpoint": 6,
    "keras.callbacks.TensorBoard": 2,
    "keras.callbacks.LambdaCallback": 2,
    "keras.Input": 1,
    "keras.layers.Input": 1,
    "keras.utils.plot_model": 3,
    "keras.preprocessing.image.load_img": 1,
    "keras.Model.compile": 2,
    "keras.layers.Layer.add_weight": 0,
}


def _layers() -> list[Argument]:
    rows = []
    for name, renames in _LAYERS.items():
        for pair in renames.split():
            old, _, new = pair.partition(">")
            values = _DIM_ORDERING if old == "dim_ordering" else ()
            rows.append(Argument(f"keras.layers.{name}", old, Change.RENAMED, new, values))
        if name.startswith(("Conv", "SeparableConv")):
            for old in ("nb_row", "nb_col", "kernel_dim1", "kernel_dim2", "kernel_dim3"):
                note = "Keras 1 gave the kernel's sides one by one; `kernel_size` takes them as a tuple."
                rows.append(Argument(f"keras.layers.{name}", old, Change.PROVIDED, f"{LAYERS}.{name}", note=note))
        if name in ("SimpleRNN", "GRU", "LSTM"):
            note = "It chose between implementations that give the same numbers."
            rows.append(Argument(f"keras.layers.{name}", "consume_less", Change.DROPPED, note=note))
            note = "It was one of the initialisations of the forget gate; `unit_forget_bias` is the other."
            target = f"{LAYERS}.{name}"
            rows.append(Argument(f"keras.layers.{name}", "forget_bias_init", Change.PROVIDED, target, note=note))
    rows += [
        Argument(
            "keras.layers.BatchNormalization",
            "mode",
            Change.PROVIDED,
            f"{LAYERS}.BatchNormalization",
            note="Only `mode=0` still exists, and it is the default.",
        ),
        Argument(
            "keras.layers.Embedding",
            "dropout",
            Change.DROPPED,
            note="Keras 2 ignored it. For the effect, add `SpatialDropout1D` after the layer.",
        ),
        # Every layer.
        Argument(
            "keras.layers.Layer",
            "batch_input_shape",
            Change.PROVIDED,
            LAYERS,
            note="The class of the same name in `parallel_compat.legacy.layers` takes it; in new code begin the model "
            "with `keras.Input(batch_shape=...)`.",
        ),
        Argument(
            "keras.layers.Layer",
            "batch_size",
            Change.PROVIDED,
            LAYERS,
            note="The class of the same name in `parallel_compat.legacy.layers` takes it; in new code begin the model "
            "with `keras.Input(shape, batch_size=...)`.",
        ),
        Argument(
            "keras.layers.Layer",
            "weights",
            Change.PROVIDED,
            LAYERS,
            note="The class of the same name in `parallel_compat.legacy.layers` takes it; in new code call "
            "`layer.set_weights(...)`.",
        ),
        Argument("keras.layers.Layer", "input_dtype", Change.RENAMED, "dtype"),
    ]
    return rows


def _optimizers() -> list[Argument]:
    rows = []
    for name in _OPTIMIZERS:
        of, legacy = f"keras.optimizers.{name}", f"parallel_compat.legacy.optimizers.{name}"
        rows.append(Argument(of, "lr", Change.RENAMED, "learning_rate"))
        note = "Keras 3 ignores `decay`; the class of this package applies lr / (1 + decay * iterations) as before."
        rows.append(Argument(of, "decay", Change.PROVIDED, legacy, note=note))
    note = "Keras 3 fixes the schedule of Nadam's momentum, at another one (0.96 ** t)."
    rows.append(
        Argument(
            "keras.optimizers.Nadam",
            "schedule_decay",
            Change.GONE,
            note=note + " Leave the argument out, or use Adam.",
        )
    )
    return rows


def _training() -> list[Argument]:
    queue = "It tuned the loading queue and did not change results; give it to a `keras.utils.PyDataset` instead."
    rows = [
        Argument("keras.Model.fit", name, Change.DROPPED, note=queue)
        for name in ("workers", "use_multiprocessing", "max_queue_size")
    ]
    rows += [
        Argument(f"keras.Model.{method}", name, Change.DROPPED, note=queue)
        for method in ("evaluate", "predict")
        for name in ("workers", "use_multiprocessing", "max_queue_size")
    ]
    rows += [
        Argument(
            "keras.Model.compile",
            "sample_weight_mode",
            Change.DROPPED,
            note="Keras 3 takes weights per sample and per time step alike.",
        ),
        Argument(
            "keras.Model.compile",
            "target_tensors",
            Change.GONE,
            note="Targets were tensors of a TensorFlow 1 graph. Pass them to `fit`, say in a `tf.data.Dataset`.",
        ),
        Argument(
            "keras.Model.compile",
            "options",
            Change.GONE,
            note="It went to `tf.Session.run`, which is no more. Remove it.",
        ),
        Argument(
            "keras.Model.compile",
            "run_metadata",
            Change.GONE,
            note="It went to `tf.Session.run`, which is no more. Use the profiler of `keras.callbacks.TensorBoard`.",
        ),
    ]
    return rows


def _callbacks() -> list[Argument]:
    checkpoint, board = "keras.callbacks.ModelCheckpoint", "keras.callbacks.TensorBoard"
    legacy = "parallel_compat.legacy.callbacks"
    rows = [
        Argument(
            checkpoint,
            "period",
            Change.PROVIDED,
            f"{legacy}.ModelCheckpoint",
            position=6,
            note="Keras 3 has no interval in epochs: its `save_freq` counts batches.",
        ),
        Argument(
            checkpoint,
            "load_weights_on_restart",
            Change.GONE,
            note="Call `model.load_weights(path)` before `fit`, or use `keras.callbacks.BackupAndRestore`.",
        ),
        Argument(board, "batch_size", Change.DROPPED, note="It sized the batches of the histograms."),
        Argument(
            board,
            "write_grads",
            Change.DROPPED,
            note="Keras 3 writes no histograms of gradients.",
        ),
    ]
    rows += [
        Argument(
            board,
            name,
            Change.PROVIDED,
            f"{legacy}.TensorBoard",
            note="Keras 3 writes no embeddings of layer outputs.",
        )
        for name in ("embeddings_layer_names", "embeddings_data")
    ]
    return rows


def _other() -> list[Argument]:
    rows = []
    for of, renames in _OTHER.items():
        for pair in renames.split():
            old, _, new = pair.partition(">")
            rows.append(Argument(of, old, Change.RENAMED, new))
    rows += [
        Argument(
            "keras.preprocessing.image.load_img",
            "grayscale",
            Change.PROVIDED,
            "parallel_compat.legacy.preprocessing.load_img",
            position=1,
            note='It is `color_mode="grayscale"` today.',
        ),
        Argument(
            "keras.utils.to_categorical",
            "dtype",
            Change.PROVIDED,
            "parallel_compat.legacy.utils.to_categorical",
            note="Keras 3 chooses the dtype itself.",
        ),
        Argument(
            "keras.models.save_model",
            "include_optimizer",
            Change.PROVIDED,
            "parallel_compat.legacy.models.save_model",
            note="Keras 3 takes it for `.h5` files only.",
        ),
        Argument(
            "keras.models.load_model",
            "safe_mode",
            Change.RENAMED,
            "safe_mode",
        ),
    ]
    return [row for row in rows if row.old != row.new]


@cache
def arguments() -> dict[str, dict[str, Argument]]:
    """Return the rows by callable and old name: `arguments()["keras.layers.Dense"]["output_dim"]`."""
    table: dict[str, dict[str, Argument]] = {}
    for row in _layers() + _optimizers() + _training() + _callbacks() + _other():
        table.setdefault(row.of, {})[row.old] = row
    return table
