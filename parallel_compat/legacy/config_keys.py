"""The arguments that the configuration of each layer held, in their order, per era.

Read off Keras 2.2.4, TensorFlow 1.15.5 and 2.2.3: `get_config()` of a layer of every class.
"""

from __future__ import annotations

import functools

from parallel_compat.names.eras import Era

_RECURRENT = "return_sequences return_state go_backwards stateful"
_REGULARIZED = "kernel_regularizer bias_regularizer activity_regularizer kernel_constraint bias_constraint"
_CONVOLUTION = "filters kernel_size strides padding data_format dilation_rate activation use_bias"
_INITIALIZED = f"kernel_initializer bias_initializer {_REGULARIZED}"
_OF_CELL = "kernel_initializer recurrent_initializer bias_initializer"
_OF_CELL_REGULARIZED = "kernel_regularizer recurrent_regularizer bias_regularizer"
_OF_CELL_CONSTRAINED = "kernel_constraint recurrent_constraint bias_constraint"
_OF_LAYER_REGULARIZED = f"{_OF_CELL_REGULARIZED} activity_regularizer {_OF_CELL_CONSTRAINED}"
_DROPOUT = "dropout recurrent_dropout"
_SEPARABLE = (
    f"{_CONVOLUTION} bias_initializer bias_regularizer activity_regularizer bias_constraint depth_multiplier "
    "depthwise_initializer pointwise_initializer depthwise_regularizer pointwise_regularizer depthwise_constraint "
    "pointwise_constraint"
)
_NORMALIZED = (
    "axis {momentum}epsilon center scale beta_initializer gamma_initializer {moving}beta_regularizer "
    "gamma_regularizer beta_constraint gamma_constraint"
)

_KERAS_2_2_4 = {
    "Activation": "activation",
    "ActivityRegularization": "l1 l2",
    "Add Average Maximum Minimum Multiply Subtract": "",
    "AlphaDropout GaussianDropout": "rate",
    "AveragePooling1D MaxPooling1D": "strides pool_size padding data_format",
    "AveragePooling2D AveragePooling3D MaxPooling2D MaxPooling3D": "pool_size padding strides data_format",
    "BatchNormalization": _NORMALIZED.format(
        momentum="momentum ", moving="moving_mean_initializer moving_variance_initializer "
    ),
    "Bidirectional": "layer merge_mode",
    "Concatenate Softmax": "axis",
    "Conv1D Conv2D Conv3D": f"{_CONVOLUTION} {_INITIALIZED}",
    "Conv2DTranspose": f"{_CONVOLUTION} {_INITIALIZED} output_padding",
    "Conv3DTranspose": f"{_CONVOLUTION} {_INITIALIZED} output_padding".replace("dilation_rate ", ""),
    "ConvLSTM2D": (
        f"{_RECURRENT} unroll {_CONVOLUTION} {_OF_CELL} unit_forget_bias {_OF_LAYER_REGULARIZED} {_DROPOUT}"
    ).replace("activation use_bias", "activation recurrent_activation use_bias"),
    "Cropping1D": "cropping",
    "Cropping2D Cropping3D": "cropping data_format",
    "CuDNNGRU": f"{_RECURRENT} units {_OF_CELL} {_OF_LAYER_REGULARIZED}",
    "CuDNNLSTM": f"{_RECURRENT} units {_OF_CELL} unit_forget_bias {_OF_LAYER_REGULARIZED}",
    "Dense": f"units activation use_bias {_INITIALIZED}",
    "DepthwiseConv2D": (
        "kernel_size strides padding data_format dilation_rate activation use_bias bias_initializer bias_regularizer "
        "activity_regularizer bias_constraint depth_multiplier depthwise_initializer depthwise_regularizer "
        "depthwise_constraint"
    ),
    "Dot": "axes normalize",
    "Dropout SpatialDropout1D SpatialDropout2D SpatialDropout3D": "rate noise_shape seed",
    "ELU LeakyReLU": "alpha",
    "Embedding": (
        "input_dim output_dim embeddings_initializer embeddings_regularizer activity_regularizer "
        "embeddings_constraint mask_zero input_length"
    ),
    "Flatten GlobalAveragePooling1D GlobalAveragePooling2D GlobalAveragePooling3D": "data_format",
    "GlobalMaxPooling1D GlobalMaxPooling2D GlobalMaxPooling3D": "data_format",
    "GRU": (
        f"{_RECURRENT} unroll units activation recurrent_activation use_bias {_OF_CELL} {_OF_LAYER_REGULARIZED} "
        f"{_DROPOUT} implementation reset_after"
    ),
    "GRUCell": (
        f"units activation recurrent_activation use_bias {_OF_CELL} {_OF_CELL_REGULARIZED} {_OF_CELL_CONSTRAINED} "
        f"{_DROPOUT} implementation reset_after"
    ),
    "GaussianNoise": "stddev",
    "InputLayer": "batch_input_shape dtype sparse name",
    "LSTM": (
        f"{_RECURRENT} unroll units activation recurrent_activation use_bias {_OF_CELL} unit_forget_bias "
        f"{_OF_LAYER_REGULARIZED} {_DROPOUT} implementation"
    ),
    "LSTMCell": (
        f"units activation recurrent_activation use_bias {_OF_CELL} unit_forget_bias {_OF_CELL_REGULARIZED} "
        f"{_OF_CELL_CONSTRAINED} {_DROPOUT} implementation"
    ),
    "LocallyConnected1D": f"filters kernel_size strides padding activation use_bias {_INITIALIZED}",
    "LocallyConnected2D": f"filters kernel_size strides padding data_format activation use_bias {_INITIALIZED}",
    "Masking": "mask_value",
    "PReLU": "alpha_initializer alpha_regularizer alpha_constraint shared_axes",
    "Permute": "dims",
    "RNN": f"{_RECURRENT} unroll cell",
    "ReLU": "max_value negative_slope threshold",
    "RepeatVector": "n",
    "Reshape": "target_shape",
    "SeparableConv1D SeparableConv2D": _SEPARABLE,
    "SimpleRNN": (f"{_RECURRENT} unroll units activation use_bias {_OF_CELL} {_OF_LAYER_REGULARIZED} {_DROPOUT}"),
    "SimpleRNNCell": (f"units activation use_bias {_OF_CELL} {_OF_CELL_REGULARIZED} {_OF_CELL_CONSTRAINED} {_DROPOUT}"),
    "StackedRNNCells": "cells",
    "ThresholdedReLU": "theta",
    "TimeDistributed": "layer",
    "UpSampling1D": "size",
    "UpSampling2D": "size data_format interpolation",
    "UpSampling3D": "size data_format",
    "ZeroPadding1D": "padding",
    "ZeroPadding2D ZeroPadding3D": "padding data_format",
}
# Where tf.keras had others.
_TF_KERAS = {
    "AdditiveAttention Attention": "causal use_scale",
    "InputLayer": "batch_input_shape dtype sparse ragged name",
    "LayerNormalization": _NORMALIZED.format(momentum="", moving=""),
    "LocallyConnected1D": (
        f"filters kernel_size strides padding data_format activation use_bias {_INITIALIZED} implementation"
    ),
    "LocallyConnected2D": (
        f"filters kernel_size strides padding data_format activation use_bias {_INITIALIZED} implementation"
    ),
    "SeparableConv1D SeparableConv2D": _SEPARABLE.replace(
        "bias_initializer bias_regularizer activity_regularizer", _INITIALIZED.rpartition(" kernel_constraint")[0]
    ).replace("bias_constraint", "kernel_constraint bias_constraint", 1),
}
_TF_KERAS_2_2 = {"AdditiveAttention Attention": "causal dropout use_scale"}


@functools.cache
def of_era(era: Era) -> dict[str, tuple[str, ...]]:
    """Return class -> the names of the arguments in the configuration of its layers.

    >>> of_era(Era.KERAS_2_2_4)["Dropout"]
    ('rate', 'noise_shape', 'seed')
    """
    tables = [_KERAS_2_2_4]
    if era.is_tf_keras:
        tables.append(_TF_KERAS)
    if era is Era.TF_KERAS_2_2:
        tables.append(_TF_KERAS_2_2)
    found: dict[str, tuple[str, ...]] = {}
    for table in tables:
        for kinds, names in table.items():
            found.update(dict.fromkeys(kinds.split(), tuple(names.split())))
    if era.is_tf_keras:
        for kind, held in found.items():
            if "go_backwards" in held:
                after = held.index("unroll" if "unroll" in held else "stateful") + 1
                found[kind] = (*held[:after], "time_major", *held[after:])
    return found
