"""Arguments of legacy calls: Keras 1's names that Keras 2 still took, and Keras 2's that Keras 3 dropped.

The Keras 1 names are those of `keras/legacy/interfaces.py` of Keras 2.2.4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from parallel_compat.legacy.table import Argument, Change

if TYPE_CHECKING:
    from collections.abc import Iterator

LAYERS = "parallel_compat.legacy.layers"

_DIM_ORDERING = (("tf", "channels_last"), ("th", "channels_first"), ("default", None))
_CONSUME_LESS = (("cpu", 1), ("mem", 1), ("gpu", 2))

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
_GENERATOR = (
    "nb_epoch>epochs nb_val_samples>validation_steps nb_worker>workers pickle_safe>use_multiprocessing "
    "max_q_size>max_queue_size"
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
    "Embedding": "init>embeddings_initializer W_regularizer>embeddings_regularizer "
    "W_constraint>embeddings_constraint",
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
    "SimpleRNN": _RECURRENT,
    "GRU": _RECURRENT,
    "LSTM": _RECURRENT,
    "BatchNormalization": "beta_init>beta_initializer gamma_init>gamma_initializer",
    "Input": "input_dtype>dtype",
}
_OTHER: dict[str, str] = {
    "keras.Model": "input>inputs output>outputs",
    "keras.Model.fit": "nb_epoch>epochs",
    "keras.Model.fit_generator": _GENERATOR + " samples_per_epoch>steps_per_epoch",
    "keras.Model.evaluate_generator": "val_samples>steps nb_worker>workers pickle_safe>use_multiprocessing "
    "max_q_size>max_queue_size",
    "keras.Model.predict_generator": "val_samples>steps nb_worker>workers pickle_safe>use_multiprocessing "
    "max_q_size>max_queue_size",
}
_OPTIMIZERS = ("SGD", "RMSprop", "Adagrad", "Adadelta", "Adam", "Adamax", "Nadam")

# Values that are spelled otherwise today, by the old argument's name.
_VALUES: dict[str, tuple[tuple[Any, Any], ...]] = {"dim_ordering": _DIM_ORDERING}
