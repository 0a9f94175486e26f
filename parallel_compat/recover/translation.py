"""Translate a model's config from Keras 2 to Keras 3: the walk; the changes themselves are in `rules/`."""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from parallel_compat.recover.errors import CheckpointError
from parallel_compat.recover.rules import GRAPH_RULES, LAYER_RULES
from parallel_compat.recover.rules.layer_names import masks, model_name
from parallel_compat.recover.target import PLAIN_KERAS

if TYPE_CHECKING:
    from collections.abc import Collection

    from parallel_compat.recover.config_json import Entry
    from parallel_compat.recover.layer_tree import Path
    from parallel_compat.recover.target import Target


@dataclass
class Translation:
    """What translating one model gave.

    Attributes:
        version: of the Keras that wrote it, as numbers.
        tf_keras: whether that was the one inside TensorFlow.
        custom_objects: names of classes and functions that the user has at hand.
        target: for whom it is translated.
        config: the model's entry for Keras 3.
        notes: what was done that a user should know.
        refused: what has no counterpart in Keras 3, one sentence each.
        custom: name of a class or function that is not Keras's -> where it is used.
        lambdas: Lambda layers that belong to the model itself.
        edits: leaf -> what has to be done to its weights (`weight_edits.py`).
        masked: whether a layer of the model makes masks.
    """

    version: tuple[int, ...]
    tf_keras: bool
    custom_objects: Collection[str] = ()
    target: Target = PLAIN_KERAS
    config: Entry = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    custom: dict[str, list[str]] = field(default_factory=dict)
    lambdas: list[str] = field(default_factory=list)
    edits: dict[Path, list[str]] = field(default_factory=dict)
    masked: bool = False
    here: Path = ()

    def note(self, entry: Entry, sentence: str) -> None:
        """Record something to be told of a layer."""
        self.notes.append(f"layer {entry['name']!r}: {sentence}.")

    def refuse(self, entry: Entry, sentence: str) -> None:
        """Record that a layer cannot be written for Keras 3."""
        self.refused.append(f"layer {entry['name']!r}: {sentence}.")

    def edit(self, entry: Entry, edit: str) -> None:
        """Record that the weights of the layer at hand need a change."""
        self.edits.setdefault(self.here, []).append(edit)

    def check(self, *, keep_lambda: bool = False, keep_custom: bool = False) -> None:
        """Raise if the model cannot be written as it is.

        Raises:
            CheckpointError: with every reason, and the way out.
        """
        problems = list(self.refused)
        if self.lambdas and not keep_lambda:
            problems.append(
                "Lambda layers hold Python bytecode of the time, which is not run: "
                f"{', '.join(self.lambdas)}. "
                "Keep them as data with `keep_lambda` (--keep-lambda)."
            )
        missing = {name: places for name, places in self.custom.items() if name not in self.custom_objects}
        if missing and not keep_custom:
            listed = "; ".join(f"{name} (in {', '.join(places[:3])})" for name, places in missing.items())
            problems.append(
                f"Classes or functions that are not Keras's: {listed}. Give them as "
                "`custom_objects`, or write .h5, which keeps them as data."
            )
        if problems:
            raise CheckpointError(
                "The model cannot be written for Keras 3 as it is: "
                + " ".join(problems)
                + (
                    " Its weights alone can be taken out (--weights-only, or "
                    "`load_template_weights` into a model built by your code)."
                )
            )


def translate(
    entry: Entry, keras_version: str | None, custom_objects: Collection[str] = (), target: Target = PLAIN_KERAS
) -> Translation:
    """Translate a single model's entry.

    Args:
        entry: as `config_json.model_entry` returns it, parallel wrappers taken off; it is left as it is.
        keras_version: what the file says, "2.2.4" or "2.3.0-tf".
        custom_objects: names of classes and functions that the user has at hand.
        target: for whom it is translated.
    """
    numbers = tuple(int(number) for number in re.findall(r"\d{1,4}", keras_version or "2")[:3])
    translation = Translation(numbers or (2,), "tf" in (keras_version or ""), custom_objects, target)
    try:
        translation.masked = masks(entry)
        translation.config = _layer(copy.deepcopy(entry), translation, ())
        model_name(translation.config, translation)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, RecursionError) as error:
        if isinstance(error, CheckpointError):
            raise
        raise CheckpointError(
            f"model_config: not of a form that Keras wrote ({type(error).__name__}: {str(error)[:200]})."
        ) from error
    return translation


def _layer(entry: Entry, translation: Translation, path: Path) -> Entry:
    config = entry["config"]
    if "layers" in config:
        config["layers"] = [_layer(layer, translation, (*path, layer["name"])) for layer in config["layers"]]
    for key, names in (
        ("layer", ("forward_layer", "backward_layer")),
        ("backward_layer", ("backward_layer",)),
    ):
        if isinstance(config.get(key), dict):
            inside = names if entry["class_name"] == "Bidirectional" else ("layer",)
            before = copy.deepcopy(config[key])
            config[key] = _layer(config[key], translation, (*path, inside[0]))
            if key == "layer" and len(inside) == 2 and not isinstance(config.get("backward_layer"), dict):
                # Its twin, of which the config says nothing, needs the same done to its weights.
                twin = Translation(
                    translation.version, translation.tf_keras, translation.custom_objects, translation.target
                )
                _layer(before, twin, (*path, inside[1]))
                translation.edits |= twin.edits
    if isinstance(config.get("cell"), dict):
        config["cell"] = _layer(config["cell"], translation, (*path, "cell"))
    if isinstance(config.get("cells"), list):
        config["cells"] = [_layer(cell, translation, (*path, cell["name"])) for cell in config["cells"]]
    translation.here = path
    for rule in LAYER_RULES:
        rule(entry, translation)
    if entry["class_name"] == "Functional" and "output_layers" in entry["config"]:
        for graph_rule in GRAPH_RULES:
            graph_rule(entry, translation)
    for layer in entry["config"].get("layers", ()):
        layer.pop("batch_input_shape", None)  # has served `sequential_input`
    return entry
