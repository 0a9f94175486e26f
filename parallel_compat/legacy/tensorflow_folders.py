"""Models in folders of TensorFlow's SavedModel format that TensorFlow itself wrote (`model.save("folder")` in 2.2).

Beside what it computes, such a folder says what configuration a functional or Sequential model has and how it was
compiled, and has its weights in a checkpoint. Models are made of these; no function that is stored there runs. Like
TensorFlow 2.2 it gives them a new optimizer.
"""

from __future__ import annotations

import json
import os
import warnings
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from parallel_compat.backend.keras3 import h5_files, saved_models
from parallel_compat.legacy import old_files, tensorflow_checkpoints
from parallel_compat.recover.config_json import parse
from parallel_compat.recover.errors import CheckpointError, naming
from parallel_compat.recover.rules.training import old_training
from parallel_compat.warning_category import ParallelCompatWarning

if TYPE_CHECKING:
    import keras


def is_here(path: str) -> bool:
    """Return whether a path is a folder in the SavedModel format."""
    return os.path.isfile(os.path.join(path, "saved_model.pb"))


def load(path: str, custom_objects: dict[str, Any] | None, *, compile: bool, safe_mode: bool) -> keras.Model:
    """Make the model that a folder holds, compiled as it was.

    Raises:
        CheckpointError: the folder has no configuration of a model, or one with Python code, or with something that
            this process has no counterpart of; each by name, and with the way out.
    """
    weights = os.path.join(path, "variables", "variables")
    reads = f'parallel_compat.legacy.models.load_weights(model, "{weights}")'
    way_out = f"A model that is built in code reads its weights: `{reads}`."
    with naming(path):
        text = saved_models.keras_metadata(path)
        found = _plain(parse(text, "saved_model.pb")) if text else None
        if not isinstance(found, dict) or not isinstance(found.get("config"), dict) or "layers" not in found["config"]:
            kind = found.get("class_name") if isinstance(found, dict) else None
            raise CheckpointError(
                "Expected a functional or Sequential model, which its configuration describes. Received: "
                f"{'a SavedModel without one' if kind is None else f'one of the class {kind}'}. {way_out}"
            )
        entry = {key: found.get(key) for key in ("class_name", "config", "keras_version")}
        try:
            model = old_files.model_from_text(json.dumps(entry), custom_objects, safe_mode=safe_mode)
        except CheckpointError as error:
            raise CheckpointError(f"{error} {way_out}") from error
        try:
            tensorflow_checkpoints.load(model, weights)
        except tf.errors.OpError as error:
            raise CheckpointError(str(error)) from error
    if compile and found.get("training_config") is not None:
        given = h5_files.custom_objects(custom_objects)
        notes: list[str] = []
        with naming(path):
            training = old_training(found["training_config"], notes, given, tf_keras=True)
        if training is not None:
            old_files.compile_as_saved(model, training, given)
        for note in notes:
            warnings.warn(f"{path}: {note}", ParallelCompatWarning, stacklevel=4)
    return model


def _plain(value: Any) -> Any:
    """Return a configuration in which tuples and shapes are lists, as in files of other formats."""
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if not isinstance(value, dict):
        return value
    if value.get("class_name") in ("__tuple__", "TensorShape") and isinstance(value.get("items"), list):
        return [_plain(each) for each in value["items"]]
    return {key: _plain(each) for key, each in value.items()}
