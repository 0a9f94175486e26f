"""Weights and models written to files of any name, as methods of models did."""

from __future__ import annotations

import os
import warnings
from typing import Any

import h5py
import keras

from parallel_compat.atomic_file import replacing
from parallel_compat.backend import keras3
from parallel_compat.backend.keras3 import h5_files
from parallel_compat.legacy import tensorflow_checkpoints
from parallel_compat.legacy.utils import ask_to_proceed_with_overwrite
from parallel_compat.own_methods import of_models
from parallel_compat.warning_category import ParallelCompatWarning

# The file that is written where a model is to be saved to a folder.
IN_FOLDER = "keras_model.h5"


def reading_into_code(path: str) -> str:
    """Say how a model of a class of the user's reads its weights from a file that has nothing else of it."""
    reads = f"parallel_compat.legacy.models.load_weights(model, {path!r})"
    return f"Build the model in code, call it on a batch, then `{reads}`."


@of_models("save_weights")
def save_weights(model: keras.Model, filepath: Any, overwrite: bool = True, save_format: str | None = None) -> None:
    """Write a model's weights to a file of any name, whole or not at all.

    A name that ends in `.weights.h5` gets Keras 3's layout; any other gets Keras 2's HDF5 layout, which
    `model.load_weights` reads from `.h5` and `.hdf5` names. A name that ends in `.tf` or `.ckpt` gets a checkpoint of
    TensorFlow.

    Args:
        model: the model; a parallel model's template is written.
        filepath: the file.
        overwrite: whether an existing file is replaced without asking.
        save_format: "h5" or "tf", a checkpoint of TensorFlow; None is what the name says.
    """
    path = os.fspath(filepath)
    if save_format in ("tf", "tensorflow") or (save_format is None and path.endswith((".tf", ".ckpt"))):
        if overwrite or not tensorflow_checkpoints.is_checkpoint(path) or ask_to_proceed_with_overwrite(path):
            tensorflow_checkpoints.save(getattr(model, "template", model), path)
        return
    if not overwrite and os.path.exists(path) and not ask_to_proceed_with_overwrite(path):
        return
    if not path.endswith((".h5", ".hdf5", ".keras")):  # a checkpoint's prefix, whose folder TensorFlow made
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with replacing(path) as temporary:
        keras3.model_saving.save_weights(model, temporary)


@of_models("save")
def save_model(
    model: keras.Model,
    filepath: Any,
    overwrite: bool = True,
    include_optimizer: bool = True,
    save_format: str | None = None,
    signatures: Any = None,
    options: Any = None,
) -> None:
    """Write a whole model to a file of any name, whole or not at all.

    A name that ends in `.keras` gets Keras 3's format; any other gets Keras 2's HDF5 format, which `load_model` reads
    again, also where TensorFlow 2 wrote a folder, a SavedModel. The name of a folder that is there
    already gets that file in it. Of a model of a custom class the file has the weights alone, and a warning says
    how they are read.

    Args:
        model: the model; a parallel model's template is written.
        filepath: the file.
        overwrite: whether an existing file is replaced without asking.
        include_optimizer: whether the optimizer's state is written, too.
        save_format: "h5", "tf" or None: the name alone decides what is written.
        signatures: must be None.
        options: of a SavedModel; not used.

    Raises:
        ValueError: for another format, or for `signatures`.
    """
    if save_format not in (None, "h5", "hdf5", "keras", "tf", "tensorflow"):
        raise ValueError(f"Expected `save_format` 'h5', 'tf' or None. Received: {save_format!r}")
    if signatures is not None:
        raise ValueError(
            "Expected `signatures` to be None: the file is one of Keras, without signatures. Received: "
            f"{signatures!r}. Write a SavedModel by `model.export({os.fspath(filepath)!r})`."
        )
    if isinstance(filepath, h5py.Group):
        h5_files.write_model(model, filepath, include_optimizer=include_optimizer)
        return
    path = os.fspath(filepath)
    if os.path.isdir(path):
        path = os.path.join(path, IN_FOLDER)
    if not overwrite and os.path.exists(path) and not ask_to_proceed_with_overwrite(path):
        return
    single = getattr(model, "template", model)
    if not (path.endswith(".keras") or isinstance(single, keras.Sequential) or getattr(single, "inputs", None)):
        warnings.warn(
            f"{path}: has the weights of {type(single).__name__!r}, but not its code, so `load_model` cannot read it. "
            f"{reading_into_code(path)}",
            ParallelCompatWarning,
            stacklevel=3,
        )
    with replacing(path) as temporary:
        keras3.model_saving.save_model(model, temporary, include_optimizer=include_optimizer)
