"""Values that JSON has no word for."""

from __future__ import annotations

from typing import Any

from parallel_compat.recover.config_json import Entry
from parallel_compat.recover.rules.keras3_arguments import KERAS3_ARGUMENTS
from parallel_compat.recover.translation import Translation


def plain_values(entry: Entry, translation: Translation) -> None:
    """Numpy values and tuples are written plainly.

    Keras 2 writes a numpy number or array as ``{"type": "ndarray", "value": 0.3}`` (`LeakyReLU`, `ELU`, `ReLU`),
    tf.keras a tuple as ``{"class_name": "__tuple__", "items": [...]}`` (`get_json_type`, `Encoder`).
    """
    config = entry["config"]
    for key, value in config.items():
        if key not in ("layers", "layer", "backward_layer", "function", "output_shape", "arguments"):
            config[key] = _plain(value)


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        if set(value) == {"type", "value"} and value["type"] in ("ndarray", "array"):
            return _plain(value["value"])
        if set(value) == {"class_name", "items"} and value["class_name"] == "__tuple__":
            return _plain(value["items"])
        return {key: _plain(one) for key, one in value.items()}
    return value


# Arguments that hold layers, which have rules of their own, or what a Lambda brings along, which is reported.
LAYERS = frozenset({"layers", "layer", "backward_layer", "cell", "cells"})
PARTS = ("_initializer", "_regularizer", "_constraint", "activation")
# What Keras 3 would make an object of by itself, wherever it stands.
OBJECTS = frozenset({"Lambda", "__lambda__", "function", "TFSMLayer", "TorchModuleWrapper", "JaxLayer", "FlaxLayer"})


def no_hidden_objects(entry: Entry, translation: Translation) -> None:
    """A plain argument is a plain value; nothing in it may be an object for Keras 3 to make by name.

    Keras 3 deserializes what looks like an object (`class_name`, `module`) in any argument; Keras 2 wrote objects only
    as the parts of a layer.
    """
    if entry["class_name"] == "Lambda":
        return
    known = entry["class_name"] in KERAS3_ARGUMENTS
    for key, value in entry["config"].items():
        if key in LAYERS or value == translation.target.hard_sigmoid:
            continue
        part = key.endswith(PARTS)
        if is_object(value) or (known and not part and _has_dictionary(value)):
            translation.refuse(entry, f"its argument `{key[:60]}` holds an object, where Keras 2 wrote a plain value")


def is_object(value: Any) -> bool:
    if isinstance(value, list):
        return any(is_object(one) for one in value)
    if not isinstance(value, dict):
        return False
    return (
        "module" in value
        or "__passive_serialization__" in value
        or str(value.get("class_name")) in OBJECTS
        or any(is_object(one) for one in value.values())
    )


def _has_dictionary(value: Any) -> bool:
    return isinstance(value, dict) or (isinstance(value, list) and any(_has_dictionary(one) for one in value))
