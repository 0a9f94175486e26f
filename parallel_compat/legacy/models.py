"""Methods and functions of models that went, or that took other arguments or file names."""

from __future__ import annotations

import copy
import inspect
import json
import os
from typing import TYPE_CHECKING, Any

import h5py
import keras

from parallel_compat.backend import keras3
from parallel_compat.backend.keras3 import h5_files, in_memory
from parallel_compat.legacy import (
    cloning,
    compiled_metrics,
    model_files,
    nodes,
    old_files,
    saved_models,
    saving,
    settled_trainable,
    tensorflow_folders,
    weight_order,
)
from parallel_compat.legacy.numbers import optimizer_weights
from parallel_compat.names.eras import Era
from parallel_compat.own_methods import of_models
from parallel_compat.run import callers, environment, object_eras

if TYPE_CHECKING:
    from collections.abc import Iterator

# Migrated sources find these here.
clone_model = cloning.clone_model
load_weights = model_files.load_weights
save_model = model_files.save_model
save_weights = model_files.save_weights
settle_trainable = settled_trainable.settle_trainable


@of_models("predict_classes")
def predict_classes(model: keras.Model, x: Any, batch_size: int = 32, verbose: int = 0, **keywords: Any) -> Any:
    """Return the class of each sample: the largest of several outputs, or 1 where a single one is above 0.5.

    Args:
        model: a model with one output.
        x: the samples.
        batch_size: samples per step.
        verbose: whether a progress bar is shown.
        **keywords: those of `model.predict`.

    Returns:
        An int array, of shape (samples,) or, for a single output, (samples, 1).
    """
    probabilities = model.predict(x, batch_size=batch_size, verbose=verbose, **keywords)
    if probabilities.shape[-1] > 1:
        return probabilities.argmax(axis=-1)
    return (probabilities > 0.5).astype("int32")


@of_models("predict")
def predict(
    model: keras.Model,
    x: Any,
    batch_size: int | None = None,
    verbose: int = 0,
    steps: int | None = None,
    callbacks: Any = None,
    **reading_ahead: Any,
) -> Any:
    """Return what a model predicts, as `model.predict` of tf.keras: also of a generator that yields arrays alone.

        def pictures():
            while True:
                yield read_some()

        predict(model, pictures(), steps=10)

    Args:
        model: the model.
        x: arrays, a dataset, or a generator.
        batch_size: of arrays, the size of a batch.
        verbose: 1 for a bar of progress.
        steps: the number of batches.
        callbacks: as in `predict`.
        **reading_ahead: `max_queue_size`, `workers` and `use_multiprocessing`, which change nothing of the result.

    Returns:
        An array, or a list of arrays for several outputs.
    """
    unknown = set(reading_ahead) - {"max_queue_size", "workers", "use_multiprocessing"}
    if unknown:
        raise TypeError(f"predict() got an unexpected keyword argument {min(unknown)!r}")
    if inspect.isgenerator(x):
        x = (batch if isinstance(batch, tuple) else (batch,) for batch in x)
    return model.predict(x, batch_size=batch_size, verbose=verbose, steps=steps, callbacks=callbacks)


@of_models("predict_proba")
def predict_proba(model: keras.Model, x: Any, batch_size: int = 32, verbose: int = 0, **keywords: Any) -> Any:
    """Return `model.predict(x)`."""
    return model.predict(x, batch_size=batch_size, verbose=verbose, **keywords)


def build(model: keras.Model, input_shape: Any) -> None:
    """Make the weights of a subclassed model by calling it, as `model.build(input_shape)` of tf.keras did.

    >>> import keras
    >>> class Net(keras.Model):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.dense = keras.layers.Dense(2)
    ...
    ...     def call(self, x):
    ...         return self.dense(x)
    >>> net = Net()
    >>> build(net, (None, 3))
    >>> net.count_params()
    8

    Args:
        model: the model; one that has its weights is left alone.
        input_shape: the shape of its input with the batch's size, which may be None; or a list or dict of shapes.
    """
    if input_shape is not None:
        keras3.build_by_calling(model, input_shape)
    model.build(input_shape)


@of_models("reset_states")
def reset_states(model: Any) -> None:
    """Put the states of all stateful layers of a model back to zero, those of nested models included.

    In a graph those of layers within others, such as Bidirectional, stayed what they were.

    Args:
        model: a model; or a metric, which TensorFlow 2 reset by the same name; of a layer and of an object that is not
            Keras's, its own `reset_states` is called.
    """
    if isinstance(model, keras.metrics.Metric):
        model.reset_state()
        return
    in_graph = object_eras.era_of_object(model).has_graphs
    for layer in _listed_layers(model) if in_graph else keras3.all_layers(model):
        reset = getattr(layer, "reset_states", None)
        if layer is not model and reset is not None and getattr(layer, "stateful", False):
            reset()
    for layer in keras3.all_layers(model):
        if isinstance(layer, keras.Model):
            for metric in weight_order.metrics_among_layers(layer, object_eras.era_of_object(layer)):
                metric.reset_state()  # which was a stateful layer of a model of tf.keras


def _listed_layers(model: Any) -> Iterator[keras.layers.Layer]:
    """Yield the layers that a model lists and that could be stateful, and those of models among these."""
    for layer in getattr(model, "layers", ()):
        if not isinstance(layer, keras.layers.Bidirectional):
            yield layer
        if isinstance(layer, keras.Model):
            yield from _listed_layers(layer)


def load_model(
    filepath: Any,
    custom_objects: dict[str, Any] | None = None,
    compile: bool = True,
    safe_mode: bool | None = None,
) -> keras.Model:
    """Read a whole model from a file of Keras 2 or 3, or a folder that `model.save` of TensorFlow 2 wrote.

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
    if era is Era.KERAS_2_2_4 and getattr(model, "optimizer", None) is not None:
        optimizer_weights.begin_as_loaded(model.optimizer)
    return model


def _loaded(filepath: Any, custom_objects: dict[str, Any] | None, compile: bool, safe_mode: bool) -> keras.Model:
    if isinstance(filepath, h5py.Group):
        with saving.as_file(filepath) as path:
            return old_files.load(path, custom_objects, compile=compile, safe_mode=safe_mode)
    path = model_files.existing(filepath)
    if path == os.fspath(filepath) and saved_models.is_here(path):
        return _from_folder(path, custom_objects, compile, safe_mode)
    of_2_2 = callers.era_of_caller() is Era.TF_KERAS_2_2
    if path == os.fspath(filepath) and tensorflow_folders.is_here(path):
        return tensorflow_folders.load(path, custom_objects, compile=compile, safe_mode=safe_mode, trains_all=of_2_2)
    trainable = None
    if path != os.fspath(filepath):  # in a folder
        given = h5_files.custom_objects(custom_objects)
        custom_objects = saved_models.classes_for(os.fspath(filepath), given, safe_mode=safe_mode)
        trainable = saved_models.trainable(os.fspath(filepath)) if of_2_2 else None
    if model_files.is_for_keras(path):
        return keras.models.load_model(filepath, custom_objects=custom_objects, compile=compile, safe_mode=safe_mode)
    # From a folder, TensorFlow 2.2 made an optimizer that begins anew.
    goes_on = path == os.fspath(filepath) or not of_2_2
    model = old_files.load(
        path, custom_objects, compile=compile, safe_mode=safe_mode, goes_on=goes_on, trainable=trainable
    )
    if path != os.fspath(filepath):
        saved_models.name_weights(model, os.fspath(filepath))
    return model


def _from_folder(path: str, custom_objects: dict[str, Any] | None, compile: bool, safe_mode: bool) -> keras.Model:
    given = h5_files.custom_objects(custom_objects)
    model, training = saved_models.load(path, given, safe_mode=safe_mode)
    if compile and training is not None:
        old_files.compile_as_saved(model, training, given, callers.era_of_caller())
    return model


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
    inner = config.get("config")
    layers = inner.get("layers") if isinstance(inner, dict) and "module" not in config else None
    if layers and all(isinstance(each, dict) and "module" in each for each in layers):
        # `{"class_name": ..., "config": model.get_config()}` of a model of this process.
        kind = keras.Sequential if config.get("class_name") == "Sequential" else keras.Model
        with keras.saving.CustomObjectScope(custom_objects or {}):
            made: keras.Model = kind.from_config(copy.deepcopy(inner))
        return made
    from parallel_compat.legacy import model_configs

    return model_from_json(json.dumps(config, default=model_configs.plain), custom_objects)


@of_models("evaluate")
def evaluate(model: keras.Model, *given: Any, **named: Any) -> Any:
    """Return what `model.evaluate` returns, the metrics of several outputs in the order in which they were given.

    Keras 3 sorts them by name.

    Args:
        model: a compiled model.
        *given: the arguments of `model.evaluate`.
        **named: the same.

    Returns:
        A number, or a list of numbers: the loss, the losses of the outputs, their metrics.
    """
    return _listed(model, model.evaluate(*given, return_dict=True, **named))


@of_models("train_on_batch")
def train_on_batch(model: keras.Model, *given: Any, **named: Any) -> Any:
    """Return what `model.train_on_batch` returns, in the order of `evaluate`."""
    return _listed(model, model.train_on_batch(*given, return_dict=True, **named))


@of_models("test_on_batch")
def test_on_batch(model: keras.Model, *given: Any, **named: Any) -> Any:
    """Return what `model.test_on_batch` returns, in the order of `evaluate`."""
    return _listed(model, model.test_on_batch(*given, return_dict=True, **named))


def _listed(model: keras.Model, results: dict[str, Any]) -> Any:
    listed = [results[name] for name in compiled_metrics.in_old_order(model, results)]
    return listed[0] if len(listed) == 1 else listed


def metrics_names(model: keras.Model) -> list[str]:
    """Return the names of what `evaluate` returns (`model.metrics_names`), as they stand in a history of Keras 3.

    Args:
        model: a model that has seen a batch since it was compiled.

    Raises:
        ValueError: it has seen none.
    """
    if not getattr(model, "compiled", False) or not keras3.Compiled(model).built:
        raise ValueError(
            "Expected a model that has seen a batch since it was compiled. Received: one that has not. Keras 3 makes "
            "its metrics then: ask for their names after `fit` or `evaluate`."
        )
    return compiled_metrics.in_old_order(model, model.get_metrics_result())


def input_names(model: keras.Model) -> list[str]:
    """Return the names of a model's inputs (`model.input_names`).

    >>> input_names(keras.Sequential([keras.Input((3,), name="a"), keras.layers.Dense(1)]))
    ['a']

    Args:
        model: a functional or Sequential model.
    """
    return [layer.name for layer in nodes.input_layers(model)]


def output_names(model: keras.Sequential) -> list[str]:
    """Return the name of a Sequential model's output (`model.output_names`): that of its last layer.

    >>> output_names(keras.Sequential([keras.Input((3,)), keras.layers.Dense(1, name="b")]))
    ['b']

    Args:
        model: the model.
    """
    return [model.layers[-1].name]


def _safe_mode() -> bool:
    return h5_files.is_safe_mode() and not environment.allows_lambdas()


def make_predict_function(model: keras.Model) -> None:
    """Make what `predict` runs (`model._make_predict_function()`, for use in another thread)."""
    model.make_predict_function()


def make_train_function(model: keras.Model) -> None:
    """Make what `fit` runs, and the optimizer's weights (`model.optimizer.weights` can be read, saved and set then)."""
    model.make_train_function()
    in_memory.build_optimizer(model)


def make_test_function(model: keras.Model) -> None:
    """Make what `evaluate` runs."""
    model.make_test_function()
