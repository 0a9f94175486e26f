"""Names of layers: Keras 3 takes no slashes in them, and none that TensorFlow refuses as a scope."""

from __future__ import annotations

import re
from collections import Counter

from parallel_compat.recover.config_json import Entry
from parallel_compat.recover.translation import Translation


def keras3_name(name: str) -> str:
    """Return what a layer of this name is called in Keras 3.

    Slashes stood for blocks ("conv1/bn" in the DenseNets of `keras.applications`). Keras 3 refuses them, and its own
    DenseNets have underscores there.

    >>> from parallel_compat.recover.rules.layer_names import keras3_name
    >>> keras3_name("conv1/bn")
    'conv1_bn'
    """
    return name.replace("/", "_")


def plain_name(entry: Entry, translation: Translation) -> None:
    """A layer's name has underscores for slashes."""
    entry["name"] = entry["config"]["name"] = keras3_name(entry["name"])


def names_in_graph(entry: Entry, translation: Translation) -> None:
    """A model's graph calls its layers by their names in Keras 3."""
    config = entry["config"]
    if "layers" not in config:
        return
    layers = config["layers"]
    new = _beside_masks(layers, translation)
    for layer in layers:
        layer["name"] = layer["config"]["name"] = new.get(layer["name"], layer["name"])
    tensors = [tensor for layer in layers for node in layer.get("inbound_nodes", ()) for tensor in node]
    tensors += [tensor for key in ("input_layers", "output_layers") for tensor in config.get(key, ())]
    for tensor in tensors:
        name = keras3_name(tensor[0])
        tensor[0] = new.get(name, name)
    twice = [name for name, count in Counter(layer["name"] for layer in layers).items() if count > 1]
    if twice:
        translation.refuse(entry, f"two of its layers would be called {twice[0]!r}: Keras 3 takes no slashes in names")


def _beside_masks(layers: list[Entry], translation: Translation) -> dict[str, str]:
    """Rename layers that bear the names which Keras 3 gives to operations on masks.

    It concatenates the masks of a `Concatenate` in an operation of the model's graph, which it calls "concatenate",
    "concatenate_1" ... as it comes; a layer of that name is then one of two (`Concatenate.compute_mask`, Keras 3.15).
    """
    if not translation.masked:
        return {}
    new = {
        layer["name"]: f"{layer['name']}_layer"
        for layer in layers
        if layer["class_name"] == "Concatenate" and re.fullmatch(r"concatenate(_\d+)?", layer["name"])
    }
    for old, name in new.items():
        translation.notes.append(
            f"layer {old!r}: is renamed to {name!r}: Keras 3 uses the old name for an operation on masks."
        )
    return new


def masks(entry: Entry) -> bool:
    """Return whether a layer of a model makes a mask."""
    config = entry["config"]
    if entry["class_name"] == "Masking" or (entry["class_name"] == "Embedding" and config.get("mask_zero")):
        return True
    inner = [*config.get("layers", ()), *(config[key] for key in ("layer",) if isinstance(config.get(key), dict))]
    return any(masks(one) for one in inner)


def model_name(entry: Entry, translation: Translation) -> None:
    """A whole model has a name that TensorFlow takes for a scope, in which Keras 3 runs it; Keras 2 did not."""
    name = re.sub(r"[^A-Za-z0-9_.\\>-]", "_", entry["name"])
    if not re.match(r"[A-Za-z0-9.]", name):
        name = f"model{name}" if name.startswith("_") else f"model_{name}"
    if name != entry["name"]:
        translation.note(entry, f"is renamed to {name!r}: Keras 3 cannot run a model under its old name")
        entry["name"] = entry["config"]["name"] = name
