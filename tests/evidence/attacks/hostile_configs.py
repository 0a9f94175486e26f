"""Configs that are JSON, and yet no model's: strange names and numbers, circles, more than is good."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np

from tests.evidence.attacks.hostile_files import HOSTILE, changed, hostile, layer_of, template_of, with_config

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def _renamed(name: str) -> Callable[[Path], None]:
    """Give the layer "hidden" another name, consistently."""

    def change(config: dict[str, Any]) -> None:
        for layer in template_of(config)["config"]["layers"]:
            if layer["name"] == "hidden":
                layer["name"] = layer["config"]["name"] = name
            for node in layer.get("inbound_nodes", []):
                for tensor in node:
                    tensor[0] = name if tensor[0] == "hidden" else tensor[0]

    return lambda path: with_config(path, change)


HOSTILE["layer_name_of_100_000_characters"] = _renamed("x" * 100_000)
HOSTILE["layer_name_absolute"] = _renamed("/abs/olute")
HOSTILE["layer_name_with_dots"] = _renamed("../probs")
HOSTILE["layer_name_with_nul"] = _renamed("a\0b")
HOSTILE["layer_name_with_escape"] = _renamed("a\x1b[2J")
HOSTILE["layer_name_with_half_a_surrogate_pair"] = _renamed("a\ud800b")
HOSTILE["layer_name_that_keras_keeps_for_itself"] = _renamed("top_level_model_weights")


def _units(value: object) -> Callable[[Path], None]:
    return lambda path: with_config(path, lambda config: layer_of(config, "hidden")["config"].update(units=value))


HOSTILE["units_negative"] = _units(-5)
HOSTILE["units_of_half"] = _units(1.5)
HOSTILE["units_of_1e18"] = _units(1e18)
HOSTILE["units_nan"] = _units(float("nan"))
HOSTILE["units_infinite"] = _units(float("inf"))
HOSTILE["units_true"] = _units(True)
HOSTILE["units_none"] = _units(None)


def _input_shape(shape: object) -> Callable[[Path], None]:
    def change(config: dict[str, Any]) -> None:
        for layers in (config["config"]["layers"], template_of(config)["config"]["layers"]):
            next(one for one in layers if one["name"] == "x")["config"]["batch_input_shape"] = shape

    return lambda path: with_config(path, change)


HOSTILE["input_shape_negative"] = _input_shape([None, -8])
HOSTILE["input_shape_of_floats"] = _input_shape([None, 8.0])
HOSTILE["input_shape_nan"] = _input_shape([None, float("nan")])
HOSTILE["input_shape_huge"] = _input_shape([None, 2**62])
HOSTILE["input_shape_of_5_000_axes"] = _input_shape([None] * 5000)
HOSTILE["input_shape_empty"] = _input_shape([])
HOSTILE["input_shape_that_is_text"] = _input_shape("8")


def _replaced(old: str, new: str) -> Callable[[Path], None]:
    """Change the config's text."""

    def write(path: Path) -> None:
        with changed(path) as file:
            text = json.dumps(json.loads(file.attrs["model_config"]))
            assert old in text
            file.attrs["model_config"] = text.replace(old, new).encode()

    return write


HOSTILE["key_twice"] = _replaced('"units": 16', '"units": 16, "units": 99')
HOSTILE["number_of_1e400"] = _replaced('"units": 16', '"units": 1e400')
HOSTILE["text_behind_the_config"] = _replaced('{"class_name": "Model"', '{}{"class_name": "Model"')
HOSTILE["class_name_of_a_megabyte"] = _replaced('"Dense"', f'"{"D" * 1_000_000}"')
HOSTILE["argument_name_of_a_megabyte"] = _replaced('"units": 16', f'"units": 16, "{"k" * 1_000_000}": 1')


@hostile
def hundred_thousand_arguments(path: Path) -> None:
    more = {f"k{number}": 1 for number in range(100_000)}
    with_config(path, lambda config: layer_of(config, "hidden")["config"].update(more))


def _chain(
    path: Path, length: int, sources: Callable[[int], list[str]], class_name: str = "Activation", same: int = 0
) -> None:
    """Make the template a chain of layers without weights."""
    layers: list[dict[str, Any]] = [
        {
            "class_name": "InputLayer",
            "name": "x",
            "config": {"name": "x", "batch_input_shape": [None, 1], "dtype": "float32"},
            "inbound_nodes": [],
        }
    ]
    for number in range(length):
        name = f"d{max(0, number - same)}"
        arguments = {"activation": "relu"} if class_name == "Activation" else {}
        layers.append(
            {
                "class_name": class_name,
                "name": name,
                "config": {"name": name, **arguments},
                "inbound_nodes": [[[source, 0, 0, {}] for source in sources(number)]],
            }
        )
    with changed(path) as file:
        config = json.loads(file.attrs["model_config"])
        template_of(config)["config"].update(
            layers=layers, input_layers=[["x", 0, 0]], output_layers=[[layers[-1]["name"], 0, 0]]
        )
        file["model_weights/mlp"].attrs["weight_names"] = np.zeros(0)
        del file.attrs["model_config"]
    with h5py.File(path, "r+", libver="latest") as file:
        file.attrs["model_config"] = json.dumps(config).encode()


@hostile
def layer_that_feeds_itself(path: Path) -> None:
    _chain(path, 2, lambda number: [f"d{number}"])


@hostile
def circle_of_4_000_layers(path: Path) -> None:
    _chain(path, 4_000, lambda number: [f"d{number - 1}" if number else "d3999"])


@hostile
def four_thousand_layers_two_of_one_name(path: Path) -> None:
    _chain(path, 4_000, lambda number: [f"d{number - 1}" if number else "x"], same=1)


@hostile
def nine_thousand_layers(path: Path) -> None:
    _chain(path, 9_000, lambda number: [f"d{number - 1}" if number else "x"])


@hostile
def nine_thousand_layers_in_three_models(path: Path) -> None:
    """Each model within its bound, all together not."""
    layers = [{"class_name": "Dropout", "config": {"name": f"d{number}", "rate": 0.5}} for number in range(3_000)]
    models = [{"class_name": "Sequential", "config": {"name": f"m{number}", "layers": layers}} for number in range(3)]
    with changed(path) as file:
        del file.attrs["model_config"]
    with h5py.File(path, "r+", libver="latest") as file:
        config = {"class_name": "Sequential", "config": {"name": "m", "layers": models}}
        file.attrs["model_config"] = json.dumps(config).encode()


@hostile
def sum_of_a_million_tensors(path: Path) -> None:
    _chain(path, 1_000, lambda number: ["x"] * 1_000, "Add")


@hostile
def models_500_deep(path: Path) -> None:
    with changed(path) as file:
        text = '{"class_name": "Sequential", "name": "s", "config": {"name": "s", "layers": [' * 500
        del file.attrs["model_config"]
        file.attrs["model_config"] = (text + "]}}" * 500).encode()
