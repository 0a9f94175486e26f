"""Translate a model's config from Keras 2 to Keras 3: the walk; the changes themselves are in `rules/`."""

from __future__ import annotations

import copy
import re
from collections.abc import Collection

from parallel_compat.recover.config_json import Entry, with_own_layers
from parallel_compat.recover.errors import CheckpointError
from parallel_compat.recover.layer_tree import Path
from parallel_compat.recover.rules import GRAPH_RULES, LAYER_RULES
from parallel_compat.recover.rules.layer_names import masks, model_name
from parallel_compat.recover.translation import PLAIN_KERAS, Target, Translation


def translate(
    entry: Entry,
    keras_version: str | None,
    custom_objects: Collection[str] = (),
    target: Target = PLAIN_KERAS,
    backend: str | None = None,
) -> Translation:
    """Translate a single model's entry.

    Args:
        entry: as `config_json.model_entry` returns it, without parallel wrappers; it is not changed.
        keras_version: what the file says, "2.2.4" or "2.3.0-tf".
    """
    numbers = tuple(int(number) for number in re.findall(r"\d{1,4}", keras_version or "2")[:3])
    translation = Translation(numbers or (2,), "tf" in (keras_version or ""), custom_objects, target, backend)
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
    for key, names in (("layer", ("forward_layer", "backward_layer")), ("backward_layer", ("backward_layer",))):
        if isinstance(config.get(key), dict):
            inside = names if entry["class_name"] == "Bidirectional" else ("layer",)
            before = copy.deepcopy(config[key])
            config[key] = with_own_layers(_layer(config[key], translation, (*path, inside[0])))
            if key == "layer" and len(inside) == 2 and not isinstance(config.get("backward_layer"), dict):
                # Its twin, of which the config says nothing, needs the same done to its weights.
                twin = Translation(
                    translation.version,
                    translation.tf_keras,
                    translation.custom_objects,
                    translation.target,
                    translation.backend,
                )
                _layer(before, twin, (*path, inside[1]))
                translation.edits |= twin.edits
    if isinstance(config.get("cell"), dict):
        config["cell"] = with_own_layers(_layer(config["cell"], translation, (*path, "cell")))
    if isinstance(config.get("cells"), list):
        config["cells"] = [
            with_own_layers(_layer(cell, translation, (*path, cell["name"]))) for cell in config["cells"]
        ]
    translation.here = path
    name, unknown = entry["class_name"], f"{entry['class_name']} of the user"
    is_own = name in translation.target.own
    if is_own:  # so that no rule takes it for Keras's
        entry["class_name"] = unknown
    for rule in LAYER_RULES:
        rule(entry, translation)
    if is_own:
        entry["class_name"] = name
        translation.custom.setdefault(name, []).extend(translation.custom.pop(unknown, []))
    if entry["class_name"] == "Functional" and "output_layers" in entry["config"]:
        for graph_rule in GRAPH_RULES:
            graph_rule(entry, translation)
    for layer in entry["config"].get("layers", ()):
        layer.pop("batch_input_shape", None)  # has served `sequential_input`
        with_own_layers(layer)
    return entry
