"""What `serialize` of regularizers, initializers, optimizers and the like returned: a name, or a class and its config.

Keras 3's form has a module and a registered name besides, and more arguments, which code of then neither expects nor
writes. `deserialize` reads both forms.
"""

from __future__ import annotations

import inspect
from typing import Any

import keras

from parallel_compat.legacy import config_spelling, losses, model_configs, old_configs
from parallel_compat.legacy.numbers import metric_functions
from parallel_compat.names.eras import Era
from parallel_compat.run import callers

# TensorFlow 2.2's mark of an object that stood in a configuration as it was.
_PASSIVE = "__passive_serialization__"


def serialize(thing: Any) -> Any:
    """Return the form of a regularizer, initializer, constraint, optimizer, loss, metric or function.

    >>> serialize(keras.constraints.NonNeg())
    {'class_name': 'NonNeg', 'config': {}}

    Args:
        thing: the object, a function, or None.
    """
    if thing is None:
        return None
    if not hasattr(thing, "get_config"):
        name = getattr(thing, "__name__", None)
        if name is None:
            raise ValueError(f"Expected an object with `get_config`, or a function. Received: {thing!r}")
        return losses.OLD_NAMES.get(name, name)
    era = callers.era_of_caller()
    kind, config = type(thing).__name__, dict(thing.get_config())
    if isinstance(thing, keras.optimizers.Optimizer):
        from parallel_compat.legacy.numbers import optimizer_steps

        kind, config = optimizer_steps.kind_of(thing), optimizer_steps.config_in_era(thing, config, era)
    elif isinstance(thing, keras.initializers.Initializer) and type(thing).__module__.partition(".")[0] == "keras":
        return config_spelling.of_form({"class_name": kind, "config": config}, era)
    elif isinstance(thing, keras.Model):
        config = model_configs.as_in_era(thing, config, era) or config
    elif isinstance(thing, keras.layers.Layer):
        config = config_spelling.of_layer(config_spelling.kind_of(thing), config, era, thing)
    elif isinstance(thing, (keras.regularizers.Regularizer, keras.constraints.Constraint)):
        return config_spelling.of_form({"class_name": kind, "config": config}, era)
    elif isinstance(thing, keras.losses.Loss):
        if config.get("axis") == -1:
            config.pop("axis")
        config.pop("dtype", None)
        if config.get("reduction") == losses.REDUCTION:
            config["reduction"] = "auto"
    return {"class_name": kind, "config": config}


def serialize_keras_object(instance: Any) -> Any:
    """Return the form of any object: that of `serialize`, under the name that its class is registered by.

    Args:
        instance: an object with `get_config`, a function or a class, or None.
    """
    form = serialize(instance)
    if callers.era_of_caller() is not Era.TF_KERAS_2_2:
        return form
    if not isinstance(form, dict):
        return form if instance is None else _registered_name(instance, form)
    config = {name: _in_config(item) for name, item in form["config"].items()}
    return {"class_name": _registered_name(type(instance), form["class_name"]), "config": config}


def _registered_name(thing: Any, name: str) -> str:
    registered = keras.saving.get_registered_name(thing)
    return registered if ">" in registered else name


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
        return found() if inspect.isclass(found) and callers.era_of_caller() is not Era.KERAS_2_2_4 else found
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
    return kind.from_config((_today(form) if issubclass(kind, keras.initializers.Initializer) else form)["config"])


def _today(form: Any) -> Any:
    is_form = isinstance(form, dict) and isinstance(form.get("config"), dict)
    return config_spelling.initializer_of_today(form) if is_form else form


def deserialize_initializer(config: Any, custom_objects: dict[str, Any] | None = None) -> Any:
    """Make the initializer of what `initializers.serialize` returned.

    Args:
        config: a dict with `class_name` and `config`, or a name.
        custom_objects: the user's own classes by name.
    """
    return keras.initializers.deserialize(_today(config), custom_objects)


def get_initializer(identifier: Any) -> Any:
    """Return the initializer of a name or of such a form, or one as it is.

    Args:
        identifier: a name, a dict, an initializer, or a function.
    """
    return keras.initializers.get(_today(identifier))


def deserialize_loss(name: Any, custom_objects: dict[str, Any] | None = None) -> Any:
    """Make the loss of what `keras.losses.serialize` returned, also of a class without `from_config`.

    Args:
        name: a name, or a dict with `class_name` and `config`.
        custom_objects: the user's own functions and classes by name.
    """
    if name == "huber_loss" and name not in (custom_objects or {}):
        return metric_functions.loss_of_name(name)
    return _made(keras.losses, name, custom_objects)


def deserialize_metric(name: Any, custom_objects: dict[str, Any] | None = None) -> Any:
    """Make the metric of what `keras.metrics.serialize` returned, likewise."""
    return _made(keras.metrics, name, custom_objects)


def _as_today(form: dict[str, Any]) -> dict[str, Any]:
    """Return what `serialize` of an old era said of an object, as Keras 3 reads it."""
    config = form.get("config")
    if isinstance(config, dict) and config.get("reduction") == "auto":
        return {**form, "config": {**config, "reduction": losses.REDUCTION}}
    return form


def _made(module: Any, name: Any, custom_objects: dict[str, Any] | None) -> Any:
    if isinstance(name, str) and name in (custom_objects or {}):
        return (custom_objects or {})[name]
    kind = None
    if isinstance(name, dict):
        name = _as_today(name)
        kind = keras.saving.get_registered_object(name.get("class_name"), custom_objects)
    if isinstance(kind, type) and not hasattr(kind, "from_config"):
        return kind(**name["config"])
    if isinstance(name, str):
        try:
            return keras.losses.get(name)  # the function, of a metric too
        except ValueError:
            return module.get(name)
    return module.deserialize(name, custom_objects)
