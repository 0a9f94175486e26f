"""What `serialize` of regularizers, initializers, optimizers and the like returned: a name, or a class and its config.

Keras 3's form has a module and a registered name besides, and more arguments, which code of then neither expects nor
writes. `deserialize` reads both forms.
"""

from __future__ import annotations

from typing import Any

import keras

from parallel_compat.legacy import config_spelling, losses, model_configs
from parallel_compat.legacy.numbers import metric_functions
from parallel_compat.run import callers


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
        return _registered_name(thing, losses.OLD_NAMES.get(name, name))
    era = callers.era_of_caller()
    kind, config = _registered_name(type(thing), type(thing).__name__), dict(thing.get_config())
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


def _registered_name(thing: Any, name: str) -> str:
    """Return the name that TensorFlow 2.2's `register_keras_serializable` gave, with its package, or the plain one."""
    registered = keras.saving.get_registered_name(thing)
    return registered if ">" in registered and not registered.startswith("parallel_compat>") else name


def today(form: Any) -> Any:
    """Return the form of an initializer as Keras 3 reads it; a name or an object as it is."""
    is_form = isinstance(form, dict) and isinstance(form.get("config"), dict)
    return config_spelling.initializer_of_today(form) if is_form else form


def deserialize_initializer(config: Any, custom_objects: dict[str, Any] | None = None) -> Any:
    """Make the initializer of what `initializers.serialize` returned.

    Args:
        config: a dict with `class_name` and `config`, or a name.
        custom_objects: the user's own classes by name.
    """
    return keras.initializers.deserialize(today(config), custom_objects)


def get_initializer(identifier: Any) -> Any:
    """Return the initializer of a name or of such a form, or one as it is.

    Args:
        identifier: a name, a dict, an initializer, or a function.
    """
    return keras.initializers.get(today(identifier))


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
