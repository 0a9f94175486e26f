"""Methods and functions of models that went, or that took other arguments or file names."""

from __future__ import annotations

import errno
import json
import os
import zipfile
from typing import Any

import h5py
import keras

from parallel_compat.atomic_file import replacing
from parallel_compat.backend import keras3
from parallel_compat.backend.keras3 import h5_files
from parallel_compat.hdf5_output import writing
from parallel_compat.legacy import compiled_metrics, old_files, saving
from parallel_compat.names.eras import Era
from parallel_compat.recover.keras_archive import look_over_archive
from parallel_compat.recover.reader import read
from parallel_compat.run import callers, environment, object_eras


def predict_classes(model: keras.Model, x: Any, batch_size: int = 32, verbose: int = 0, **keywords: Any) -> Any:
    """Return the class of each row: the largest of several outputs, or 1 where a single one is above 0.5.

    Args:
        model: a model with one output.
        x: the rows.
        batch_size: rows per step.
        verbose: whether a progress bar is shown.
        **keywords: those of `model.predict`.

    Returns:
        An int array, of shape (rows,) or, for a single output, (rows, 1).
    """
    probabilities = model.predict(x, batch_size=batch_size, verbose=verbose, **keywords)
    if probabilities.shape[-1] > 1:
        return probabilities.argmax(axis=-1)
    return (probabilities > 0.5).astype("int32")


def predict_proba(model: keras.Model, x: Any, batch_size: int = 32, verbose: int = 0, **keywords: Any) -> Any:
    """Return `model.predict(x)`."""
    return model.predict(x, batch_size=batch_size, verbose=verbose, **keywords)


def reset_states(model: keras.Model | keras.metrics.Metric) -> None:
    """Put the states of all stateful layers of a model back to zero, those of nested models included.

    Args:
        model: a model; or a metric, which TensorFlow 2 reset by the same name.
    """
    if isinstance(model, keras.metrics.Metric):
        model.reset_state()
        return
    for layer in keras3.all_layers(model):
        reset = getattr(layer, "reset_states", None)
        if layer is not model and reset is not None and getattr(layer, "stateful", False):
            reset()


def save_weights(model: keras.Model, filepath: Any, overwrite: bool = True, save_format: str | None = None) -> None:
    """Write a model's weights to a file of any name, whole or not at all.

    A name that ends in `.weights.h5` gets Keras 3's layout; any other gets Keras 2's HDF5 layout, which
    `model.load_weights` reads from `.h5` and `.hdf5` names.

    Args:
        model: the model; a parallel model's template is written.
        filepath: the file.
        overwrite: whether an existing file is replaced without asking.
        save_format: "h5" or None; "tf" is refused.

    Raises:
        ValueError: for `save_format="tf"`.
    """
    path = os.fspath(filepath)
    if save_format in ("tf", "tensorflow"):
        raise ValueError(
            'Expected `save_format` to be "h5" or None. Received: save_format="tf". Keras 3 writes no TensorFlow '
            "checkpoints of weights: use `tf.train.Checkpoint(model)`."
        )
    if not overwrite and os.path.exists(path) and not _may_overwrite(path):
        return
    with replacing(path) as temporary:
        if path.endswith(".weights.h5"):
            model.save_weights(temporary)
        else:
            with writing(temporary) as (file, _):
                h5_files.write_weights(_saved(model), file)


def load_weights(
    model: keras.Model, filepath: Any, by_name: bool = False, skip_mismatch: bool = False, reshape: bool = False
) -> None:
    """Read weights from a file of any name, in Keras 2's or Keras 3's layout.

    Args:
        model: the model.
        filepath: the file.
        by_name: whether layers are found by their names instead of their order. Names that Keras gave are found in
            a file of Keras 2 where that counted: its `dense_1` is today's `dense`.
        skip_mismatch: whether layers whose shapes differ are left as they are; with `by_name` only.
        reshape: refused if true.

    Raises:
        ValueError: for `reshape=True`; the layers' names do not tell which weights they take.
        CheckpointError: a `ValueError`: the file is damaged or hostile, or does not fit; the model is as it was before.
    """
    if reshape:
        raise ValueError("Expected `reshape=False`: Keras 3 does not reshape weights. Reshape them with numpy.")
    path = _existing(filepath)
    if _is_for_keras(path):
        model.load_weights(path, **({"skip_mismatch": True} if skip_mismatch else {}))
        return
    with read(path, arrays=False) as reading:  # looks at every object in the file
        stored = reading.stored
    if stored.form == "keras3":
        model.load_weights(path, **({"skip_mismatch": True} if skip_mismatch else {}))
    elif by_name:
        saving.load_by_name(_saved(model), path, skip_mismatch=skip_mismatch)
    else:
        saving.load_in_order(_saved(model), path)


def save_model(model: keras.Model, filepath: Any, overwrite: bool = True, include_optimizer: bool = True) -> None:
    """Write a whole model to a file of any name, whole or not at all.

    A name that ends in `.keras` gets Keras 3's format; any other gets Keras 2's HDF5 format.

    Args:
        model: the model; a parallel model's template is written.
        filepath: the file.
        overwrite: whether an existing file is replaced without asking.
        include_optimizer: whether the optimizer's state is written, too.
    """
    if isinstance(filepath, h5py.Group):
        h5_files.write_model(model, filepath, include_optimizer=include_optimizer)
        return
    path = os.fspath(filepath)
    if not overwrite and os.path.exists(path) and not _may_overwrite(path):
        return
    with replacing(path) as temporary:
        if path.endswith(".keras"):
            model.save(temporary, include_optimizer=include_optimizer)
        else:
            with writing(temporary) as (file, _):
                h5_files.write_model(model, file, include_optimizer=include_optimizer)


def load_model(
    filepath: Any,
    custom_objects: dict[str, Any] | None = None,
    compile: bool = True,
    safe_mode: bool | None = None,
) -> keras.Model:
    """Read a whole model from a file of Keras 2 or 3.

    A file that a parallel model of `multi_gpu_model` wrote comes back as a parallel model over as many devices.

    Args:
        filepath: the file; an HDF5 file may have any name.
        custom_objects: name -> class or function.
        compile: whether the model is compiled as it was, its optimizer's state included.
        safe_mode: whether Lambda layers that hold Python code are refused. Without it they are, unless
            `parallel-compat run --allow-lambdas` or `keras.config.enable_unsafe_deserialization()` said otherwise.

    Raises:
        CheckpointError: a `ValueError`: the file is damaged or hostile, holds Python code (in safe mode) or something
            that there is no more, or a parallel model wrote it and there are too few devices: each by name, and with
            the way out.
    """
    if safe_mode is None:
        safe_mode = _safe_mode()
    era = callers.era_of_caller()
    model = _loaded(filepath, custom_objects, compile, safe_mode)
    object_eras.remember(model, era)
    compiled_metrics.of_loaded_model(model, era)
    return model


def _loaded(filepath: Any, custom_objects: dict[str, Any] | None, compile: bool, safe_mode: bool) -> keras.Model:
    if isinstance(filepath, h5py.Group):
        with saving.as_file(filepath) as path:
            return old_files.load(path, custom_objects, compile=compile, safe_mode=safe_mode)
    path = _existing(filepath)
    if _is_for_keras(path):
        return keras.models.load_model(filepath, custom_objects=custom_objects, compile=compile, safe_mode=safe_mode)
    return old_files.load(path, custom_objects, compile=compile, safe_mode=safe_mode)


def model_from_json(json_string: str, custom_objects: dict[str, Any] | None = None) -> keras.Model:
    """Make a model from the JSON that `model.to_json()` of Keras 2 or 3 returned.

    Args:
        json_string: the JSON.
        custom_objects: name -> class or function.

    Raises:
        CheckpointError: a `ValueError`: it is no model's config, holds Python code, or something that there is no more.
    """
    return old_files.model_from_text(json_string, custom_objects, safe_mode=_safe_mode())


def model_from_config(config: Any, custom_objects: dict[str, Any] | None = None) -> keras.Model:
    """Make a model from what `model_from_json` takes, as Python objects.

    Args:
        config: a dictionary with `class_name` and `config`.
        custom_objects: name -> class or function.

    Raises:
        CheckpointError: as `model_from_json`.
        TypeError: for a list: the config of a `Sequential` alone, `Sequential.from_config(config)`.
    """
    if isinstance(config, list):
        raise TypeError(
            "Expected a dictionary with `class_name` and `config`. Received: a list. Use `Sequential.from_config`."
        )
    return model_from_json(json.dumps(config, default=_plain), custom_objects)


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else str(value)


def clone_model(model: keras.Model, input_tensors: Any = None, **keywords: Any) -> keras.Model:
    """Return a model of the same layers with new weights, not compiled, as Keras 2's clones.

    Args:
        model: the model.
        input_tensors: the clone's inputs.
        **keywords: those that only today's `clone_model` has.
    """
    with keras3.not_compiled(model):
        return keras.models.clone_model(model, input_tensors=input_tensors, **keywords)


def _safe_mode() -> bool:
    return h5_files.is_safe_mode() and not environment.allows_lambdas()


def make_predict_function(model: keras.Model) -> None:
    """Make what `predict` runs (`model._make_predict_function()`, for use in another thread)."""
    model.make_predict_function()


def make_train_function(model: keras.Model) -> None:
    """Make what `fit` runs."""
    model.make_train_function()


def make_test_function(model: keras.Model) -> None:
    """Make what `evaluate` runs."""
    model.make_test_function()


def metrics_names(model: keras.Model) -> list[str]:
    """Return the names of what `evaluate` and `train_on_batch` return, in the order of the model's era.

    Keras 2.2.4 and TensorFlow 1.15 knew them when the model was compiled, TensorFlow 2.2 after the first batch.
    """
    order = compiled_metrics.order_of(model)
    seen = getattr(model, "compiled", False) and model.built and keras3.Compiled(model).built
    if order is not None and not seen:
        return [] if object_eras.era_of_object(model) is Era.TF_KERAS_2_2 else list(order)
    return in_old_order(model, model.get_metrics_result() if seen else {"loss": 0.0})


def in_old_order(model: keras.Model, results: dict[str, Any]) -> list[str]:
    """Order the names of results as Keras 2 did: the loss, the outputs' losses, the outputs' metrics.

    Args:
        model: the model.
        results: results by name.
    """
    first = [name for name in compiled_metrics.order_of(model) or () if name in results]
    if not first:
        outputs = list(getattr(model, "output_names", None) or ())
        losses = [f"{output}_loss" for output in outputs if f"{output}_loss" in results]
        first = [name for name in ("loss", *losses) if name in results]
    # `evaluate(return_dict=True)` sorts by name; the metrics themselves are in the order of `compile`.
    order: list[str] = []  # not by `get_metrics_result`, which sorts as well in Keras 3.12
    for metric in model.metrics:
        result = metric.result()
        order += list(result) if isinstance(result, dict) else [metric.name]
    return [*first, *sorted((name for name in results if name not in first), key=order.index)]


def _saved(model: keras.Model) -> keras.Model:
    return getattr(model, "template", model)


def _existing(filepath: Any) -> str:
    """Return a file's path; a checkpoint of TensorFlow is the beginning of the names of several files."""
    path: str = os.fspath(filepath)
    if not os.path.exists(path) and not os.path.exists(f"{path}.index"):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    return path


def _is_for_keras(path: str) -> bool:
    """Say whether Keras reads what is there by itself: a `.keras` archive, which is looked over first, or no file."""
    if not os.path.isfile(path):
        return True  # a folder, or the beginning of names
    if not zipfile.is_zipfile(path):
        return False
    look_over_archive(path)
    return True


def _may_overwrite(path: str) -> bool:
    from parallel_compat.legacy.utils import ask_to_proceed_with_overwrite

    return ask_to_proceed_with_overwrite(path)
