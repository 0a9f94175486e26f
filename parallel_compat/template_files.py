"""A parallel model's file is its template's: compiled as the parallel model is, with what its optimizer has learned."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import h5py
import keras

from parallel_compat.backend import keras3
from parallel_compat.recover.errors import CheckpointError
from parallel_compat.recover.keras_archive import look_over_archive
from parallel_compat.recover.loading import load_template_weights
from parallel_compat.recover.reader import look_over

if TYPE_CHECKING:
    from parallel_compat.recover.loading import LoadedWeights


@contextlib.contextmanager
def template_to_save(model: keras.Model) -> Iterator[keras.Model]:
    """Yield the template of a parallel model, carrying for a while what the parallel model was compiled with."""
    if not model.compiled:
        yield model.template
        return
    with keras3.compiled.compiled_as(model.template, model, compile_arguments_of_template(model)):
        yield model.template


def compile_arguments_of_template(model: keras.Model) -> dict[str, Any]:
    """Return what the template would be compiled with to train as the parallel model does, on one device."""
    arguments = {**keras3.compiled.compile_arguments(model), "jit_compile": "auto"}
    arguments["loss"] = keras.tree.map_structure(_whole_name, arguments.get("loss"))
    if getattr(model.template, "output_names", None) == model.output_names:
        return arguments
    # The template knows no output by the name that sets it apart: its outputs are known by position.
    for name in ("loss", "loss_weights", "metrics", "weighted_metrics"):
        by_name = arguments.get(name)
        if isinstance(by_name, dict):
            by_position = [by_name.get(output) for output in model.output_names]
            of_metrics = name.endswith("metrics")
            arguments[name] = by_position if len(by_position) > 1 or of_metrics else by_position[0]
    return arguments


def _whole_name(loss: Any) -> Any:
    """Write "mse" out: Keras 3 does not read short names of losses from its HDF5 files."""
    return keras3.model_saving.SHORT_LOSS_NAMES.get(loss, loss) if isinstance(loss, str) else loss


def load_weights(model: keras.Model, filepath: Any, *args: Any, **kwargs: Any) -> LoadedWeights | None:
    """Load the template's weights, see `ParallelModel.load_weights`."""
    if os.path.exists(filepath):  # Keras would make room for whatever a file says that it holds
        if str(filepath).endswith((".h5", ".hdf5")):
            look_over(filepath)
        elif str(filepath).endswith(".keras"):
            look_over_archive(filepath)
    if not args and not kwargs and is_hdf5_of_keras_2(filepath):
        found = load_template_weights(model.template, filepath)
        if found.parallel:
            print(found, flush=True)
        return found
    if model.compiled and model.optimizer is not None and not model.optimizer.built:
        model.optimizer.build(model.trainable_variables)
    with template_to_save(model) as template:
        try:
            template.load_weights(filepath, *args, **kwargs)
        except (ValueError, KeyError, OSError) as error:
            if isinstance(error, FileNotFoundError):
                raise
            raise CheckpointError(f"{filepath}: {error}") from error
    return None


def is_hdf5_of_keras_2(path: Any) -> bool:
    """Whether a file is HDF5 with the lists of layers that Keras 2 wrote, and not in today's format."""
    try:
        with h5py.File(path, "r") as file:
            group = file.get("model_weights", file)
            return "layer_names" in group.attrs
    except (OSError, TypeError, RuntimeError):
        return False


def from_config(config: dict[str, Any], custom_objects: dict[str, Any] | None = None) -> keras.Model:
    """Make a fresh template from a template's config."""
    if "input_layers" in config:
        return keras.Model.from_config(config, custom_objects=custom_objects)
    if isinstance(config.get("layers"), list):
        return keras.Sequential.from_config(config, custom_objects=custom_objects)
    raise ValueError(
        "Expected the config of a functional or Sequential template. Received a config with the keys "
        f"{sorted(config)}. Make a subclassed model from its own class: `type(template).from_config(config)`."
    )
