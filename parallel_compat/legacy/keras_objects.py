"""`serialize_keras_object` and `deserialize_keras_object`, by which libraries of then kept a register of their own."""

from __future__ import annotations

import inspect
from typing import Any

import keras

from parallel_compat.legacy import old_configs, serializing
from parallel_compat.names.eras import Era
from parallel_compat.run import callers

# TensorFlow 2.2's mark of an object that stood in a configuration as it was.
_PASSIVE = "__passive_serialization__"


def serialize_keras_object(instance: Any) -> Any:
    """Return the form of any object: that of `serialize`, under the name that its class is registered by.

    Args:
        instance: an object with `get_config`, a function or a class, or None.
    """
    form = serializing.serialize(instance)
    if callers.era_of_caller() is not Era.TF_KERAS_2_2:
        return form
    if not isinstance(form, dict):
        return form
    return {**form, "config": {name: _in_config(item) for name, item in form["config"].items()}}


def _in_config(item: Any) -> Any:
    if not (hasattr(item, "get_config") or hasattr(item, "__name__")):
        return item
    form = serialize_keras_object(item)
    return {**form, _PASSIVE: True} if isinstance(form, dict) else form


def deserialize_keras_object(
    identifier: Any,
    module_objects: dict[str, Any] | None = None,
    custom_objects: dict[str, Any] | None = None,
    printable_module_name: str = "object",
) -> Any:
    """Make the object of a form, or return what has a name: tf.keras made an object of a class, Keras 2.2.4 did not.

    >>> deserialize_keras_object("Mine", {"Mine": dict}, None, "mapping")
    {}

    Args:
        identifier: a dict with `class_name` and `config`, a name, or None.
        module_objects: what a module has by name, often `globals()`.
        custom_objects: the user's own classes and functions by name, which go before.
        printable_module_name: what the error calls the object.

    Raises:
        ValueError: nothing has that name, or `identifier` is none.
    """
    if identifier is None or inspect.isfunction(identifier):
        return identifier
    if isinstance(identifier, dict) and identifier.get("class_name") == "function":  # Keras 3's form of one
        identifier = identifier["config"]
    if isinstance(identifier, str):
        found = _of_name(identifier, module_objects, custom_objects, f"{printable_module_name}:")
        return found() if inspect.isclass(found) and not callers.era_of_caller().is_standalone else found
    if not isinstance(identifier, dict) or not {"class_name", "config"} <= identifier.keys():
        raise ValueError(
            f"Expected a name, or a dict with `class_name` and `config`, as {printable_module_name}. "
            f"Received: {identifier!r}"
        )
    name, config = identifier["class_name"], identifier["config"]
    kind = _of_name(name, module_objects, custom_objects, f"{printable_module_name}: ")
    config = {
        key: deserialize_keras_object(item, module_objects, custom_objects, "config_item")
        if isinstance(item, dict) and _PASSIVE in item
        else item
        for key, item in config.items()
    }
    if not hasattr(kind, "from_config"):  # a function that returns an object
        with keras.saving.custom_object_scope(custom_objects or {}):
            return kind(**config)
    if inspect.isclass(kind) and kind.__module__.partition(".")[0] == "keras":
        return _of_keras(kind, {"class_name": kind.__name__, "config": config}, custom_objects)
    if "custom_objects" in inspect.signature(kind.from_config).parameters:
        registered = keras.saving.get_custom_objects().items()
        of_users = {name: each for name, each in registered if not name.startswith("parallel_compat>")}
        return kind.from_config(config, custom_objects={**of_users, **(custom_objects or {})})
    with keras.saving.custom_object_scope(custom_objects or {}):
        return kind.from_config(config)


def _of_name(name: str, module_objects: Any, custom_objects: dict[str, Any] | None, what: str) -> Any:
    found = keras.saving.get_registered_object(name, custom_objects, module_objects)
    if found is None:
        raise ValueError(f"Unknown {what}{name}")
    return found


def _of_keras(kind: Any, form: dict[str, Any], custom_objects: dict[str, Any] | None) -> Any:
    if issubclass(kind, keras.layers.Layer):
        return old_configs.deserialize(form, custom_objects)
    return kind.from_config(
        (serializing.today(form) if issubclass(kind, keras.initializers.Initializer) else form)["config"]
    )
