"""Arguments of legacy calls: Keras 1's names that Keras 2 still took, and Keras 2's that Keras 3 dropped.

The Keras 1 names are those of `keras/legacy/interfaces.py` of Keras 2.2.4.
"""

from __future__ import annotations

from functools import cache

from parallel_compat.names.table import Argument, Change

LAYERS = "parallel_compat.legacy.layers"

_DIM_ORDERING = (("tf", "channels_last"), ("th", "channels_first"), ("default", None))

NO_CLIPPING = (0.0, None)
_TF_KERAS = ("tf.keras-1.15", "tf.keras-2.2")

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
    "keras.activations.deserialize": "name>config",
    "keras.config.set_epsilon": "e>value",
    "keras.config.set_floatx": "floatx>value",
    "parallel_compat.legacy.backend.set_epsilon": "e>value",
    "parallel_compat.legacy.backend.set_floatx": "floatx>value",
    "keras.backend.set_epsilon": "e>value",
    "keras.backend.set_floatx": "floatx>value",
    "keras.utils.serialize_keras_object": "instance>obj",
    "keras.utils.to_categorical": "y>x",
    "keras.preprocessing.text.one_hot": "text>input_text",
    "keras.preprocessing.text.text_to_word_sequence": "text>input_text",
}
_OPTIMIZERS = ("SGD", "RMSprop", "Adagrad", "Adadelta", "Adam", "Adamax", "Nadam")


# Keras 1 gave the sides of a kernel one by one: their names, by layer.
KERNEL_SIDES: dict[str, tuple[str, ...]] = {
    **{
        f"keras.layers.{name}": ("nb_row", "nb_col")
        for name in ("Conv2D", "Conv2DTranspose", "SeparableConv2D", "ConvLSTM2D")
    },
    **{f"keras.layers.{name}": ("kernel_dim1", "kernel_dim2", "kernel_dim3") for name in ("Conv3D", "Conv3DTranspose")},
}
# With these Keras 2 did not take two whole numbers for the sides of a kernel.
AFTER_KERNEL_SIZE = frozenset(("padding", "strides", "data_format", "kernel_size"))
# Names that only Keras 1 had: what stands in the same call is of Keras 1 as well.
KERAS_1_ALONE = frozenset(
    ("border_mode", "subsample", "dim_ordering", "init", "nb_filter", "W_regularizer", "b_regularizer", "bias")
)
# Layers that took `input_dim` and `input_length` for the two parts of the shape of their input.
OF_SEQUENCES = frozenset(f"keras.layers.{name}" for name in ("LSTM", "GRU", "SimpleRNN", "Conv1D"))


def _layers() -> list[Argument]:
    rows = []
    for name, renames in _LAYERS.items():
        for pair in renames.split():
            old, _, new = pair.partition(">")
            values = _DIM_ORDERING if old == "dim_ordering" else ()
            rows.append(Argument(f"keras.layers.{name}", old, Change.RENAMED, new, values))
        for old in KERNEL_SIDES.get(f"keras.layers.{name}", ()):
            note = "Keras 1 gave the kernel's sides one by one; `kernel_size` takes them as a tuple."
            rows.append(Argument(f"keras.layers.{name}", old, Change.PROVIDED, f"{LAYERS}.{name}", note=note))
        if name in ("SimpleRNN", "GRU", "LSTM"):
            note = "It chose between implementations that give the same numbers."
            rows.append(Argument(f"keras.layers.{name}", "consume_less", Change.DROPPED, note=note))
        if name in ("LSTM", "ConvLSTM2D"):
            note = "It was one of the initialisations of the forget gate; `unit_forget_bias` is the other."
            target = f"{LAYERS}.{name}"
            rows.append(Argument(f"keras.layers.{name}", "forget_bias_init", Change.PROVIDED, target, note=note))
    rows += [
        Argument(
            "keras.layers.BatchNormalization",
            "mode",
            Change.GONE,
            harmless=(0,),
            note="Only `mode=0` still exists, and it is the default: Keras 2 had no other.",
        ),
        Argument(
            "keras.layers.Embedding",
            "dropout",
            Change.DROPPED,
            note="Keras 2 ignored it. For the effect, add `SpatialDropout1D` after the layer.",
        ),
        *(
            Argument(
                f"keras.layers.{name}",
                "implementation",
                Change.DROPPED,
                note="It chose between implementations that give the same numbers.",
            )
            for name in ("LSTM", "GRU", "SimpleRNN", "LSTMCell", "GRUCell", "SimpleRNNCell")
        ),
        *(
            Argument(
                f"keras.layers.{name}",
                "time_major",
                Change.GONE,
                harmless=(False,),
                note="Keras 3 takes only (batch, time, features). Transpose the input and the output.",
            )
            for name in ("LSTM", "GRU", "SimpleRNN", "RNN")
        ),
        *(
            Argument(
                f"keras.layers.{name}",
                "causal",
                Change.GONE,
                harmless=(False,),
                note="Pass `use_causal_mask=True` to the call of the layer.",
            )
            for name in ("Attention", "AdditiveAttention")
        ),
        Argument(
            "keras.layers.BatchNormalization",
            "fused",
            Change.DROPPED,
            note="It chose between implementations that give the same numbers.",
        ),
        *(
            Argument(
                "keras.layers.BatchNormalization",
                old,
                Change.GONE,
                harmless=harmless,
                note="Keras 3 has no such normalisation. Write a custom layer.",
            )
            for old, harmless in (
                ("virtual_batch_size", (None,)),
                ("adjustment", (None,)),
            )
        ),
        Argument(
            "keras.layers.Conv3DTranspose",
            "dilation_rate",
            Change.DROPPED,
            note="It had no effect.",
            not_in=("today",),
        ),
        Argument("keras.layers.Layer.add_weight", "experimental_autocast", Change.RENAMED, "autocast"),
        *(
            Argument(
                "keras.layers.Layer.add_weight",
                old,
                Change.DROPPED,
                note="It chose how a graph stores a variable; today all weights are stored as by default.",
            )
            for old in ("use_resource", "synchronization", "collections", "partitioner")
        ),
        *(
            Argument(
                "keras.metrics.Metric.add_weight",
                old,
                Change.DROPPED,
                note="It chose how replicas store a variable; those of metrics are added up, as by default.",
            )
            for old in ("aggregation", "synchronization")
        ),
        *(
            Argument(
                f"keras.layers.SpatialDropout{axes}D",
                "trainable",
                Change.DROPPED,
                note="The layer has no weights.",
            )
            for axes in (1, 2, 3)
        ),
        # Every layer.
        Argument(
            "keras.layers.Layer",
            "dynamic",
            Change.GONE,
            harmless=(False,),
            note="Compile the model with `run_eagerly=True`.",
        ),
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


SCHEDULE_DECAY = 0.004  # of Nadam, where the argument is not passed


def _optimizers() -> list[Argument]:
    rows = []
    for name in _OPTIMIZERS:
        of, legacy = f"keras.optimizers.{name}", f"parallel_compat.legacy.optimizers.{name}"
        rows.append(Argument(of, "lr", Change.RENAMED, "learning_rate"))
        note = "Keras 3 ignores `decay`; the class of this package applies lr / (1 + decay * iterations) as before."
        rows.append(Argument(of, "decay", Change.PROVIDED, legacy, note=note, harmless=(0.0, None)))
        # Keras 2.2.4 limited the norm of all gradients together; tf.keras that of each, as Keras 3.
        rows.append(
            Argument(
                of, "clipnorm", Change.RENAMED, "global_clipnorm", harmless=NO_CLIPPING, not_in=(*_TF_KERAS, "today")
            )
        )
        note = "Zero clips nothing."
        rows.append(
            Argument(of, "clipvalue", Change.SAME, "clipvalue", harmless=NO_CLIPPING, not_in=_TF_KERAS, note=note)
        )
    note = "The Ftrl of tf.keras took `lr` and stepped with `learning_rate`, 0.001 by default. Write `learning_rate`."
    rows.append(Argument("keras.optimizers.Ftrl", "lr", Change.DROPPED, note=note, not_in=("keras-2.2.4", "today")))
    note = "Keras 3 fixes the schedule of Nadam's momentum, at another one (0.96 ** t)."
    rows.append(
        Argument(
            "keras.optimizers.Nadam",
            "schedule_decay",
            Change.GONE,
            note=note + " Leave the argument out, or use Adam.",
            harmless=(SCHEDULE_DECAY,),
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
        Argument(f"keras.Model.{method}", "class_weight", Change.SAME, "class_weight", harmless=({}, None))
        for method in ("fit", "train_on_batch")
    ]
    rows += [
        Argument(
            f"keras.Model.{method}",
            "reset_metrics",
            Change.GONE,
            harmless=(True,),
            note="Keras 3 accumulates metrics from call to call. Call `model.reset_metrics()` to start again.",
        )
        for method in ("train_on_batch", "test_on_batch")
    ]
    suffix = "The suffix of the file name chooses the format: `.keras` or `.h5`; for weights `.weights.h5`."
    rows += [
        Argument("keras.Model.save", "save_format", Change.GONE, harmless=(None,), note=suffix),
        Argument("keras.Model.save_weights", "save_format", Change.GONE, harmless=(None,), note=suffix),
        *(
            Argument(
                "keras.Model.save",
                name,
                Change.GONE,
                harmless=(None,),
                note="Keras 3 writes a SavedModel by `model.export(path)`.",
            )
            for name in ("signatures", "options")
        ),
        Argument(
            "keras.Model.load_weights",
            "reshape",
            Change.GONE,
            harmless=(False,),
            note="Reshape the arrays, and call `layer.set_weights`.",
        ),
        Argument("keras.layers.Layer.compute_mask", "mask", Change.RENAMED, "previous_mask"),
        Argument("keras.optimizers.Optimizer.apply_gradients", "name", Change.DROPPED, note="It named operations."),
        Argument(
            "keras.optimizers.Optimizer.apply_gradients",
            "experimental_aggregate_gradients",
            Change.GONE,
            harmless=(True,),
            note="Keras 3 always adds up the gradients of the replicas.",
        ),
        Argument(
            "keras.Model.compile",
            "distribute",
            Change.GONE,
            harmless=(None,),
            note="Enter the strategy's scope, or use `parallelize`.",
        ),
        Argument(
            "keras.Model.compile",
            "experimental_run_tf_function",
            Change.DROPPED,
            note="It chose between implementations that give the same numbers.",
        ),
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
            harmless=(None,),
            note="Targets were tensors of a TensorFlow 1 graph. Pass them to `fit`, say in a `tf.data.Dataset`.",
        ),
        Argument(
            "keras.Model.compile",
            "options",
            Change.GONE,
            harmless=(None,),
            note="It was passed to `tf.Session.run`, which is gone. Remove it.",
        ),
        Argument(
            "keras.Model.compile",
            "run_metadata",
            Change.GONE,
            harmless=(None,),
            note="It was passed to `tf.Session.run`, which is gone. Use the profiler of `keras.callbacks.TensorBoard`.",
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
            harmless=(1,),
            note="Keras 3 has no interval in epochs: its `save_freq` counts batches.",
        ),
        Argument(
            checkpoint,
            "load_weights_on_restart",
            Change.GONE,
            harmless=(False,),
            note="Call `model.load_weights(path)` before `fit`, or use `keras.callbacks.BackupAndRestore`.",
        ),
        *(
            Argument(
                "keras.callbacks.ProgbarLogger",
                name,
                Change.DROPPED,
                note="It chose what the bar shows; Keras 3's counts steps and knows the metrics.",
            )
            for name in ("count_mode", "stateful_metrics")
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
            harmless=(None,),
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
            harmless=(False,),
            note='It is `color_mode="grayscale"` today.',
        ),
        Argument(
            "keras.utils.to_categorical",
            "dtype",
            Change.PROVIDED,
            "parallel_compat.legacy.utils.to_categorical",
            note="Keras 3 chooses the dtype itself.",
            harmless=("float32",),
        ),
        *(
            Argument(
                "keras.utils.get_source_inputs",
                name,
                Change.GONE,
                harmless=(None, 0),
                note="Keras 3 keeps no public list of nodes. Keep the tensors that the layer was called on.",
            )
            for name in ("layer", "node_index")
        ),
        Argument(
            "keras.callbacks.CallbackList",
            "queue_length",
            Change.DROPPED,
            note="It was the number of batches whose times were kept for a warning.",
        ),
        *(
            Argument(
                "keras.utils.get_file",
                name,
                Change.PROVIDED,
                "parallel_compat.legacy.downloads.get_file",
                harmless=(False,),
                note="Keras 3 unpacks into a folder of its own.",
            )
            for name in ("untar", "extract")
        ),
        Argument(
            "keras.models.save_model",
            "include_optimizer",
            Change.PROVIDED,
            "parallel_compat.legacy.models.save_model",
            note="Keras 3 takes it for `.h5` files only.",
        ),
    ]
    return rows


@cache
def arguments() -> dict[str, dict[str, Argument]]:
    """Return the rows by callable and old name: `arguments()["keras.layers.Dense"]["output_dim"]`."""
    table: dict[str, dict[str, Argument]] = {}
    for row in _layers() + _optimizers() + _training() + _callbacks() + _other():
        table.setdefault(row.of, {})[row.old] = row
    return table
