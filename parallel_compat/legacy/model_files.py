"""Weights and models written to files of any name, and weights read from them, as methods of models did."""

from __future__ import annotations

import errno
import os
import zipfile
from typing import TYPE_CHECKING, Any

import h5py

from parallel_compat.atomic_file import replacing
from parallel_compat.backend.keras3 import h5_files
from parallel_compat.hdf5_output import writing
from parallel_compat.legacy import saving, tensorflow_checkpoints
from parallel_compat.legacy.utils import ask_to_proceed_with_overwrite
from parallel_compat.own_methods import of_models
from parallel_compat.recover.keras_archive import look_over_archive
from parallel_compat.recover.reader import read

if TYPE_CHECKING:
    import keras

# The file that is written where a model is to be saved to a folder.
_IN_FOLDER = "keras_model.h5"


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
            tensorflow_checkpoints.save(_saved(model), path)
        return
    if not overwrite and os.path.exists(path) and not ask_to_proceed_with_overwrite(path):
        return
    with replacing(path) as temporary:
        if path.endswith(".weights.h5"):
            model.save_weights(temporary)
        else:
            with writing(temporary) as (file, _):
                h5_files.write_weights(_saved(model), file)


@of_models("load_weights")
def load_weights(
    model: keras.Model, filepath: Any, by_name: bool = False, skip_mismatch: bool = False, reshape: bool = False
) -> Any:
    """Read weights from a file of any name, in Keras 2's or Keras 3's layout, or from a checkpoint of TensorFlow.

    Args:
        model: the model.
        filepath: the file.
        by_name: whether layers are found by their names instead of their order. Names that Keras gave are found in
            a file of Keras 2 where that counted: its `dense_1` is today's `dense`.
        skip_mismatch: whether layers whose shapes differ are left as they are; with `by_name` only.
        reshape: whether an array of the right size takes the shape of a convolution's kernel, in files of Keras 2.

    Raises:
        ValueError: the layers' names do not tell which weights they take; `reshape=True` with another kind of file.
        CheckpointError: a `ValueError`: the file is damaged or hostile, or does not fit; the model is as it was before.

    Returns:
        For a checkpoint what `tf.keras` returned, else None.
    """
    path = existing(filepath)
    if reshape and (tensorflow_checkpoints.is_checkpoint(path) or is_for_keras(path)):
        raise _not_reshaped(path)
    if tensorflow_checkpoints.is_checkpoint(path):
        if by_name:
            raise ValueError(
                f"Expected `by_name=False` with a checkpoint of TensorFlow, {path!r}: its weights have no names of "
                "layers. Received: by_name=True. Write the weights to a `.h5` file."
            )
        return tensorflow_checkpoints.load(_saved(model), path)
    if is_for_keras(path):
        model.load_weights(path, **({"skip_mismatch": True} if skip_mismatch else {}))
        return None
    with read(path, arrays=False) as reading:  # looks at every object in the file
        stored = reading.stored
    if stored.form == "keras3":
        if reshape:
            raise _not_reshaped(path)
        model.load_weights(path, **({"skip_mismatch": True} if skip_mismatch else {}))
    elif by_name:
        saving.load_by_name(_saved(model), path, skip_mismatch=skip_mismatch, reshape=reshape)
    else:
        saving.load_in_order(_saved(model), path, reshape=reshape)
    return None


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
    already gets that file in it.

    Args:
        model: the model; a parallel model's template is written.
        filepath: the file.
        overwrite: whether an existing file is replaced without asking.
        include_optimizer: whether the optimizer's state is written, too.
        save_format: "h5", "tf" or None: what is written hangs on the name alone.
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
        path = os.path.join(path, _IN_FOLDER)
    if not overwrite and os.path.exists(path) and not ask_to_proceed_with_overwrite(path):
        return
    with replacing(path) as temporary:
        if path.endswith(".keras"):
            model.save(temporary, include_optimizer=include_optimizer)
        else:
            with writing(temporary) as (file, _):
                h5_files.write_model(model, file, include_optimizer=include_optimizer)


def _not_reshaped(path: str) -> ValueError:
    return ValueError(
        f"Expected `reshape=False`: {path!r} is no HDF5 file of Keras 2. Received: reshape=True. Reshape the arrays "
        "with numpy, and give them to `layer.set_weights`."
    )


def _saved(model: keras.Model) -> keras.Model:
    return getattr(model, "template", model)


def existing(filepath: Any) -> str:
    """Return a file's path; a checkpoint of TensorFlow is the beginning of the names of several files."""
    path: str = os.fspath(filepath)
    if not os.path.exists(path) and not os.path.exists(f"{path}.index"):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    inside = os.path.join(path, _IN_FOLDER)
    return inside if os.path.isfile(inside) else path


def is_for_keras(path: str) -> bool:
    """Say whether Keras reads what is there by itself: a `.keras` archive, which is looked over first, or no file."""
    if not os.path.isfile(path):
        return True  # a folder, or the beginning of names
    if not zipfile.is_zipfile(path):
        return False
    look_over_archive(path)
    return True
