"""The arguments that Keras 3's layers take, for the classes that Keras 2 had too.

Read from Keras 3.15; `tests/recover/test_keras3_tables.py` holds each against the real signature, so that a new
Keras release which takes one away is noticed. Every layer takes `name`, `trainable` and `dtype` as well.
"""

from __future__ import annotations

COMMON = frozenset({"name", "trainable", "dtype"})

_REGULATED = {
    name: f"{name}_initializer {name}_regularizer {name}_constraint"
    for name in (
        "kernel",
        "bias",
        "recurrent",
        "depthwise",
        "pointwise",
        "gamma",
        "beta",
        "alpha",
        "embeddings",
    )
}

_ARGUMENTS = {
    "Activation": "activation",
    "ActivityRegularization": "l1 l2",
    "Add Average Maximum Minimum Multiply Subtract": "",
    "AdditiveAttention": "dropout seed use_scale",
    "Attention": "dropout score_mode seed use_scale",
    "AlphaDropout Dropout": "noise_shape rate seed",
    (
        "AveragePooling1D AveragePooling2D AveragePooling3D AvgPool1D AvgPool2D AvgPool3D "
        "MaxPool1D MaxPool2D MaxPool3D MaxPooling1D MaxPooling2D MaxPooling3D"
    ): "data_format padding pool_size strides",
    "BatchNormalization": (
        "axis center epsilon momentum moving_mean_initializer moving_variance_initializer scale @gamma @beta"
    ),
    "Bidirectional": "backward_layer layer merge_mode",
    "Concatenate Softmax": "axis",
    "Conv1D Conv2D Conv3D Convolution1D Convolution2D Convolution3D": (
        "activation activity_regularizer data_format dilation_rate filters groups kernel_size "
        "padding strides use_bias @kernel @bias"
    ),
    "Conv2DTranspose Conv3DTranspose": (
        "activation activity_regularizer data_format dilation_rate filters kernel_size "
        "output_padding padding strides use_bias @kernel @bias"
    ),
    "ConvLSTM2D": (
        "activation activity_regularizer data_format dilation_rate dropout filters go_backwards "
        "kernel_size padding recurrent_activation recurrent_dropout return_sequences return_state "
        "seed stateful strides unit_forget_bias unroll use_bias @kernel @bias @recurrent"
    ),
    "GRUCell": (
        "activation dropout recurrent_activation recurrent_dropout reset_after seed units use_bias "
        "@kernel @bias @recurrent"
    ),
    "LSTMCell": (
        "activation dropout recurrent_activation recurrent_dropout seed unit_forget_bias units use_bias "
        "@kernel @bias @recurrent"
    ),
    "SimpleRNNCell": "activation dropout recurrent_dropout seed units use_bias @kernel @bias @recurrent",
    "StackedRNNCells": "cells",
    "Cropping1D": "cropping",
    "Cropping2D Cropping3D": "cropping data_format",
    "Dense": "activation activity_regularizer units use_bias @kernel @bias",
    "DepthwiseConv2D": (
        "activation activity_regularizer data_format depth_multiplier dilation_rate kernel_size "
        "padding strides use_bias @bias @depthwise"
    ),
    "Dot": "axes normalize",
    "ELU": "alpha",
    "Embedding": "input_dim mask_zero output_dim @embeddings",
    "Flatten": "data_format",
    "GRU": (
        "activation activity_regularizer dropout go_backwards recurrent_activation "
        "recurrent_dropout reset_after return_sequences return_state seed stateful units unroll "
        "use_bias @kernel @bias @recurrent"
        " zero_output_for_mask"
    ),
    "GaussianDropout SpatialDropout1D": "rate seed",
    "GaussianNoise": "seed stddev",
    (
        "GlobalAveragePooling1D GlobalAveragePooling2D GlobalAveragePooling3D GlobalMaxPooling1D "
        "GlobalMaxPooling2D GlobalMaxPooling3D"
    ): "data_format keepdims",
    "InputLayer": "batch_shape sparse",
    "LSTM": (
        "activation activity_regularizer dropout go_backwards recurrent_activation "
        "recurrent_dropout return_sequences return_state seed stateful unit_forget_bias units "
        "unroll use_bias @kernel @bias @recurrent"
        " zero_output_for_mask"
    ),
    "Lambda": "arguments function mask output_shape",
    "LayerNormalization": "axis center epsilon scale @gamma @beta",
    "LeakyReLU": "negative_slope",
    "Masking": "mask_value",
    "PReLU": "shared_axes @alpha",
    "Permute": "dims",
    "RNN": "cell go_backwards return_sequences return_state stateful unroll zero_output_for_mask",
    "ReLU": "max_value negative_slope threshold",
    "RepeatVector": "n",
    "Rescaling": "offset scale",
    "Reshape": "target_shape",
    "SeparableConv1D SeparableConv2D": (
        "activation activity_regularizer data_format depth_multiplier dilation_rate filters "
        "kernel_size padding strides use_bias @bias @depthwise @pointwise"
    ),
    "SimpleRNN": (
        "activation activity_regularizer dropout go_backwards recurrent_dropout return_sequences "
        "return_state seed stateful units unroll use_bias @kernel @bias @recurrent"
        " zero_output_for_mask"
    ),
    "SpatialDropout2D SpatialDropout3D": "data_format rate seed",
    "TimeDistributed": "layer",
    "UpSampling1D": "size",
    "UpSampling2D": "data_format interpolation size",
    "UpSampling3D": "data_format size",
    "ZeroPadding1D ZeroPadding2D ZeroPadding3D": "data_format padding",
}


def _expand(arguments: str) -> frozenset[str]:
    words: list[str] = []
    for word in arguments.split():
        words += _REGULATED[word[1:]].split() if word.startswith("@") else [word]
    return frozenset(words)


KERAS3_ARGUMENTS: dict[str, frozenset[str]] = {
    name: _expand(arguments) for names, arguments in _ARGUMENTS.items() for name in names.split()
}
