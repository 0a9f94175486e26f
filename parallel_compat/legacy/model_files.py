"""Weights and models written to files of any name, and weights read from them, as methods of models did."""

from __future__ import annotations

import errno
import os
import warnings
import zipfile
from typing import TYPE_CHECKING, Any

import h5py

from parallel_compat.atomic_file import replacing
from parallel_compat.backend.keras3 import h5_files, symbolic_losses
from parallel_compat.backend.keras3.layers import is_of_graph
from parallel_compat.hdf5_output import writing
from parallel_compat.legacy import made_weights, saved_models, saving, tensorflow_checkpoints, total_loss
from parallel_compat.legacy.utils import ask_to_proceed_with_overwrite
from parallel_compat.names.eras import Era
from parallel_compat.own_methods import of_models
from parallel_compat.recover.keras_archive import look_over_archive
from parallel_compat.recover.reader import read
from parallel_compat.run import object_eras
from parallel_compat.warning_category import ParallelCompatWarning

if TYPE_CHECKING:
    import keras


# What is written where a model is to be saved to a folder.
_IN_FOLDER = saved_models.CONFIGURED


@of_models("save_weights")
def save_weights(model: keras.Model, filepath: Any, overwrite: bool = True, save_format: str | None = None) -> None:
    """Write a model's weights to a file of any name, whole or not at all.

    A name that ends in `.weights.h5` gets Keras 3's layout; any other gets Keras 2's HDF5 layout, which
    `model.load_weights` reads from `.h5` and `.hdf5` names. A model of `tf.keras` code gets a checkpoint of TensorFlow
    unless the name is one of HDF5 (`.h5`, `.hdf5`, `.keras`), as it did then.

    Args:
        model: the model; a parallel model's template is written.
        filepath: the file.
        overwrite: whether an existing file is replaced without asking.
        save_format: "h5" or "tf", a checkpoint of TensorFlow; None is what the name and the model say.
    """
    _check_made(model)
    path = os.fspath(filepath)
    if save_format in ("tf", "tensorflow") or (save_format is None and _writes_checkpoints(model, path)):
        if overwrite or not tensorflow_checkpoints.is_checkpoint(path) or _may_overwrite(path):
            tensorflow_checkpoints.save(_saved(model), path)
        return
    if not overwrite and os.path.exists(path) and not _may_overwrite(path):
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
    _check_made(model)
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
        NotImplementedError: a model of a class of its own is to be written to HDF5, in code of the eras, which refused.
        ValueError: for another format, or for `signatures`.
    """
    if save_format not in (None, "h5", "hdf5", "keras", "tf", "tensorflow"):
        raise ValueError(f"Expected `save_format` 'h5', 'tf' or None. Received: {save_format!r}")
    if signatures is not None and not object_eras.era_of_object(_saved(model)).is_tf_keras:
        raise ValueError(
            "Expected `signatures` to be None: the file is one of Keras, without signatures. Received: "
            f"{signatures!r}. Write a SavedModel by `model.export({os.fspath(filepath)!r})`."
        )
    _warn_of_added(_saved(model))
    if isinstance(filepath, h5py.Group):
        _write(model, filepath, include_optimizer=include_optimizer)
        return
    path = os.fspath(filepath)
    era = object_eras.era_of_object(_saved(model))
    of_era = era is Era.TF_KERAS_2_2 and save_format is None and not path.endswith((".h5", ".hdf5", ".keras"))
    if of_era or (save_format in ("tf", "tensorflow") and era.is_tf_keras):
        if overwrite or not os.path.exists(path) or _may_overwrite(path):
            saved_models.write(_saved(model), path, signatures, options, include_optimizer=include_optimizer)
        return
    if era is not Era.TODAY and not is_of_graph(_saved(model)):
        raise NotImplementedError(
            f"Expected a functional or Sequential model for {path!r}: an HDF5 file has no code of a class. Received: "
            f"'{_saved(model).name}', of {type(_saved(model)).__name__}. Write its weights by `save_weights`; tf.keras "
            "has a folder for all of it, by `save_format='tf'`."
        )
    if os.path.isdir(path) and era in (Era.TF_KERAS_2_2, Era.TODAY):
        path = os.path.join(path, _IN_FOLDER)
    if not overwrite and os.path.exists(path) and not _may_overwrite(path):
        return
    if era is Era.TF_KERAS_2_2:  # 1.15 wrote the configuration alone
        made_weights.check(_saved(model), era)
    with replacing(path) as temporary:
        if path.endswith(".keras"):
            model.save(temporary, include_optimizer=include_optimizer)
        else:
            with writing(temporary) as (file, _):
                _write(model, file, include_optimizer=include_optimizer)


def _write(model: Any, file: h5py.Group, *, include_optimizer: bool) -> None:
    compiled_with = total_loss.compiled_with(model)
    h5_files.write_model(model, file, include_optimizer=include_optimizer, compiled_with=compiled_with)


def _warn_of_added(model: Any) -> None:
    """Say which losses and metrics of a model cannot be in its files, where `tf.keras` wrote them."""
    if not object_eras.era_of_object(model).is_tf_keras:
        return  # Keras 2.2.4 did not write them either
    if symbolic_losses.can_be_configured(model):
        return
    lost = [
        *(["`add_loss`"] if symbolic_losses.symbolic_losses_of(model) else []),
        *(f"`add_metric(name={name!r})`" for name in symbolic_losses.added_metrics_of(model)),
    ]
    if lost:
        warnings.warn(
            f"The tensors that were added to the model '{model.name}' by {' and '.join(lost)} are not in its file, "
            "unlike in that of `tf.keras`. After loading, and before `compile`, add them to the model again.",
            ParallelCompatWarning,
            stacklevel=4,
        )


def _not_reshaped(path: str) -> ValueError:
    return ValueError(
        f"Expected `reshape=False`: {path!r} is no HDF5 file of Keras 2. Received: reshape=True. Reshape the arrays "
        "with numpy, and give them to `layer.set_weights`."
    )


def _saved(model: keras.Model) -> keras.Model:
    return getattr(model, "template", model)


def _check_made(model: keras.Model) -> None:
    made_weights.check(_saved(model), object_eras.era_of_object(_saved(model)))


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


def _writes_checkpoints(model: keras.Model, path: str) -> bool:
    """Say whether the code that made a model wrote weights of this name to a checkpoint of TensorFlow."""
    era = object_eras.era_of_object(_saved(model))
    if era is Era.TODAY:  # of rewritten code the name tells
        return path.endswith((".tf", ".ckpt"))
    return era.is_tf_keras and not path.endswith((".h5", ".hdf5", ".keras"))


def _may_overwrite(path: str) -> bool:
    return ask_to_proceed_with_overwrite(path)
