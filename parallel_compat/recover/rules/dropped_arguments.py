"""Arguments that layers no longer take, take by another name, or took for granted (`dropped_arguments.tsv`)."""

from __future__ import annotations

import json
from typing import Any

from parallel_compat.names import tsv
from parallel_compat.recover.config_json import Entry
from parallel_compat.recover.rules.keras3_arguments import COMMON, KERAS3_ARGUMENTS
from parallel_compat.recover.translation import Translation


def _rows(became: str) -> dict[tuple[str, str], str]:
    """Return the values of the table's rows of one kind, by class (or "*") and argument."""
    rows = tsv.rows("dropped_arguments.tsv", 5, __package__)
    return {(name, row[1]): row[3] for row in rows if row[2] == became for name in row[0].split()}


def _values(cell: str) -> list[Any]:
    values: list[Any] = json.loads(f"[{cell}]")
    return values


RENAMED = _rows("renamed")
DROPPED = {place: _values(cell) if cell else None for place, cell in _rows("dropped").items()}
MISSING = {place: _values(cell)[0] for place, cell in _rows("missing").items()}


def batch_normalization_axis(entry: Entry, translation: Translation) -> None:
    """The axis of a BatchNormalization is a number; tf.keras writes a list, ``[3]``."""
    axis = entry["config"].get("axis")
    if entry["class_name"] == "BatchNormalization" and isinstance(axis, list):
        if len(axis) == 1:
            entry["config"]["axis"] = axis[0]
        else:
            translation.refuse(entry, f"Keras 3 normalises along one axis, this layer along {axis}")


def renamed_argument(entry: Entry, translation: Translation) -> None:
    """An argument of the same meaning stands under its new name."""
    config = entry["config"]
    for (name, old), new in RENAMED.items():
        if entry["class_name"] == name and old in config:
            value = config.pop(old)
            config.setdefault(new, value)


def missing_default(entry: Entry, translation: Translation) -> None:
    """What an early Keras 2 did without saying so is said, where Keras 3 would do otherwise."""
    for (name, argument), value in MISSING.items():
        if entry["class_name"] == name:
            entry["config"].setdefault(argument, value)


def dropped_argument(entry: Entry, translation: Translation) -> None:
    """Drop an argument that Keras 3 no longer has, if its value changes nothing."""
    config = entry["config"]
    for (name, argument), harmless in DROPPED.items():
        if name in ("*", entry["class_name"]) and argument in config:
            if name == "*" and entry["class_name"] in ("InputLayer", "Sequential", "Functional"):
                continue  # `input_layer` and `sequential_input` need it
            if argument in KERAS3_ARGUMENTS.get(entry["class_name"], ()):
                continue
            if entry["class_name"] not in KERAS3_ARGUMENTS:
                continue
            if argument == "batch_input_shape":
                entry["batch_input_shape"] = config[argument]  # for `sequential_input` of the model around
            if harmless is None or any(config[argument] == value for value in harmless):
                del config[argument]


def bilinear_upsampling(entry: Entry, translation: Translation) -> None:
    """Bilinear upsampling places pixels elsewhere since TensorFlow 2.0 (half-pixel centres), and so does Keras 3."""
    old_centres = not translation.tf_keras or translation.version < (2, 2, 5)
    if entry["class_name"] == "UpSampling2D" and entry["config"].get("interpolation") == "bilinear" and old_centres:
        translation.refuse(
            entry,
            "its bilinear interpolation is that of TensorFlow 1 (no half-pixel centres), which Keras 3 does not have",
        )


def unknown_argument(entry: Entry, translation: Translation) -> None:
    """Refuse, by name, an argument that Keras 3 does not take."""
    taken = KERAS3_ARGUMENTS.get(entry["class_name"])
    if taken is None or entry["class_name"] == "Lambda":
        return
    for argument, value in entry["config"].items():
        if argument not in taken and argument not in COMMON:
            translation.refuse(entry, f"Keras 3's {entry['class_name']} takes no `{argument}` (here {str(value)[:60]})")
