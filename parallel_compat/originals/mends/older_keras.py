"""Names that Keras 2.0 to 2.2.2 had: scripts of 2017 import them, and Keras 2.2.4 runs these scripts.

Compared with Keras 2.0.8, 2.1.6 and 2.2.2.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from parallel_compat.originals.mends.lazy_names import load, serve

if TYPE_CHECKING:
    from types import ModuleType

    from parallel_compat.originals.mends.register import Register

_GENERIC = "keras.utils.generic_utils"
_SAVING = "keras.engine.saving"
_TRAINING = "keras.engine.training_utils"
_IMAGES = "keras_preprocessing.image"
# A module -> for each name, where its value is today.
_NAMES = {
    "keras.applications.imagenet_utils": {"_obtain_input_shape": f"{__name__}._obtain_input_shape"},
    "keras.applications.mobilenet": {
        "DepthwiseConv2D": "keras.layers.DepthwiseConv2D",
        "relu6": f"{__name__}.relu6",
        "_obtain_input_shape": f"{__name__}._obtain_input_shape",
    },
    "keras.engine.topology": {
        "Container": "keras.engine.network.Network",
        "_collect_input_shape": "keras.engine.base_layer._collect_input_shape",
        "_collect_previous_mask": "keras.engine.base_layer._collect_previous_mask",
        "_is_all_none": f"{_GENERIC}.is_all_none",
        "_object_list_uid": f"{_GENERIC}.object_list_uid",
        "_to_list": f"{_GENERIC}.to_list",
        "_to_snake_case": "keras.engine.base_layer._to_snake_case",
        "K": "keras.backend",
        "conv_utils": "keras.utils.conv_utils",
        "initializers": "keras.initializers",
        **{
            name: f"{_SAVING}.{name}"
            for name in (
                "load_weights_from_hdf5_group",
                "load_weights_from_hdf5_group_by_name",
                "preprocess_weights_for_loading",
                "save_weights_to_hdf5_group",
            )
        },
    },
    "keras.engine.training": {
        "Container": "keras.engine.network.Network",
        "_batch_shuffle": f"{_TRAINING}.batch_shuffle",
        "_check_array_lengths": f"{_TRAINING}.check_array_length_consistency",
        "_check_loss_and_target_compatibility": f"{_TRAINING}.check_loss_and_target_compatibility",
        "_collect_metrics": f"{_TRAINING}.collect_metrics",
        "_make_batches": f"{_TRAINING}.make_batches",
        "_slice_arrays": f"{_GENERIC}.slice_arrays",
        "_standardize_class_weights": f"{_TRAINING}.standardize_class_weights",
        "_standardize_input_data": f"{_TRAINING}.standardize_input_data",
        "_standardize_sample_weights": f"{_TRAINING}.standardize_sample_weights",
        "_standardize_weights": f"{_TRAINING}.standardize_weights",
        "_weighted_masked_objective": f"{_TRAINING}.weighted_masked_objective",
        "GeneratorEnqueuer": "keras.utils.data_utils.GeneratorEnqueuer",
        "OrderedEnqueuer": "keras.utils.data_utils.OrderedEnqueuer",
        "Sequence": "keras.utils.data_utils.Sequence",
        "cbks": "keras.callbacks",
    },
    "keras.layers.recurrent": {"_time_distributed_dense": f"{__name__}._time_distributed_dense"},
    "keras.preprocessing.image": {
        "apply_transform": f"{__name__}.apply_transform",
        "flip_axis": f"{_IMAGES}.affine_transformations.flip_axis",
        "list_pictures": f"{_IMAGES}.utils.list_pictures",
        "transform_matrix_offset_center": f"{_IMAGES}.affine_transformations.transform_matrix_offset_center",
    },
    "keras.utils.conv_utils": {"normalize_data_format": "keras.backend.common.normalize_data_format"},
}


def apply(mends: Register) -> None:
    """Let the modules find the names when they are asked for."""
    for module in _NAMES:
        mends.after(module, _serve)


def _serve(module: ModuleType) -> None:
    serve(module, {name: path for name, path in _NAMES[module.__name__].items() if name not in vars(module)})


def _obtain_input_shape(
    input_shape: Any,
    default_size: int,
    min_size: int,
    data_format: str,
    require_flatten: bool = True,
    weights: Any = None,
    include_top: bool | None = None,
) -> Any:
    obtain = load("keras_applications.imagenet_utils._obtain_input_shape")
    flatten = require_flatten if include_top is None else include_top  # its name until Keras 2.0.6
    return obtain(input_shape, default_size, min_size, data_format, flatten, weights)


def relu6(x: Any) -> Any:
    """Return values between 0 and 6."""
    from keras import backend

    return backend.relu(x, max_value=6)


def _time_distributed_dense(
    x: Any,
    w: Any,
    b: Any = None,
    dropout: float | None = None,
    input_dim: int | None = None,
    output_dim: int | None = None,
    timesteps: int | None = None,
    training: Any = None,
) -> Any:
    """Multiply each step by a matrix, with one dropout mask for all steps."""
    from keras import backend

    input_dim = input_dim or backend.shape(x)[2]
    timesteps = timesteps or backend.shape(x)[1]
    output_dim = output_dim or backend.int_shape(w)[1]
    if dropout is not None and 0.0 < dropout < 1.0:
        mask = backend.dropout(backend.ones_like(backend.reshape(x[:, 0, :], (-1, input_dim))), dropout)
        x = backend.in_train_phase(x * backend.repeat(mask, timesteps), x, training=training)
    x = backend.dot(backend.reshape(x, (-1, input_dim)), w)
    if b is not None:
        x = backend.bias_add(x, b)
    return backend.reshape(x, backend.stack([-1, timesteps, output_dim]))


def apply_transform(
    x: Any, transform_matrix: Any, channel_axis: int = 0, fill_mode: str = "nearest", cval: float = 0.0
) -> Any:
    """Move the pixels of a picture by a matrix."""
    import numpy as np
    from scipy import ndimage

    move = functools.partial(
        ndimage.affine_transform,
        matrix=transform_matrix[:2, :2],
        offset=transform_matrix[:2, 2],
        order=1,
        mode=fill_mode,
        cval=cval,
    )
    return np.moveaxis(np.stack([move(channel) for channel in np.moveaxis(x, channel_axis, 0)]), 0, channel_axis)
