"""Recognise a parallel model by its config and take the single model out of it.

What `multi_gpu_model` and its relatives build is always this, and is recognised by its data alone; no function in the
file is ever looked into:

    inputs -> one Lambda per (device, input) -> the template, called once per device -> one merge per output

The official one (Keras 2.0.9 to 2.3, tf.keras 1.4 to 2.3) gives its Lambdas the arguments ``{i, parts}``; the
`make_parallel` that came before it (github.com/kuza55/keras-extras) ``{idx, parts}``; the `ParallelModel` of Mask R-CNN
(github.com/matterport/Mask_RCNN) none, and is recognised by its class name and its shape.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from parallel_compat.recover.config_json import Entry
from parallel_compat.recover.errors import CheckpointError

INDEX_ARGUMENTS = ("i", "idx", "index", "gpu")
COUNT_ARGUMENTS = ("parts", "n_gpus", "gpu_count", "num_gpus")


@dataclass(frozen=True)
class Wrapper:
    """One parallel model around a single one."""

    name: str
    gpus: int
    style: str  # "multi_gpu_model", "make_parallel", "ParallelModel"


def unwrap(entry: Entry) -> tuple[Entry, list[Wrapper]]:
    """Take the single model out of all parallel models around it.

    Returns:
        The single model, and the wrappers from the outermost inwards; none if it was a single model.
    """
    wrappers: list[Wrapper] = []
    while (found := _wrapped(entry)) is not None:
        entry, wrapper = found
        wrappers.append(wrapper)
    return entry, wrappers


def _wrapped(entry: Entry) -> tuple[Entry, Wrapper] | None:
    if entry["class_name"] == "Sequential":
        return None
    layers: list[Entry] = entry["config"]["layers"]
    by_name = {layer["name"]: layer for layer in layers}
    inputs = [layer["name"] for layer in layers if layer["class_name"] == "InputLayer"]
    models = [layer for layer in layers if "layers" in layer["config"]]
    if len(models) != 1:
        return None
    template = models[0]
    calls = template.get("inbound_nodes", [])
    gpus = len(calls)
    if gpus < 2:
        return None
    styles = {_tower(call, tower, gpus, by_name, set(inputs)) for tower, call in enumerate(calls)}
    if styles == {"ParallelModel"} and entry["class_name"] != "ParallelModel":
        return None  # Lambdas of which nothing is known: a model of its own, that calls another several times
    if len(styles) != 1 or None in styles:
        return None
    merges = [
        layer for layer in layers if layer["class_name"] not in ("InputLayer", "Lambda") and layer is not template
    ]
    averages = _averages(layers, template, entry["class_name"])
    slices = [tensor[0] for call in calls for tensor in call]
    if {*inputs, *slices, template["name"], *(one["name"] for one in merges + averages)} != set(by_name):
        return None
    if len(set(slices)) != len(slices):
        return None
    # A call of the template is numbered from 1 where it was called before (as it is when built): the
    # lowest says.
    merged = [_merge(layer, template["name"], gpus) for layer in merges + averages]
    if any(one is None for one in merged):
        return None
    if {tensor[0] for tensor in entry["config"]["output_layers"]} != {one["name"] for one in merges + averages}:
        return None
    style = styles.pop()
    assert style is not None
    return _as_model(template), Wrapper(entry["name"], gpus, style)


def _tower(call: list[Any], tower: int, gpus: int, by_name: dict[str, Entry], inputs: set[str]) -> str | None:
    """Name the style of the Lambdas that feed one call of the template; None if they are none of ours."""
    styles = set()
    for tensor in call:
        layer = by_name.get(tensor[0])
        if layer is None or layer["class_name"] != "Lambda":
            return None
        nodes = layer.get("inbound_nodes", [])
        if len(nodes) != 1 or len(nodes[0]) != 1 or nodes[0][0][0] not in inputs:
            return None
        arguments = layer["config"].get("arguments") or {}
        if not isinstance(arguments, dict):
            return None
        if not arguments:
            styles.add("ParallelModel")
            continue
        index = [key for key in INDEX_ARGUMENTS if key in arguments]
        count = [key for key in COUNT_ARGUMENTS if key in arguments]
        if len(arguments) != 2 or len(index) != 1 or len(count) != 1:
            return None
        if arguments[index[0]] != tower or arguments[count[0]] != gpus:
            return None
        styles.add("multi_gpu_model" if index == ["i"] else "make_parallel")
    return styles.pop() if len(styles) == 1 else None


def _averages(layers: list[Entry], template: Entry, class_name: str) -> list[Entry]:
    """Find Lambdas behind the template: Mask R-CNN averages an output that is one number."""
    if class_name != "ParallelModel":
        return []
    return [
        layer
        for layer in layers
        if layer["class_name"] == "Lambda"
        and any(tensor[0] == template["name"] for node in layer.get("inbound_nodes", []) for tensor in node)
    ]


def _merge(layer: Entry, template: str, gpus: int) -> int | None:
    """Return which output a layer merges over all towers, in order; None if it does something else."""
    nodes = layer.get("inbound_nodes", [])
    if len(nodes) != 1 or len(nodes[0]) != gpus:
        return None
    if layer["class_name"] not in ("Concatenate", "Lambda") or layer["config"].get("axis", 0) not in (0, [0]):
        return None
    if layer["class_name"] == "Concatenate" and "axis" not in layer["config"]:
        return None
    first = nodes[0][0]
    for tower, tensor in enumerate(nodes[0]):
        if tensor[0] != template or tensor[1] != first[1] + tower or tensor[2] != first[2]:
            return None
    return int(first[2])


def _as_model(template: Entry) -> Entry:
    """Take a nested model out of its graph."""
    if template["class_name"] in ("InputLayer", "Lambda"):
        raise CheckpointError("model_config: the template is not a model.")
    return {key: value for key, value in template.items() if key != "inbound_nodes"}
