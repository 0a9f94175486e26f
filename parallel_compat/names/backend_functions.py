"""Functions of `keras.backend` that TensorFlow still has, and computes as Keras 2.2.4 did."""

from __future__ import annotations

# Those that compute as they did; a layer made of a function may name them. Read in TensorFlow 2.21 with Keras 3.15.
_UNCHANGED_NAMES = """
    abs all any arange argmax argmin batch_flatten batch_normalization bias_add cast cast_to_floatx
    clip concatenate constant conv1d conv2d conv2d_transpose conv3d cos
    ctc_batch_cost ctc_label_dense_to_sparse cumprod cumsum depthwise_conv2d dot dropout elu equal
    exp expand_dims eye flatten foldl foldr gather greater greater_equal in_top_k is_sparse l2_normalize less
    less_equal log map_fn max maximum mean min minimum name_scope not_equal one_hot ones
    ones_like permute_dimensions pool2d pool3d pow prod random_normal random_normal_variable random_uniform
    random_uniform_variable relu repeat repeat_elements reshape resize_images resize_volumes reverse rnn round
    separable_conv2d sigmoid sign sin softmax softplus softsign
    spatial_2d_padding spatial_3d_padding sqrt square squeeze stack std stop_gradient sum tanh
    temporal_padding tile to_dense transpose truncated_normal var variable zeros
    zeros_like backend epsilon floatx get_uid image_data_format set_epsilon set_floatx
    set_image_data_format
"""
UNCHANGED = frozenset(_UNCHANGED_NAMES.split())

# The same, spelled by `keras.ops`, whose operations a saved model keeps without this package.
_AS_OPERATIONS_NAMES = """
    abs all any argmax argmin cast clip concatenate cos cumprod cumsum equal exp expand_dims greater
    greater_equal less less_equal log max maximum mean min minimum not_equal prod reshape round sigmoid sign
    sin softplus softsign sqrt square squeeze stack std sum tanh tile var
"""
AS_OPERATIONS = frozenset(_AS_OPERATIONS_NAMES.split())

# TensorFlow's own, as it was since Keras 2.3; the one of this package is of before.
SINCE_KERAS_2_3 = "batch_dot"

# Those of `legacy.ctc` that a layer made of a function may name as well.
PROVIDED = frozenset({"ctc_decode"})
