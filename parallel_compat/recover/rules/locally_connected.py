"""Layers with another kernel at each place, which Keras 3 does not have: two of its layers compute the same."""

from __future__ import annotations

from typing import Any

from parallel_compat.recover.config_json import Entry
from parallel_compat.recover.rules.activations import hard_sigmoid, renamed_activation
from parallel_compat.recover.rules.parts import parts_of_layer
from parallel_compat.recover.translation import Translation

LOCALLY_CONNECTED = {"LocallyConnected1D": 1, "LocallyConnected2D": 2}
_KEPT = ("use_bias", "kernel_regularizer", "bias_regularizer", "kernel_constraint", "bias_constraint")
_OF_DENSE = ("activation", "activity_regularizer", *_KEPT)


def locally_connected(entry: Entry, translation: Translation) -> None:
    """`LocallyConnected1D` and `2D` become a small model of their name: a depthwise convolution and an `EinsumDense`.

    The convolution has a constant kernel that puts the values of each window side by side; the `EinsumDense` has the
    layer's own weights, another kernel for each window (`weight_edits.py`).
    """
    rank = LOCALLY_CONNECTED.get(entry["class_name"])
    if rank is None or entry["class_name"] in {*translation.custom_objects, *translation.target.layers}:
        return
    config = entry["config"]
    size, strides = _sides(config.get("kernel_size"), rank), _sides(config.get("strides", 1), rank)
    reason = _why_not(config, size, strides)
    if reason is not None:
        translation.refuse(entry, f"Keras 3 has no {entry['class_name']}, and none of its layers computes {reason}")
        return
    assert size is not None
    assert strides is not None
    stand_in: Entry = {
        "class_name": "Dense",
        "name": entry["name"],
        "config": {key: config[key] for key in _OF_DENSE if config.get(key) is not None},
    }
    for rule in (parts_of_layer, renamed_activation, hard_sigmoid):
        rule(stand_in, translation)
    frozen = "_frozen" if config.get("trainable") is False else ""
    translation.edit(entry, f"locally_connected{frozen}:{','.join(map(str, size))}")
    if "batch_input_shape" in config:
        entry["batch_input_shape"] = config["batch_input_shape"]  # for `sequential_input`
    name, places = config["name"], "bc"[:rank]
    even = len(set(strides)) == 1
    windows = {
        "name": f"{name}_windows",
        "trainable": False,
        "kernel_size": size,
        "strides": strides if even else 1,
        "depth_multiplier": size[0] * (size[1] if rank == 2 else 1),
        "use_bias": False,
    }
    kernels = {
        **stand_in["config"],
        "name": f"{name}_kernels",
        "trainable": not frozen,
        "equation": f"a{places}x,{places}xy->a{places}y",
        "output_shape": None,
        "bias_axes": f"{places}y" if kernels_have_bias(config) else None,
    }
    kernels.pop("use_bias", None)
    translation.shaped[translation.here] = kernels  # how many places there are is known from the weights
    # TensorFlow's depthwise convolution has one stride for both axes: the others take every so many windows after it.
    every = {"name": f"{name}_every", "pool_size": 1, "strides": strides}
    entry["class_name"] = "Sequential"
    entry["config"] = {
        "name": name,
        "layers": [
            {"class_name": f"DepthwiseConv{rank}D", "name": windows["name"], "config": windows},
            *([] if even else [{"class_name": "MaxPooling2D", "name": every["name"], "config": every}]),
            {"class_name": "EinsumDense", "name": kernels["name"], "config": kernels},
        ],
    }
    translation.note(
        entry, "Keras 3 has no locally connected layer; it is written as a DepthwiseConv and an EinsumDense"
    )


def kernels_have_bias(config: dict[str, Any]) -> bool:
    """Return whether a locally connected layer adds a bias."""
    return config.get("use_bias", True) is not False


def _sides(value: Any, rank: int) -> list[int] | None:
    sides = [value] * rank if isinstance(value, int) else value
    valid = isinstance(sides, list) and len(sides) == rank and all(type(side) is int and side > 0 for side in sides)
    return list(sides) if valid else None


def _why_not(config: dict[str, Any], size: list[int] | None, strides: list[int] | None) -> str | None:
    if size is None or strides is None or type(config.get("filters")) is not int:
        return "one of these arguments"
    if config.get("implementation", 1) not in (None, 1):
        return f"its implementation {config['implementation']}"
    if config.get("padding", "valid") != "valid":
        return f"its padding {str(config['padding'])[:20]!r}"
    if config.get("data_format") == "channels_first":
        return "it with the channels first"
    if len(size) == 2 and not kernels_have_bias(config):
        return "it in two dimensions without a bias"
    return None
