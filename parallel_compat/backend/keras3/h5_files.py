"""Models and weights in HDF5 files of Keras 2's layout: `keras/src/legacy/saving`, private, read in Keras 3.15.1."""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Any

from keras.src.legacy.saving import legacy_h5_format, saving_options, saving_utils
from keras.src.saving import serialization_lib

if TYPE_CHECKING:
    import h5py
    import keras


def write_weights(model: keras.Model, file: h5py.File) -> None:
    """Write a model's weights into an open file."""
    legacy_h5_format.save_weights_to_hdf5_group(file, model)


def read_weights(model: keras.Model, group: h5py.Group) -> None:
    """Read weights from an open group, by the order of the layers."""
    legacy_h5_format.load_weights_from_hdf5_group(group, model)


def read_weights_by_name(
    model: keras.Model, group: h5py.Group, *, skip_mismatch: bool = False, names: dict[Any, str]
) -> None:
    """Read weights from an open group, by the names of the layers.

    Args:
        model: the model.
        group: has the weights.
        skip_mismatch: whether layers whose shapes differ are left as they are.
        names: layer -> its name in the file, where that is another.
    """
    before = {layer: layer.name for layer in names}
    try:
        for layer, name in names.items():
            layer.name = name
        legacy_h5_format.load_weights_from_hdf5_group_by_name(group, model, skip_mismatch)
    finally:
        for layer, name in before.items():
            layer.name = name


def layer_names(group: h5py.Group) -> list[str]:
    """Return the names of the layers whose weights a group has."""
    names = legacy_h5_format.load_attributes_from_hdf5_group(group, "layer_names")
    return [name.decode("utf8") if isinstance(name, bytes) else str(name) for name in names]


def is_of_standalone_keras(group: h5py.Group) -> bool:
    """Say whether Keras 1 or 2.0 to 2.3 wrote a group, not `tensorflow.keras` ("2.2.4-tf", 2.4 and later)."""
    version = group.attrs.get("keras_version", "1")
    text = version.decode("utf8") if isinstance(version, bytes) else str(version)
    return text.partition(".")[0] == "1" or (
        text.startswith(("2.0.", "2.1.", "2.2.", "2.3.")) and not text.endswith("-tf")
    )


def write_model(model: keras.Model, file: h5py.File, *, include_optimizer: bool) -> None:
    """Write a whole model into an open file; a model without an optimizer is written without."""
    compiled = getattr(model, "optimizer", None) is not None
    # Keras takes the optimizer out of the live model's `_compile_config`, so that a `.keras` file written afterwards
    # would come back with another one.
    config = getattr(model, "_compile_config", None)
    before = dict(config.config) if config is not None else {}
    try:
        legacy_h5_format.save_model_to_hdf5(model, file, include_optimizer=include_optimizer and compiled)
    finally:
        if config is not None:
            config.config.update(before)


def model_from_config(config: dict[str, Any], custom_objects: dict[str, Any], safe_mode: bool) -> keras.Model:
    """Make a model from a config of Keras 2's layout; in safe mode a Lambda's bytecode is refused."""
    with saving_options.keras_option_scope(use_legacy_config=True), serialization_lib.SafeModeScope(safe_mode):
        return saving_utils.model_from_config(config, custom_objects=custom_objects)


def is_safe_mode() -> bool:
    """Say whether Keras refuses bytecode: unless `keras.config.enable_unsafe_deserialization()` was called."""
    return serialization_lib.in_safe_mode() is not False


def build_losses(model: keras.Model) -> None:
    """Build a compiled model's losses and metrics, as `load_model` does."""
    saving_utils.try_build_compiled_arguments(model)


def give_names(layer: keras.layers.Lambda, names: dict[str, Any]) -> None:
    """Let the functions of a Lambda layer that was made of bytecode see `names`, not those of a module of Keras."""
    for attribute in ("function", "_output_shape"):
        made = getattr(layer, attribute)
        if isinstance(made, FunctionType):
            function = FunctionType(made.__code__, {**names}, made.__name__, made.__defaults__, made.__closure__)
            setattr(layer, attribute, function)
