"""Arguments that layers no longer take, take by another name, or took for granted."""

from __future__ import annotations

from typing import Any

from parallel_compat.recover.config_json import Entry
from parallel_compat.recover.rules.keras3_arguments import COMMON, KERAS3_ARGUMENTS
from parallel_compat.recover.translation import Translation

# (class or "*", old argument) -> new argument
RENAMED = {
    ("LeakyReLU", "alpha"): "negative_slope",
    ("DepthwiseConv2D", "kernel_initializer"): "depthwise_initializer",
    ("DepthwiseConv2D", "kernel_regularizer"): "depthwise_regularizer",
    ("DepthwiseConv2D", "kernel_constraint"): "depthwise_constraint",
}

# (class or "*", argument) -> the values for which the argument can be dropped; None: every value.
# What has another value is refused by `unknown_argument`.
DROPPED: dict[tuple[str, str], tuple[Any, ...] | None] = {
    ("*", "batch_input_shape"): None,  # tells the shape, which the graph (or `sequential_input`) gives
    ("*", "input_dtype"): None,
    ("*", "ragged"): (False,),
    ("*", "time_major"): (False,),  # tf.keras 1.14 on
    ("*", "implementation"): None,  # how it is computed, not what
    ("*", "num_constants"): (None, 0),
    ("*", "input_spec"): (None,),
    ("SpatialDropout1D", "trainable"): None,  # it has no weights, and Keras 3's takes no such argument
    ("SpatialDropout2D", "trainable"): None,
    ("SpatialDropout3D", "trainable"): None,
    ("SpatialDropout1D", "noise_shape"): (None,),  # inherited from Dropout, of no effect
    ("SpatialDropout2D", "noise_shape"): (None,),
    ("SpatialDropout3D", "noise_shape"): (None,),
    ("Embedding", "input_length"): None,  # said the shape
    ("Embedding", "activity_regularizer"): (None,),
    ("Embedding", "sparse"): (False,),
    ("BatchNormalization", "renorm"): (False,),  # tf.keras 1.x
    ("BatchNormalization", "renorm_clipping"): (None, {}),
    ("BatchNormalization", "renorm_momentum"): None,  # of no effect without renorm
    ("BatchNormalization", "fused"): None,  # how it is computed
    ("BatchNormalization", "virtual_batch_size"): (None,),
    ("BatchNormalization", "adjustment"): (None,),
    ("LayerNormalization", "trainable_weights"): None,
    ("SeparableConv1D", "kernel_initializer"): None,  # inherited from Conv, of no effect
    ("SeparableConv1D", "kernel_regularizer"): (None,),
    ("SeparableConv1D", "kernel_constraint"): (None,),
    ("SeparableConv1D", "groups"): (1,),
    ("SeparableConv2D", "kernel_initializer"): None,
    ("SeparableConv2D", "kernel_regularizer"): (None,),
    ("SeparableConv2D", "kernel_constraint"): (None,),
    ("SeparableConv2D", "groups"): (1,),
    ("DepthwiseConv2D", "filters"): (None,),
    ("DepthwiseConv2D", "groups"): (1,),
    ("Conv2DTranspose", "groups"): (1,),
    ("Conv3DTranspose", "groups"): (1,),
    ("Conv3DTranspose", "dilation_rate"): ([1, 1, 1], 1),
    ("ConvLSTM2D", "unroll"): None,
    ("Attention", "causal"): (False,),
    ("AdditiveAttention", "causal"): (False,),
    ("Bidirectional", "weights"): (None,),
    ("AveragePooling1D", "keepdims"): (False,),
    ("MaxPooling1D", "keepdims"): (False,),
    ("ZeroPadding1D", "data_format"): (None, "channels_last"),
    ("UpSampling1D", "data_format"): (None, "channels_last"),
    ("Reshape", "data_format"): None,
    ("GRU", "unit_forget_bias"): None,
}

# (class, argument) -> what it was where the config does not say, and what Keras 3 takes for granted
# otherwise.
MISSING = {
    ("GRU", "reset_after"): False,  # the argument came with Keras 2.1.5; Keras 3 takes True for granted
    ("GRUCell", "reset_after"): False,
    ("LSTM", "recurrent_activation"): "hard_sigmoid",
    ("GRU", "recurrent_activation"): "hard_sigmoid",
    ("LSTMCell", "recurrent_activation"): "hard_sigmoid",
    ("GRUCell", "recurrent_activation"): "hard_sigmoid",
    ("ConvLSTM2D", "recurrent_activation"): "hard_sigmoid",
    ("Embedding", "mask_zero"): False,
}


def batch_normalization_axis(entry: Entry, translation: Translation) -> None:
    """The axis of a BatchNormalization is a number; tf.keras writes a list, ``[3]``."""
    axis = entry["config"].get("axis")
    if entry["class_name"] == "BatchNormalization" and isinstance(axis, list):
        if len(axis) == 1:
            entry["config"]["axis"] = axis[0]
        else:
            translation.refuse(entry, f"Keras 3 normalises along one axis, this layer along {axis}")


def renamed_argument(entry: Entry, translation: Translation) -> None:
    """An argument of the same meaning stands under its new name."""
    config = entry["config"]
    for (name, old), new in RENAMED.items():
        if entry["class_name"] == name and old in config:
            value = config.pop(old)
            config.setdefault(new, value)


def missing_default(entry: Entry, translation: Translation) -> None:
    """What an early Keras 2 did without saying so is said, where Keras 3 would do otherwise."""
    for (name, argument), value in MISSING.items():
        if entry["class_name"] == name:
            entry["config"].setdefault(argument, value)


def dropped_argument(entry: Entry, translation: Translation) -> None:
    """Drop an argument that Keras 3 no longer has, if its value changes nothing."""
    config = entry["config"]
    for (name, argument), harmless in DROPPED.items():
        if name in ("*", entry["class_name"]) and argument in config:
            if name == "*" and entry["class_name"] in ("InputLayer", "Sequential", "Functional"):
                continue  # `input_layer` and `sequential_input` need it
            if argument in KERAS3_ARGUMENTS.get(entry["class_name"], ()):
                continue
            if entry["class_name"] not in KERAS3_ARGUMENTS:
                continue
            if argument == "batch_input_shape":
                entry["batch_input_shape"] = config[argument]  # for `sequential_input` of the model around
            if harmless is None or any(config[argument] == value for value in harmless):
                del config[argument]


def bilinear_upsampling(entry: Entry, translation: Translation) -> None:
    """Bilinear upsampling places pixels elsewhere since TensorFlow 2.0 (half-pixel centres), and so does Keras 3."""
    old_centres = not translation.tf_keras or translation.version < (2, 2, 5)
    if entry["class_name"] == "UpSampling2D" and entry["config"].get("interpolation") == "bilinear" and old_centres:
        translation.refuse(
            entry,
            "its bilinear interpolation is that of TensorFlow 1 (no half-pixel centres), which Keras 3 does not have",
        )


def unknown_argument(entry: Entry, translation: Translation) -> None:
    """Refuse, by name, an argument that Keras 3 does not take."""
    taken = KERAS3_ARGUMENTS.get(entry["class_name"])
    if taken is None or entry["class_name"] == "Lambda":
        return
    for argument, value in entry["config"].items():
        if argument not in taken and argument not in COMMON:
            translation.refuse(entry, f"Keras 3's {entry['class_name']} takes no `{argument}` (here {str(value)[:60]})")
