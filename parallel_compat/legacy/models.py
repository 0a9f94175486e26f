"""Methods and functions of models that went, or that took other arguments or file names."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import h5py
import keras

from parallel_compat.atomic_file import replacing
from parallel_compat.backend import keras3
from parallel_compat.backend.keras3 import h5_files
from parallel_compat.hdf5_output import writing
from parallel_compat.legacy import old_files, saving
from parallel_compat.run import environment

_HDF5 = b"\x89HDF\r\n\x1a\n"


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
    """
    path = os.fspath(filepath)
    if reshape:
        raise ValueError("Expected `reshape=False`: Keras 3 does not reshape weights. Reshape them with numpy.")
    if not _is_hdf5(path) or path.endswith(".weights.h5"):
        model.load_weights(path, **({"skip_mismatch": True} if skip_mismatch else {}))
        return
    with h5py.File(path, "r") as file:
        group = file["model_weights"] if "layer_names" not in file.attrs and "model_weights" in file else file
        if not by_name:
            h5_files.read_weights(_saved(model), group)
            return
        saving.read_by_name(_saved(model), group, skip_mismatch=skip_mismatch)


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

    Args:
        filepath: the file; an HDF5 file may have any name.
        custom_objects: name -> class or function.
        compile: whether the model is compiled as it was, its optimizer's state included.
        safe_mode: whether Lambda layers that hold Python code are refused. Without it they are, unless
            `parallel-compat run --allow-lambdas` or `keras.config.enable_unsafe_deserialization()` said otherwise.

    Raises:
        ValueError: a Lambda layer holds Python code, in safe mode.
        ValueError: the file was written by a parallel model of `multi_gpu_model`; `parallel-compat recover` reads it.
    """
    path = os.fspath(filepath) if not isinstance(filepath, h5py.Group) else ""
    if safe_mode is None:
        safe_mode = _safe_mode()
    if path and not _is_hdf5(path):
        return keras.models.load_model(filepath, custom_objects=custom_objects, compile=compile, safe_mode=safe_mode)
    file = filepath if not path else h5py.File(path, "r")
    try:
        return _load(file, custom_objects, compile, safe_mode)
    finally:
        if path:
            file.close()


def _load(file: h5py.File, custom_objects: dict[str, Any] | None, compile: bool, safe_mode: bool) -> keras.Model:
    config = old_files.decoded(file.attrs.get("model_config"))
    if config is None:
        raise ValueError(
            f"Expected a whole model in {file.filename}. Received: weights alone. Build the model and call "
            "`model.load_weights` on it."
        )
    model = old_files.model_from_config(config, custom_objects, safe_mode)
    h5_files.read_weights(model, file["model_weights"])
    training = old_files.decoded(file.attrs.get("training_config"))
    if compile and training is not None:
        old_files.compile_as_saved(model, training, custom_objects)
        if "optimizer_weights" in file:
            old_files.restore_optimizer(model, file["optimizer_weights"])
    return model


def model_from_json(json_string: str, custom_objects: dict[str, Any] | None = None) -> keras.Model:
    """Make a model from the JSON that `model.to_json()` of Keras 2 or 3 returned."""
    config = json.loads(json_string)
    if "module" in config or "registered_name" in config:
        return keras.models.model_from_json(json_string, custom_objects=custom_objects)
    return old_files.model_from_config(config, custom_objects, _safe_mode())


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
    """Return the names of what `evaluate` and `train_on_batch` return, in Keras 2's order."""
    results = model.get_metrics_result() if getattr(model, "compiled", False) and model.built else {}
    return in_old_order(model, results or {"loss": 0.0})


def in_old_order(model: keras.Model, results: dict[str, Any]) -> list[str]:
    """Order the names of results as Keras 2 did: the loss, the outputs' losses, the outputs' metrics.

    Args:
        model: the model.
        results: results by today's names.
    """
    outputs = list(getattr(model, "output_names", None) or ())
    losses = [f"{output}_loss" for output in outputs if f"{output}_loss" in results]
    first = [name for name in ("loss", *losses) if name in results]
    # `evaluate(return_dict=True)` sorts by name; the metrics themselves are in the order of `compile`.
    order: list[str] = []  # not by `get_metrics_result`, which sorts as well in Keras 3.12
    for metric in model.metrics:
        result = metric.result()
        order += list(result) if isinstance(result, dict) else [metric.name]
    metrics = sorted((name for name in results if name not in first), key=order.index)
    if len(outputs) > 1:
        metrics.sort(
            key=lambda name: next((i for i, o in enumerate(outputs) if name.startswith(f"{o}_")), len(outputs))
        )
    return [*first, *metrics]


def _saved(model: keras.Model) -> keras.Model:
    return getattr(model, "template", model)


def _is_hdf5(path: str) -> bool:
    if not Path(path).is_file():
        return False
    with open(path, "rb") as file:
        return file.read(len(_HDF5)) == _HDF5


def _may_overwrite(path: str) -> bool:
    from parallel_compat.legacy.utils import ask_to_proceed_with_overwrite

    return ask_to_proceed_with_overwrite(path)
