"""Parse a model's config: JSON of bounded size, brought into one form whatever version of Keras wrote it.

An *entry* is what stands for one layer in a config: ``{"class_name": ..., "name": ..., "config": {...},
"inbound_nodes": [...]}``. After `model_entry` each entry has its name and a `config` that is a dictionary; a model in
it is of the class "Functional" or "Sequential" (or of its own), with a list of entries in ``config["layers"]``.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from parallel_compat.recover import limits
from parallel_compat.recover.errors import CheckpointError
from parallel_compat.recover.safe_names import parts

Entry = dict[str, Any]

# Functional models of Keras 2.0 to 2.3 are "Model" (or "Container" inside others), of TensorFlow 2.3
# "Functional".
FUNCTIONAL_CLASSES = frozenset({"Model", "Functional", "Container", "Network"})


def parse(text: str, what: str) -> Any:
    """Parse JSON from a file.

    >>> from parallel_compat.recover.config_json import parse
    >>> parse('{"loss": "mse"}', "training_config")
    {'loss': 'mse'}

    Args:
        what: how errors name it.
    """
    # Counted before it is parsed: three bytes of `[],` would become a hundred in memory.
    if sum(text.count(sign) for sign in "[{,") > limits.JSON_VALUES:
        raise CheckpointError(f"{what}: more than {limits.JSON_VALUES:,} values.")
    try:
        found = json.loads(text)
    except RecursionError:
        raise CheckpointError(f"{what}: nested too deep.") from None
    except ValueError as error:
        raise CheckpointError(f"{what}: not valid JSON ({str(error)[:200]}).") from error
    level, depth = [found], 0
    while level:
        depth += 1
        if depth > limits.JSON_DEPTH:
            raise CheckpointError(f"{what}: nested more than {limits.JSON_DEPTH} deep.")
        inner: list[Any] = []
        for value in level:
            if isinstance(value, dict):
                inner.extend(value.values())
            elif isinstance(value, list):
                inner.extend(value)
            elif isinstance(value, int) and abs(value) >= 1 << 63:
                raise CheckpointError(f"{what}: a number beyond 64 bits.")
        level = inner
    return found


def model_entry(text: str, layer_names: Sequence[str] = ()) -> Entry:
    """Parse a `model_config` into one entry.

    Args:
        layer_names: the names of the model's layers, by the file's list. Up to Keras 2.2.2 a Sequential does not write
            down its name; where it is the layer of another one, the list tells.
    """
    found = parse(text, "model_config")
    if not isinstance(found, dict):
        raise CheckpointError(f"model_config: expected an object. Received: {type(found).__name__}.")
    config = found.get("config")
    if isinstance(config, list) and len(config) == len(layer_names):
        named = [
            layer | {"name": name} if isinstance(layer, dict) else layer
            for layer, name in zip(config, layer_names, strict=True)
        ]
        found = found | {"config": named}
    entry = _entry(found, "model_config", 0)
    if _count(entry) > limits.GRAPH_LAYERS:
        raise CheckpointError(f"model_config: more than {limits.GRAPH_LAYERS:,} layers.")
    if "layers" not in entry["config"]:
        raise CheckpointError(
            f"model_config: expected a model with layers. Received: class {entry['class_name']!r}, a subclassed model, "
            "whose layers are not in the file. Build the model with its own code and use `load_template_weights`."
        )
    return entry


def _entry(found: Any, where: str, depth: int) -> Entry:
    if depth > limits.MODEL_DEPTH:
        raise CheckpointError(f"{where}: models inside models, more than {limits.MODEL_DEPTH} deep.")
    if not isinstance(found, dict) or not isinstance(found.get("class_name"), str):
        raise CheckpointError(f"{where}: expected a layer with a `class_name`.")
    # A class registered by a project stands in the file as "package>Class".
    class_name = found["class_name"]
    if len(class_name) > limits.NAME_LENGTH:
        raise CheckpointError(f"{where}: a class name of {len(class_name):,} characters.")
    config = found.get("config")
    if isinstance(config, list):  # Sequential, up to Keras 2.2.2
        config = {"layers": config}
    if not isinstance(config, dict):
        raise CheckpointError(f"{where}: the layer of class {class_name!r} has no config.")
    config = dict(config)
    name = found.get("name", config.get("name"))
    if name is None and class_name == "Sequential":
        name = "sequential"
    if not isinstance(name, str) or not name:
        raise CheckpointError(f"{where}: a layer of class {class_name!r} has no name.")
    parts(name, where)
    where = f"{where}/{name[:80]}"
    if (class_name in FUNCTIONAL_CLASSES and "layers" in config) or (
        class_name == "Sequential" and "input_layers" in config
    ):
        class_name = "Functional"
    # The name by which the graph knows the layer wins; it is the group's name, too.
    entry: Entry = {"class_name": class_name, "name": name, "config": config}
    config["name"] = name
    if "inbound_nodes" in found:
        entry["inbound_nodes"] = _nodes(found["inbound_nodes"], where)
    if "cell" in config:
        config["cell"] = _entry(config["cell"], where, depth + 1)
    if "cells" in config and isinstance(config["cells"], list):
        config["cells"] = [_entry(cell, where, depth + 1) for cell in config["cells"]]
    if "layers" in config and class_name not in (*FUNCTIONAL_CLASSES, "Sequential") and "input_layers" not in config:
        entry["own_layers"] = config.pop("layers")  # an argument of a layer of the user: `layers=[64, 32]`
    if "layers" in config:
        if not isinstance(config["layers"], list) or len(config["layers"]) > limits.GRAPH_LAYERS:
            raise CheckpointError(f"{where}: `layers` is not a list of at most {limits.GRAPH_LAYERS:,} layers.")
        layers = [_entry(layer, where, depth + 1) for layer in _numbered(config["layers"])]
        twice = [name for name, count in Counter(layer["name"] for layer in layers).items() if count > 1]
        if twice:
            raise CheckpointError(f"{where}: two layers have the name {twice[0]!r}.")
        config["layers"] = layers
        if class_name != "Sequential":
            for key in ("input_layers", "output_layers"):
                config[key] = _tensors(config.get(key), f"{where}: {key}")
    for key in ("layer", "backward_layer"):
        if key in config and (key == "layer" or config[key] is not None):
            config[key] = _entry(config[key], where, depth + 1)
    return entry


def with_own_layers(entry: Entry) -> Entry:
    """Put an argument of a layer of the user that is called `layers` back into the layer's config."""
    if "own_layers" in entry:
        entry["config"]["layers"] = entry.pop("own_layers")
    return entry


def own_entries(entry: Entry) -> list[Entry]:
    """Return the layers that a layer's argument `layers` holds: those that a `Merge` of Keras 1 begins with."""
    found = entry.get("own_layers") or []
    where = f"model_config/{entry.get('name', '')[:80]}"
    if not isinstance(found, list) or not all(isinstance(one, dict) and "class_name" in one for one in found):
        return []
    return [
        _entry({"name": f"{entry['name']}_branch_{number}", **one}, where, 1) for number, one in enumerate(found, 1)
    ]


def _count(entry: Entry) -> int:
    """Count the layers of a model, those of models inside it too."""
    layers = entry["config"].get("layers", ())
    return len(layers) + sum(_count(layer) for layer in layers)


def _numbered(layers: list[Any]) -> list[Any]:
    """Give nameless Sequentials among layers names of their own."""
    found = []
    for number, layer in enumerate(layers):
        if (
            isinstance(layer, dict)
            and layer.get("class_name") == "Sequential"
            and isinstance(layer.get("config"), list)
        ):
            layer = {"name": f"sequential_{number}", **layer}
        found.append(layer)
    return found


def _nodes(found: Any, where: str) -> list[list[list[Any]]]:
    """Check the calls of a layer: a list of lists of [layer, call, output] or [layer, call, output, arguments]."""
    if not isinstance(found, list):
        raise CheckpointError(f"{where}: `inbound_nodes` is not a list.")
    nodes = []
    for node in found:
        if isinstance(node, list) and len(node) in (3, 4) and isinstance(node[0], str):
            node = [node]  # TensorFlow 2.3 writes a call on one tensor without the outer list
        if not isinstance(node, list) or not all(_is_tensor(one) for one in node):
            raise CheckpointError(f"{where}: `inbound_nodes` is not of the form that Keras 2 writes.")
        nodes.append([[*one, {}] if len(one) == 3 else list(one) for one in node])
    return nodes


def _tensors(found: Any, what: str) -> list[list[Any]]:
    if isinstance(found, list) and _is_tensor(found):
        found = [found]
    if not isinstance(found, list) or not found or not all(_is_tensor(one) for one in found):
        raise CheckpointError(f"{what} is not a list of [layer, call, output].")
    return [one[:3] for one in found]


def _is_tensor(found: Any) -> bool:
    return (
        isinstance(found, list)
        and len(found) in (3, 4)
        and isinstance(found[0], str)
        and all(type(index) is int and 0 <= index < limits.NAMES for index in found[1:3])
        and (len(found) == 3 or isinstance(found[3], dict) or found[3] is None)
    )
