"""Layers and models made of configurations as Keras 2 spelled them, by code of that time: `from_config`, `deserialize`.

What a file holds goes another way, `old_files.py`, and by the same rules.
"""

from __future__ import annotations

import inspect
import json
from typing import TYPE_CHECKING, Any

import keras

from parallel_compat.backend.keras3 import h5_files, patch_points
from parallel_compat.legacy import config_spelling, model_configs, models, old_files
from parallel_compat.legacy.layers import set_when_built, take_common
from parallel_compat.recover.config_json import model_entry
from parallel_compat.recover.config_walk import translate
from parallel_compat.run import callers

if TYPE_CHECKING:
    from collections.abc import Callable

_NO_NAME = "layer_without_name"
_VERSION = "2.3.0-tf"  # the last one: a configuration says of itself what versions before did otherwise


def is_of_old(config: Any) -> bool:
    """Say whether a model's configuration is one as Keras 2 spelled it.

    >>> is_of_old({"name": "s", "layers": [{"class_name": "Dense", "config": {"units": 2}}]})
    True
    """
    held = config.get("layers") if isinstance(config, dict) else config
    return (
        isinstance(held, list)
        and bool(held)
        and all(isinstance(each, dict) and "class_name" in each and "module" not in each for each in held)
    )


def is_plain_model(kind: type) -> bool:
    """Say whether a class of models is Keras's own: what it makes of a configuration is known."""
    return kind in (keras.Model, keras.Sequential, patch_points.functional_class())


def make_model(kind: type, config: Any, custom_objects: dict[str, Any] | None) -> keras.Model:
    """Make a model of what `model.get_config()` said.

    Args:
        kind: `keras.Model` or `keras.Sequential`.
        config: the configuration; of a `Sequential`, the list of its layers as well.
        custom_objects: name -> class or function.

    Raises:
        CheckpointError: a `ValueError`: something in it is not known here, by name.
    """
    of_sequential = config["layers"] if isinstance(config, dict) and "layers" in config else config
    if kind is keras.Sequential and isinstance(of_sequential, list) and any(map(_has_no_name, of_sequential)):
        name = config.get("name") if isinstance(config, dict) else None
        return keras.Sequential([deserialize(each, custom_objects) for each in of_sequential], name=name)
    name = "Sequential" if kind is keras.Sequential else "Model"
    entry = {"class_name": name, "config": config, "keras_version": _VERSION}
    return models.model_from_config(entry, custom_objects)


def _has_no_name(layer: Any) -> bool:
    """Say whether a layer of a Sequential is to get a name as a new one does: its configuration says none."""
    config = layer.get("config") if isinstance(layer, dict) else None
    return isinstance(config, dict) and config.get("name") is None and "layers" not in config


def make_layer(kind: type, config: dict[str, Any], make: Callable[[dict[str, Any]], Any]) -> Any:
    """Make a layer of what `layer.get_config()` said, in the spelling of then or of today.

    Args:
        kind: its class.
        config: the configuration.
        make: called with today's configuration.
    """
    if issubclass(kind, keras.layers.Lambda):
        return make(config)  # which may hold the function itself
    if not issubclass(kind, keras.layers.Layer) or callers.is_class_of_user(kind) or _is_of_today(config):
        return make(_with_layer_of_today(kind, config_spelling.with_activations_of_old(config)))
    return _made(kind, config, make)


def _with_layer_of_today(kind: type, config: dict[str, Any]) -> dict[str, Any]:
    """Return the configuration of a user's `Wrapper` with that of Keras's layer inside as Keras 3 spells it."""
    inner = config.get("layer")
    if not issubclass(kind, keras.layers.Wrapper) or not isinstance(inner, dict) or "module" in inner:
        return config
    name = inner.get("class_name")
    if not isinstance(name, str) or not isinstance(getattr(keras.layers, name, None), type):
        return config
    today = {"module": "keras.layers", "class_name": name, "config": today_of(name, inner["config"])}
    return {**config, "layer": {**today, "registered_name": None}}


def _made(kind: type, config: dict[str, Any], make: Callable[[dict[str, Any]], Any]) -> Any:
    config = dict(config)
    length, weights = config.get("input_length"), config.pop("weights", None)
    # Code puts in what every layer's constructor took: `config["input_shape"] = x.shape[1:]`.
    after = None if kind is keras.layers.InputLayer else take_common(config, kind)
    layer = make(today_of(kind.__name__, config))
    if after is not None:
        after(layer)
    if length is not None:
        layer.input_length = length
    if weights is not None:
        set_when_built(layer, weights)
    return layer


def today_of(kind: str, config: dict[str, Any]) -> dict[str, Any]:
    """Return today's configuration of a layer.

    Args:
        kind: the name of its class.
        config: as Keras 2 spelled it.

    Raises:
        CheckpointError: a `ValueError`: something in it is not known here, by name.
    """
    named = config if config.get("name") is not None else {**config, "name": _NO_NAME}
    entry = {"class_name": kind, "config": named}
    text = json.dumps({"class_name": "Sequential", "config": {"layers": [entry]}}, default=model_configs.plain)
    given = h5_files.custom_objects()
    translation = translate(model_entry(text), _VERSION, given, old_files.target(given))
    translation.check(keep_lambda=True)
    if translation.initializers:
        raise ValueError(
            f"Expected the initializers of {kind} to be Keras's, or known by `custom_objects` or "
            f"`keras.utils.get_custom_objects()`. Received: {config!r}"
        )
    today: dict[str, Any] = translation.config["config"]["layers"][-1]["config"]
    if today.get("name") == _NO_NAME:
        del today["name"]
    return today


def _is_of_today(config: Any) -> bool:
    """Say whether a configuration holds what Keras 3 alone writes."""
    if isinstance(config, dict):
        return bool(config.keys() & {"module", "registered_name"}) or any(
            _is_of_today(each) for each in config.values()
        )
    return isinstance(config, (list, tuple)) and any(_is_of_today(each) for each in config)


def deserialize(config: Any, custom_objects: dict[str, Any] | None = None, **keywords: Any) -> Any:
    """Make a layer of `{"class_name": ..., "config": ...}`, which need not say the module of a class of Keras.

    Args:
        config: what `keras.layers.serialize` returns, here or in Keras 2.
        custom_objects: the user's own classes and functions by name.
        **keywords: those that only today's `keras.layers.deserialize` has.
    """
    if isinstance(config, dict) and not config.keys() & {"module", "registered_name"}:
        name = config.get("class_name")
        registered = keras.saving.get_registered_object(name, custom_objects)
        kind = _class_of(name) if isinstance(name, str) and registered is None else None
        if inspect.isclass(kind) and isinstance(config.get("config"), dict) and not keywords:
            if is_plain_model(kind):
                return make_model(kind, config["config"], custom_objects)
            make: Any = kind
            return make_layer(kind, config["config"], make.from_config)
        if kind is not None:
            config = {"module": "keras.layers", "registered_name": None, **config}
    return keras.layers.deserialize(config, custom_objects, **keywords)


def _class_of(name: str) -> Any:
    of_models = {"Sequential": keras.Sequential, "Model": keras.Model, "Functional": keras.Model}
    return {**of_models, **old_files.old_layers()}.get(name, getattr(keras.layers, name, None))
