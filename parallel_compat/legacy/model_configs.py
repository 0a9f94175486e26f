"""Configurations of whole models as an era spelled them, for the code of that era that reads or changes them."""

from __future__ import annotations

import json
from typing import Any

import keras
import tensorflow as tf

from parallel_compat.backend.keras3 import layers, patch_points, symbolic_losses
from parallel_compat.legacy import config_keys, config_spelling, nodes
from parallel_compat.names.eras import Era
from parallel_compat.run import callers

_VERSIONS = {
    Era.KERAS_2_2_4: "2.2.4",
    Era.KERAS_2_3: "2.3.1",
    Era.TF_KERAS_1_15: "2.2.4-tf",
    Era.TF_KERAS_2_2: "2.3.0-tf",
}
_TENSOR = "__keras_tensor__"


class _NotSpelled(Exception):
    """A model that an era had no configuration for: it calls functions, or layers in ways, of today."""


def as_in_era(model: Any, config: dict[str, Any], era: Era) -> dict[str, Any] | None:
    """Return the configuration of a model as an era spelled it, or None where the era had no words for it.

    Args:
        model: the model.
        config: what today's `model.get_config()` says.
        era: of the code that asks.
    """
    try:
        return _of_model(model, config, era)
    except _NotSpelled:
        return None


def to_json(model: Any, config: dict[str, Any], era: Era, **keywords: Any) -> str | None:
    """Return `model.to_json()` as an era wrote it, or None where the era had no words for the model.

    Args:
        model: the model.
        config: what today's `model.get_config()` says.
        era: of the code that asks.
        **keywords: for `json.dumps`.
    """
    spelled = as_in_era(model, config, era)
    if spelled is None:
        return None
    entry = {
        "class_name": _kind(model),
        "config": spelled,
        "keras_version": _VERSIONS[era],
        "backend": "tensorflow",
    }
    return json.dumps(entry, **{"default": plain, **keywords})


def plain(value: Any) -> Any:
    """Return what JSON has no form for as something that it has a form for (`default=` of `json.dumps`)."""
    if isinstance(value, tf.TensorShape):
        return value.as_list()
    return value.tolist() if hasattr(value, "tolist") else getattr(value, "__name__", str(value))


def is_plain(model: Any) -> bool:
    """Say whether a model is of a class of Keras's own, whose configuration is that of its layers."""
    return type(model) in (keras.Model, keras.Sequential, patch_points.functional_class())


def _kind(model: Any) -> str:
    if type(model) is keras.Sequential:
        return "Sequential"
    if type(model) in (keras.Model, patch_points.functional_class()):
        return "Model"
    raise _NotSpelled


def _of_model(model: Any, config: dict[str, Any], era: Era) -> dict[str, Any]:
    return _of_sequential(model, config, era) if _kind(model) == "Sequential" else _of_functional(model, config, era)


def _of_layer(form: dict[str, Any], layer: Any, era: Era) -> dict[str, Any]:
    """Return the class and the configuration of one layer of a model."""
    config = form["config"]
    if isinstance(layer, keras.Model):
        return {"class_name": _kind(layer), "config": _of_model(layer, config, era)}
    kind = config_spelling.kind_of(layer)
    if config.get("ragged"):
        raise _NotSpelled
    if kind not in config_keys.of_era(era) and not callers.is_class_of_user(type(layer)):
        raise _NotSpelled
    return {"class_name": type(layer).__name__, "config": config_spelling.of_layer(kind, config, era, layer)}


def _of_sequential(model: Any, config: dict[str, Any], era: Era) -> dict[str, Any]:
    forms = [form for form in config["layers"] if form["class_name"] != "InputLayer"]
    held = [layer for layer in model.layers if not isinstance(layer, keras.layers.InputLayer)]
    if len(forms) != len(held):
        raise _NotSpelled
    entries = [_of_layer(form, layer, era) for form, layer in zip(forms, held, strict=True)]
    found = {"name": config["name"], "layers": entries}
    if not getattr(model, "inputs", None) or not entries:
        return found
    shape = tuple(nodes.input_layers(model)[0].batch_shape)
    first = entries[0]["config"]
    if not layers.knows_its_input(model):
        found["build_input_shape"] = (None, *shape[1:])
    elif not era.is_standalone:  # which left out an `InputLayer`, and with it the shape
        first.setdefault("batch_input_shape", shape)
        if era is Era.TF_KERAS_2_2:
            found["build_input_shape"] = tf.TensorShape(shape)
    return found


def _of_functional(model: Any, config: dict[str, Any], era: Era) -> dict[str, Any]:
    if symbolic_losses.holds_added(config):
        raise _NotSpelled  # the era had layers for them, of which there are none here
    held = {layer.name: layer for layer in model.layers}
    entries = []
    for form in config["layers"]:
        layer = held.get(form["name"])
        if not isinstance(layer, keras.layers.Layer):
            continue  # of a mask, or `_tensor` misses it
        calls = [_of_call(node, held) for node in form["inbound_nodes"]]
        name = {"name": form["name"]}
        spelled = _of_layer(form, layer, era)
        both = {**spelled, **name} if era is Era.TF_KERAS_2_2 else {**name, **spelled}  # in its order
        entries.append({**both, "inbound_nodes": calls})
    return {
        "name": config["name"],
        "layers": entries,
        "input_layers": _ends(config["input_layers"], held),
        "output_layers": _ends(config["output_layers"], held),
    }


def _ends(places: Any, held: dict[str, Any]) -> list[list[Any]]:
    """Return the inputs or outputs of a model, a list also where there is one.

    There, unlike in calls, Keras 3 counts a functional model's definition as its first call (Keras 3.15).
    """
    if isinstance(places, dict):
        raise _NotSpelled
    listed = [places] if len(places) == 3 and isinstance(places[0], str) else list(places)
    if not all(isinstance(each, (list, tuple)) and len(each) == 3 for each in listed):
        raise _NotSpelled
    is_functional = {name: type(layer) is patch_points.functional_class() for name, layer in held.items()}
    return [_counted([name, call - is_functional.get(name, False), tensor], held) for name, call, tensor in listed]


def _of_call(node: dict[str, Any], held: dict[str, Any]) -> list[list[Any]]:
    """Return one call of a layer: for each tensor, the layer, the call and the output that it comes from."""
    if len(node["args"]) != 1:
        raise _NotSpelled
    given = node["args"][0]
    tensors = list(given) if isinstance(given, (list, tuple)) else [given]
    keywords: dict[str, Any] = {}
    for name, value in node["kwargs"].items():
        if value is None or (name == "mask" and _is_of_functions(value, held)):
            continue
        if name == "training":
            if value is not False:  # the default; the user's False is noted as 0
                keywords[name] = bool(value)
        elif name == "initial_state" and isinstance(value, (list, tuple)):
            tensors += value
        elif isinstance(value, (bool, int, float, str)):
            keywords[name] = value
        else:
            raise _NotSpelled
    return [[*_tensor(each, held), dict(keywords)] for each in tensors]


def _tensor(value: Any, held: dict[str, Any]) -> list[Any]:
    if not isinstance(value, dict) or value.get("class_name") != _TENSOR:
        raise _NotSpelled
    place = list(value["config"]["keras_history"])
    return _counted(place, held)


def _counted(place: list[Any], held: dict[str, Any]) -> list[Any]:
    """Return a layer, a call and an output; the first of a model's calls was its definition."""
    layer = held.get(place[0])
    if not isinstance(layer, keras.layers.Layer):
        raise _NotSpelled
    is_defined = isinstance(layer, keras.Model) and isinstance(nodes.inbound_nodes(layer)[0], nodes.Definition)
    return [place[0], place[1] + is_defined, *place[2:]]


def _is_of_functions(value: Any, held: dict[str, Any]) -> bool:
    """Say whether a mask was made by what computes masks, and not given as a layer's output."""
    masks = value if isinstance(value, (list, tuple)) else [value]
    return all(
        each is None or not isinstance(held.get(each["config"]["keras_history"][0]), keras.layers.Layer)
        for each in masks
    )
