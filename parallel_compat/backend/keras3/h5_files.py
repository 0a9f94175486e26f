"""Models and weights in HDF5 files of Keras 2's layout: `keras/src/legacy/saving`, private, read in Keras 3.15.1."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FunctionType, SimpleNamespace
from typing import Any

import h5py
import keras
from keras.src.backend.common import global_state
from keras.src.legacy.saving import legacy_h5_format, saving_utils

from parallel_compat.backend.keras3 import hidden_classes, moved_names
from parallel_compat.backend.keras3.global_state import global_attribute


def write_weights(model: keras.Model, file: h5py.File) -> None:
    """Write a model's weights into an open file."""
    legacy_h5_format.save_weights_to_hdf5_group(file, model)


def write_weights_of_layers(layers: Sequence[Any], group: h5py.Group) -> None:
    """Write the weights of some layers into an open group; they need not be all that a model has."""
    alone = SimpleNamespace(layers=list(layers), _trainable_variables=[], _non_trainable_variables=[], weights=[])
    legacy_h5_format.save_weights_to_hdf5_group(group, alone)


def names_in(group: h5py.Group, attribute: str) -> list[str]:
    """Return names that are kept in an attribute, or in several with numbers where they were too long for one."""
    parts = [attribute] if attribute in group.attrs else [f"{attribute}{i}" for i in range(len(group.attrs))]
    names = itertools.chain.from_iterable(group.attrs[part] for part in parts if part in group.attrs)
    return [name.decode() if isinstance(name, bytes) else str(name) for name in names]


def weights_in_file(layer: Any) -> list[Any]:
    """Return a layer's weights in the order of a file: the trainable ones first."""
    return [*layer.trainable_weights, *layer.non_trainable_weights]


def read_weights(model: keras.Model, group: h5py.Group) -> None:
    """Read weights from an open group, by the order of the layers."""
    legacy_h5_format.load_weights_from_hdf5_group(group, model)


def write_model(model: keras.Model, file: h5py.Group, *, include_optimizer: bool) -> None:
    """Write a whole model into an open file or a group; a model without an optimizer is written without.

    Args:
        include_optimizer: whether the optimizer is written, and what the model was compiled with.
    """
    compiled = getattr(model, "optimizer", None) is not None
    # Keras takes the optimizer out of the live model's `_compile_config`, so that a `.keras` file written afterwards
    # would come back with another one.
    config = getattr(model, "_compile_config", None)
    before = dict(config.config) if config is not None else {}
    try:
        with _as_file(file) as whole:
            legacy_h5_format.save_model_to_hdf5(model, whole, include_optimizer=include_optimizer and compiled)
    finally:
        if config is not None:
            config.config.update(before)


@contextmanager
def _as_file(group: h5py.Group) -> Iterator[h5py.File]:
    """Yield a file for what is to be written into a group: Keras takes a group that is no file for a path."""
    if isinstance(group, h5py.File):
        yield group
        return
    with h5py.File("in memory", "w", driver="core", backing_store=False) as file:
        yield file
        for name in file:
            file.copy(name, group)
        group.attrs.update(file.attrs)


def model_from_config(config: dict[str, Any], custom_objects: dict[str, Any], safe_mode: bool) -> keras.Model:
    """Make a model from a config of Keras 2's layout; in safe mode a Lambda's bytecode is refused."""
    with global_attribute(_SAFE_MODE, safe_mode), values_as_written():
        return saving_utils.model_from_config(config, custom_objects=custom_objects)


_SAFE_MODE = "safe_mode_saving"  # `keras.src.saving.serialization_lib.SafeModeScope`, in 3.15


class _Config(dict[str, Any]):
    """The config of a layer of several axes, whose `axis` nobody takes out."""

    def pop(self, name: str, *default: Any) -> Any:
        return default[0] if name == "axis" else super().pop(name, *default)


def _keeping_values(original: Any) -> Any:
    def model_from_config(config: Any, custom_objects: Any = None) -> Any:
        axis = config["config"].get("axis") if isinstance(config.get("config"), dict) else None
        if isinstance(axis, (list, tuple)) and len(axis) > 1:
            config = {**config, "config": _Config(config["config"])}
        with _classes_alone():
            return original(config, custom_objects)

    return model_from_config


@contextmanager
def values_as_written() -> Iterator[None]:
    """Let layers of old configs keep values that Keras 3 loses, while this is open.

    `saving_utils.model_from_config`, which makes layers too, takes an `axis` out and puts back that of one number alone
    (LayerNormalization's has several), and takes a string that is the name of a function of `keras.layers`, such as
    `mode="add"` of a user's layer, for the function.
    """
    original = saving_utils.model_from_config
    saving_utils.model_from_config = _keeping_values(original)
    try:
        yield
    finally:
        saving_utils.model_from_config = original


@functools.cache
def _classes() -> dict[str, type]:
    of_layers = {**{kind.__name__: kind for kind in hidden_classes.kept_layers()}, **vars(keras.layers)}
    of_models = {"Functional": moved_names.functional_class(), "Model": keras.Model, "Sequential": keras.Sequential}
    return {**{name: one for name, one in of_layers.items() if isinstance(one, type)}, **of_models}


@contextmanager
def _classes_alone() -> Iterator[None]:
    """Let names in configs be those of classes of `keras.layers` (`MODULE_OBJECTS.ALL_OBJECTS`), not of functions."""
    kept = saving_utils.MODULE_OBJECTS
    before = vars(kept).get("ALL_OBJECTS")
    kept.ALL_OBJECTS = _classes()
    try:
        yield
    finally:
        if before is None:
            del kept.ALL_OBJECTS
        else:
            kept.ALL_OBJECTS = before


def model_of_today(config: dict[str, Any], custom_objects: dict[str, Any], safe_mode: bool) -> keras.Model:
    """Make a model from a config of Keras 3's layout; in safe mode a Lambda's bytecode is refused."""
    return keras.saving.deserialize_keras_object(config, custom_objects=custom_objects, safe_mode=safe_mode)


# Before the name of an operation that is the name of a layer as well: `Add`, `Multiply`, `Softmax`.
_OPERATION = "Operation>"


def custom_objects(given: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the classes and functions that are known by name: registered, of `CustomObjectScope`s, and those given."""
    with keras.saving.CustomObjectScope({}) as scope:  # which keeps what the scopes around it have
        return {**keras.saving.get_custom_objects(), **scope.backup, **(given or {})}


@functools.cache
def parts_of_configs() -> dict[str, Any]:
    """Return classes that the config of a model names beside layers: operations, initializers and the like."""
    bases = keras.initializers.Initializer, keras.regularizers.Regularizer, keras.constraints.Constraint
    held = {kind.__name__: kind for base in bases for kind in _made_of(base) if kind.__module__.startswith("keras.")}
    return held | operations()


@functools.cache
def operations() -> dict[str, Any]:
    """Return the classes of Keras's operations by the names that `with_operations` gives them.

    A functional model that was called on masks has them among its layers, and one with operators between its layers
    (`x * 2 + 1`).
    """
    operation = re.compile(r"keras\..*\bops\.(core|image|linalg|math|nn|numpy)")
    return {
        f"{_OPERATION}{kind.__name__}" if hasattr(keras.layers, kind.__name__) else kind.__name__: kind
        for kind in _made_of(keras.Operation)
        if operation.fullmatch(kind.__module__)
    }


def _made_of(kind: Any) -> Iterator[Any]:
    for each in kind.__subclasses__():
        yield each
        yield from _made_of(each)


def with_operations(config: Any, custom_objects: dict[str, Any]) -> Any:
    """Return a model's config in which operations are not named as layers are.

    The config of an HDF5 file does not say where a class is from; only that of a layer has `trainable`.

    Args:
        custom_objects: the user's classes by name, which are no operations.
    """
    if isinstance(config, list):
        return [with_operations(each, custom_objects) for each in config]
    if not isinstance(config, dict):
        return config
    name, own = config.get("class_name"), config.get("config")
    config = {key: with_operations(value, custom_objects) for key, value in config.items()}
    is_operation = isinstance(own, dict) and "trainable" not in own and name not in custom_objects
    if "inbound_nodes" in config and is_operation:
        named = f"{_OPERATION}{name}"
        return {**config, "class_name": named} if named in operations() else config
    return config


def with_own_functions(config: Any, custom_objects: dict[str, Any]) -> Any:
    """Return a config of Keras 3 whose Lambda layers, and activations of names that are the user's, are custom objects.

    `keras.activations.get` takes a string for one of its own; a marked function is looked for among the user's first,
    and so is a class that was registered.
    """
    if isinstance(config, list):
        return [with_own_functions(each, custom_objects) for each in config]
    if not isinstance(config, dict):
        return config
    if config.get("class_name") == "Lambda":
        config = {**config, "registered_name": "Lambda"}
    return {
        key: {"module": "builtins", "class_name": "function", "config": value, "registered_name": "function"}
        if isinstance(value, str) and key.endswith("activation") and value in custom_objects
        else with_own_functions(value, custom_objects)
        for key, value in config.items()
    }


def lambda_of_config(config: dict[str, Any], custom_objects: dict[str, Any], safe_mode: bool) -> keras.layers.Lambda:
    """Make a Lambda layer; before Keras 3.15 the safe mode around it counted more than the one that was passed.

    A function's defaults are a list in the file, for which `Lambda.from_config` makes no function.
    """
    for part in ("function", "output_shape"):
        own = config.get(part)
        if isinstance(own, dict) and own.get("class_name") == "__lambda__" and own["config"]["defaults"] is not None:
            config = {
                **config,
                part: {**own, "config": {**own["config"], "defaults": tuple(own["config"]["defaults"])}},
            }
    with global_attribute(_SAFE_MODE, safe_mode):
        return keras.layers.Lambda.from_config(config, custom_objects=custom_objects, safe_mode=safe_mode)


def is_safe_mode() -> bool:
    """Return whether Keras refuses bytecode: unless `keras.config.enable_unsafe_deserialization()` was called."""
    return global_state.get_global_attribute(_SAFE_MODE) is not False


def give_names(layer: keras.layers.Lambda, names: dict[str, Any]) -> None:
    """Let the functions of a Lambda layer that was made of bytecode see `names`, not those of a module of Keras."""
    for attribute in ("function", "_output_shape"):
        made = getattr(layer, attribute)
        if isinstance(made, FunctionType):
            function = FunctionType(made.__code__, {**names}, made.__name__, made.__defaults__, made.__closure__)
            setattr(layer, attribute, function)
