"""Writing and reading models. Read in Keras 3.15.1."""

from __future__ import annotations

import contextlib
import logging
import types
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import h5py
import keras
import numpy as np
import tensorflow as tf
from keras.src import activations
from keras.src.legacy.saving import legacy_h5_format
from keras.src.legacy.saving import serialization as legacy_serialization
from keras.src.models import cloning
from keras.src.saving import saving_lib, serialization_lib

from parallel_compat.backend.keras3 import h5_files
from parallel_compat.backend.patches import CORE
from parallel_compat.hdf5_output import writing
from parallel_compat.names.identifiers import SHORT_NAMES
from parallel_compat.warning_category import ParallelCompatWarning


def act_on_template(
    model_class: type[keras.Model], to_save: Callable[[Any], contextlib.AbstractContextManager[Any]]
) -> None:
    """Let Keras's functions that save or clone a `model_class` act on its `template`.

    `keras.saving.save_model(model, path)`, pickling and `keras.models.clone_model(model)` do not go through a method of
    the model.

    Args:
        model_class: the class of models, with an attribute `template`, that are not written themselves.
        to_save: returns a context manager that yields the model to write.
    """

    def save(original: Callable[..., Any], model: keras.Model, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(model, model_class):
            return original(model, *args, **kwargs)
        with to_save(model) as written:
            return original(written, *args, **kwargs)

    for module, name in ((saving_lib, "save_model"), (legacy_h5_format, "save_model_to_hdf5")):
        CORE.around(module, name, save, why="a parallel model is saved as its template")

    # A model that contains one: its layer is written as the template is, which plain Keras reads.
    def of_template(original: Callable[..., Any], part: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(part, model_class):
            part = part.template
        elif isinstance(part, (list, tuple)):
            part = [item.template if isinstance(item, model_class) else item for item in part]
        return original(part, *args, **kwargs)

    for name in ("_save_state", "_load_state", "_save_container_state", "_load_container_state"):
        CORE.around(saving_lib, name, of_template, why="a parallel model inside another one is saved as its template")

    def serialize(original: Callable[..., Any], part: Any) -> Any:
        written = original(part.template if isinstance(part, model_class) else part)
        if isinstance(part, model_class) and "name" in written["config"]:
            written["config"] = {**written["config"], "name": part.name}  # by which other layers refer to it
        return written

    why = "a parallel model inside another one has its template's config"
    for module in (serialization_lib, legacy_serialization):
        CORE.around(module, "serialize_keras_object", serialize, why=why)

    def clone(original: Any, model: keras.Model, clone_function: Any, *args: Any, **kwargs: Any) -> keras.Model:
        if not isinstance(model, model_class):
            return original(model, clone_function, *args, **kwargs)
        template = model.template
        if isinstance(template, keras.Sequential):
            inputs = args[0] if args else kwargs.get("input_tensors")
            return keras.models.clone_model(template, input_tensors=inputs, clone_function=clone_function)
        if not getattr(template, "inputs", None):
            return type(template).from_config(template.get_config())
        return original(template, clone_function, *args, **kwargs)

    CORE.around(cloning, "_clone_functional_model", clone, why="a parallel model is cloned as its template")


def write_activations_by_their_names() -> None:
    """Let files name activations that are functions of TensorFlow as Keras does, which finds no "softmax_v2" again."""
    named = {tf.nn.softmax: "softmax", tf.nn.log_softmax: "log_softmax", tf.nn.swish: "silu", tf.identity: "linear"}

    def serialize(original: Callable[..., Any], activation: Any) -> Any:
        known = isinstance(activation, types.FunctionType) and activation in named
        return named[activation] if known else original(activation)

    why = "Keras does not load tf.nn.softmax, which it saves as softmax_v2"
    CORE.around(activations, "serialize", serialize, why=why)


def save_model(model: keras.Model, path: Path, *, include_optimizer: bool = True) -> None:
    """Write a whole model: in Keras's format for a path that ends in ".keras", else as HDF5, as Keras 2 did.

    `Model.save` refuses names that do not end in ".h5" or ".hdf5", and warns about these.
    """
    if path.suffix == ".keras":
        model.save(path, include_optimizer=include_optimizer)
    else:
        with writing(path) as (file, _):
            h5_files.write_model(model, file, include_optimizer=include_optimizer)


def save_weights(model: keras.Model, path: Path) -> None:
    """Write weights: in today's format for a path that ends in ".weights.h5", else in that of Keras 2.

    `Model.save_weights` refuses any other name; `Model.load_weights` reads both.
    """
    if path.name.endswith(".weights.h5"):
        model.save_weights(path)
    else:
        with writing(path) as (file, _):
            h5_files.write_weights(getattr(model, "template", model), file)


# Names of losses that Keras accepts in `compile`, and refuses in an HDF5 file.
SHORT_LOSS_NAMES = {**SHORT_NAMES, **{short.upper(): name for short, name in SHORT_NAMES.items()}}


def restore_optimizer(optimizer: Any, variables: Sequence[Any], arrays: Sequence[np.ndarray[Any, Any]]) -> str | None:
    """Give an optimizer what an HDF5 file of Keras 3 remembers: all its variables, in their order.

    Returns:
        None, or a sentence that says why nothing was carried over.
    """
    optimizer.build(variables)
    saved, wanted = [tuple(value.shape) for value in arrays], [tuple(value.shape) for value in optimizer.variables]
    if saved != wanted:
        return (
            f"The optimizer's state in the file does not fit the model: expected arrays of shapes {wanted}, found "
            f"{saved}. The optimizer starts with a new state."
        )
    for variable, value in zip(optimizer.variables, arrays, strict=True):
        variable.assign(value)
    return None


def restore_optimizers_from_hdf5() -> None:
    """Let `load_model` of an HDF5 file restore the state of the optimizer.

    `legacy_h5_format.load_model_from_hdf5` of Keras 3.15 builds the optimizer with `model._trainable_variables`,
    which holds no variable of a layer, then finds that the saved state does not fit, logs a warning, and returns
    a model whose optimizer has forgotten everything and refuses the model's variables. It also looks for a loss among
    the metrics, where short names like "mse" lead to nothing it accepts, and for operations on masks among the layers.
    """

    why = "the state of an optimizer in an HDF5 file is restored, and short names of losses and operations are read"
    CORE.around(legacy_h5_format, "load_model_from_hdf5", _load_with_optimizer, why=why)


def _load_with_optimizer(
    original: Any, filepath: Any, custom_objects: Any = None, compile: bool = True, **kwargs: Any
) -> keras.Model:
    short_names = {short: getattr(keras.losses, name) for short, name in SHORT_LOSS_NAMES.items()}
    short_names |= h5_files.parts_of_configs()
    with _without_warning("Error in loading the saved optimizer"):
        model = original(filepath, {**short_names, **(custom_objects or {})}, compile, **kwargs)
    if compile and model.compiled and model.optimizer is not None:
        is_open = isinstance(filepath, h5py.File)
        with contextlib.nullcontext(filepath) if is_open else h5py.File(filepath) as file:
            if "optimizer_weights" in file:
                weights = file["optimizer_weights"]
                values = [weights[name][()] for name in h5_files.names_in(weights, "weight_names")]
                optimizer = type(model.optimizer).from_config(model.optimizer.get_config())
                sentence = restore_optimizer(optimizer, model.trainable_variables, values)
                if sentence is not None:
                    warnings.warn(sentence, ParallelCompatWarning, stacklevel=4)
                model.optimizer = optimizer
    return model


@contextlib.contextmanager
def _without_warning(start: str) -> Iterator[None]:
    """Keep log records of Keras that begin with `start` from being shown."""
    logger = logging.getLogger("absl")

    def keep(record: logging.LogRecord) -> bool:
        return not record.getMessage().startswith(start)

    logger.addFilter(keep)
    try:
        yield
    finally:
        logger.removeFilter(keep)
