"""Methods and functions of models that went, or that took other arguments or file names."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable
from typing import Any

import h5py
import keras
import tensorflow as tf

from parallel_compat.backend import keras3
from parallel_compat.backend.keras3 import h5_files
from parallel_compat.backend.keras3.layers import lambda_again
from parallel_compat.legacy import model_files, settled_trainable
from parallel_compat.own_methods import of_models

# What reads files is imported by the functions that do: it is more than all the rest (`parallel_compat.recover`).

# Migrated sources find these here.
save_model = model_files.save_model
save_weights = model_files.save_weights
settle_trainable = settled_trainable.settle_trainable


def called_on_any_size(model: Any, inputs: Any) -> Any:
    """Return what a model gives for pictures of another size than it was built for, by calling its layers.

    >>> import keras
    >>> x = keras.Input((8, 8, 3))
    >>> model = keras.Model(x, keras.layers.Conv2D(2, 3)(x))
    >>> called_on_any_size(model, keras.Input((None, None, 3))).shape
    (None, None, None, 2)

    Args:
        model: a model of inputs and outputs, or any other, which is called as it is.
        inputs: a tensor for each of its inputs.
    """
    from parallel_compat.backend.keras3.symbolic_values import Values  # seldom: not paid for by who loads a model

    if not isinstance(model, keras.Sequential) and not hasattr(model, "operations"):
        return model(inputs)
    given = keras.tree.flatten(inputs)
    results = Values(zip(model.inputs, given, strict=True)).of(model.outputs)
    return results if len(results) > 1 else results[0]


_made: dict[str, Any] = {}


def made_once(make: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that makes a network once for the same arguments, also while a step is traced.

        def content_loss(y_true, y_pred):
            vgg = made_once(keras.applications.VGG19)(include_top=False)
            return keras.ops.mean(keras.ops.square(vgg(y_true) - vgg(y_pred)))

    Keras 2 called a loss once, when it built the graph. TensorFlow 2 makes no variables in a step.

    Args:
        make: a class or function that returns a model.
    """

    @functools.wraps(make)
    def made(*args: Any, **kwargs: Any) -> Any:
        key = f"{make.__module__}.{make.__qualname__} {args} {kwargs}"
        if key not in _made:
            with tf.init_scope():
                _made[key] = make(*args, **kwargs)
        return _made[key]

    return made


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
        model: the model; one that has its weights is not changed.
        input_shape: the shape of its input with the batch's size, which may be None; or a list or dict of shapes.
    """
    if input_shape is not None:
        keras3.layers.build_by_calling(model, input_shape)
    model.build(input_shape)


@of_models("reset_states")
def reset_states(model: Any) -> None:
    """Put the states of all stateful layers of a model back to zero, those of nested models included.

    Args:
        model: a model; or a metric, which TensorFlow 2 reset by the same name; of a layer and of an object that is not
            Keras's, its own `reset_states` is called.
    """
    if isinstance(model, keras.metrics.Metric):
        model.reset_state()
        return
    for layer in keras3.layers.all_layers(model):
        reset = getattr(layer, "reset_states", None)
        if layer is not model and reset is not None and getattr(layer, "stateful", False):
            reset()


def load_model(
    filepath: Any, custom_objects: dict[str, Any] | None = None, compile: bool = True, safe_mode: bool | None = None
) -> keras.Model:
    """Read a whole model from a file of Keras 2 or 3, or a folder that `model.save` of TensorFlow 2 wrote.

    A file that a parallel model of `multi_gpu_model` wrote comes back as a parallel model over as many devices.

    Args:
        filepath: the file; an HDF5 file may have any name.
        custom_objects: name -> class or function.
        compile: whether the model is compiled as it was, its optimizer's state included.
        safe_mode: whether Lambda layers that hold Python code are refused; None: unless
            `keras.config.enable_unsafe_deserialization()` was called.

    Raises:
        CheckpointError: a `ValueError`: the file is damaged or hostile, holds Python code (in safe mode) or something
            that no longer exists, or a parallel model wrote it and there are too few devices: each by name, and with
            the way out.
    """
    from parallel_compat.legacy import old_files, saving, tensorflow_folders

    if safe_mode is None:
        safe_mode = h5_files.is_safe_mode()
    if isinstance(filepath, h5py.Group):
        with saving.as_file(filepath) as path:
            return old_files.load(path, custom_objects, compile=compile, safe_mode=safe_mode)
    path = saving.existing(filepath)
    if path == os.fspath(filepath) and tensorflow_folders.is_here(path):
        return tensorflow_folders.load(path, custom_objects, compile=compile, safe_mode=safe_mode)
    if saving.is_for_keras(path):
        known = {**old_files.functions_of_tensorflow(), **(custom_objects or {})}
        if os.path.isfile(path):
            old_files.require_room(path, known, safe_mode=safe_mode)
        return keras.models.load_model(filepath, custom_objects=known, compile=compile, safe_mode=safe_mode)
    return old_files.load(path, custom_objects, compile=compile, safe_mode=safe_mode)


def model_from_json(json_string: str, custom_objects: dict[str, Any] | None = None) -> keras.Model:
    """Make a model from the JSON that `model.to_json()` of Keras 2 or 3 returned.

    Args:
        json_string: the JSON.
        custom_objects: name -> class or function.

    Raises:
        CheckpointError: a `ValueError`: it is no model's config, holds Python code, or something that no longer exists.
    """
    from parallel_compat.legacy import old_files

    return old_files.model_from_text(json_string, custom_objects, safe_mode=h5_files.is_safe_mode())


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
        skip_mismatch: whether weights whose shapes differ are skipped; with `by_name` only.
        reshape: whether an array of the right size takes the shape of a convolution's kernel, in files of Keras 2.

    Raises:
        ValueError: the layers' names do not tell which weights they take; `reshape=True` with another kind of file.
        CheckpointError: a `ValueError`: the file is damaged or hostile, or does not fit; the model is as it was before.

    Returns:
        For a checkpoint what `tf.keras` returned, else None.
    """
    from parallel_compat.legacy import saving

    return saving.load_weights(model, filepath, by_name, skip_mismatch, reshape)


def clone_model(model: keras.Model, *given: Any, **named: Any) -> keras.Model:
    """Return a model of the same layers with new weights that is not compiled (`keras.models.clone_model`).

    Keras 3 compiles the clone as the model was, for which functions of your own must be registered, and refuses Lambda
    layers, whose functions it would read from bytecode.

    >>> model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
    >>> model.compile("sgd", "mse")
    >>> clone_model(model).compiled
    False

    Args:
        model: a functional or Sequential model.
        *given: the other arguments of `keras.models.clone_model`.
        **named: the same.
    """
    compiled, model.compiled = getattr(model, "compiled", False), False
    if len(given) < 2 and any(type(layer) is keras.layers.Lambda for layer in keras3.layers.all_layers(model)):
        named.setdefault("clone_function", _clone_of_layer)
    try:
        return keras.models.clone_model(model, *given, **named)
    finally:
        model.compiled = compiled


def _clone_of_layer(layer: Any) -> Any:
    if type(layer) is keras.layers.Lambda:
        return lambda_again(layer)
    if isinstance(layer, keras.Model):
        return clone_model(layer)
    return type(layer).from_config(layer.get_config())


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
    """Return what `model.train_on_batch` returns for this batch alone, in the order of `evaluate`."""
    model.reset_metrics()  # before Keras 3.15 they went on from batch to batch
    return _listed(model, model.train_on_batch(*given, return_dict=True, **named))


@of_models("test_on_batch")
def test_on_batch(model: keras.Model, *given: Any, **named: Any) -> Any:
    """Return what `model.test_on_batch` returns for this batch alone, in the order of `evaluate`."""
    model.reset_metrics()  # before Keras 3.15 they went on from batch to batch
    return _listed(model, model.test_on_batch(*given, return_dict=True, **named))


def _listed(model: keras.Model, results: dict[str, Any]) -> Any:
    order = _in_old_order(model, results)
    listed = [results[name] for name in order]
    outputs = keras3.layers.output_names(model)
    if len(set(outputs)) < len(outputs) and len(order) == 1 + len(outputs):
        # One layer gives several outputs: their losses have one name, under which Keras 3 returns the last one's.
        losses = keras3.compiled.compiled_parts(model)[0].metrics
        listed[1:] = [float(metric.result()) for metric in losses]
    return listed[0] if len(listed) == 1 else listed


def _in_old_order(model: keras.Model, results: dict[str, Any]) -> list[str]:
    """Order the names of results as Keras 2 did: the loss, the outputs' losses, the outputs' metrics."""
    outputs = keras3.layers.output_names(model)
    first = [name for name in ("loss", *(f"{output}_loss" for output in outputs)) if name in results]
    rest = [name for name in results if name not in first]
    order: list[str] = []  # not by `get_metrics_result`, which sorts by name in Keras 3.12
    for metric in model.metrics:
        result = metric.result()
        order += list(result) if isinstance(result, dict) else [metric.name]
    order += [name for name in rest if name not in order]  # of a user's step
    return [*first, *sorted(rest, key=order.index)]


def metrics_names(model: keras.Model) -> list[str]:
    """Return the names of what `evaluate` returns (`model.metrics_names`), as they stand in a history of Keras 3.

    >>> model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
    >>> model.compile("sgd", "mse", metrics=["mae"])
    >>> metrics_names(model)
    ['loss', 'mae']

    Raises:
        ValueError: the model is not compiled, or it has a custom class and has seen no batch since.
    """
    if not getattr(model, "compiled", False):
        raise ValueError("Expected a compiled model. Received: one that is not. Call `compile` first.")
    if keras3.compiled.Compiled(model).built:
        return _in_old_order(model, model.get_metrics_result())
    names = _names_of_compiled(model.get_compile_config(), keras3.layers.output_names(model))
    if names is None:
        raise ValueError(
            "Expected a functional or Sequential model, or one that has seen a batch since it was compiled. Received: "
            "a model that has seen none, whose outputs have no names. Call it after `fit` or `evaluate`, "
            "which create the metrics."
        )
    return names


def _names_of_compiled(config: dict[str, Any], outputs: list[str]) -> list[str] | None:
    """Return the names that Keras 3 will give the results of what was passed to `compile`; None if they do not tell."""
    passed = {key: _of_each_output(config[key], outputs) for key in ("loss", "metrics", "weighted_metrics")}
    names = ["loss"]
    with_loss = [output for output, loss in passed["loss"] if loss is not None]
    if len(with_loss) > 1:
        names += [f"{output}_loss" for output in with_loss]
    for output, metrics in passed["metrics"] + passed["weighted_metrics"]:
        prefix = f"{output}_" if len(outputs) > 1 else ""
        flat = metrics if isinstance(metrics, list) else [metrics]
        names += [prefix + _name_of(one) for one in flat if one is not None]
    known = all(output in outputs for entries in passed.values() for output, _ in entries)
    return names if outputs and known else None


def _of_each_output(passed: Any, outputs: list[str]) -> list[tuple[str, Any]]:
    """Pair outputs with an argument of `compile`: one value for all, a list, or a dict by name."""
    if isinstance(passed, dict) and "class_name" not in passed:
        return [(output, passed[output]) for output in sorted(passed, key=[*outputs, *passed].index)]
    each = isinstance(passed, list) and (len(outputs) > 1 or any(isinstance(one, list) for one in passed))
    return list(zip(outputs, passed if each else [passed] * len(outputs), strict=False))


def _name_of(metric: Any) -> str:
    """Return the name that results of a metric have, from its config in `get_compile_config`."""
    if isinstance(metric, str):
        return metric
    if metric["class_name"] == "__lambda__":
        return "lambda"
    config = metric["config"]
    return config.rpartition(">")[2] if isinstance(config, str) else str(config["name"])


def compiled_loss(
    model: keras.Model, y_true: Any, y_pred: Any, sample_weight: Any = None, regularization_losses: Any = None
) -> Any:
    """Return the compiled loss of a batch, and log it as `loss` (`self.compiled_loss(...)` in a `train_step`).

    Args:
        model: a compiled model.
        y_true: targets `(samples, ...)`, or a structure of them.
        y_pred: predictions of the same structure.
        sample_weight: weights `(samples,)`, or None.
        regularization_losses: what is added, usually `model.losses`; nothing by default.

    Returns:
        A scalar.
    """
    loss = model.compute_loss(y=y_true, y_pred=y_pred, sample_weight=sample_weight)
    for sign, losses in ((1, regularization_losses or ()), (-1, model.losses)):  # Keras 3 adds the model's
        for each in losses:
            loss += sign * keras.ops.sum(each)
    samples = keras.ops.shape(keras.tree.flatten(y_pred)[0])[0]
    _, _, logged = keras3.compiled.compiled_parts(model)
    logged.update_state(loss, sample_weight=samples)
    return loss


def update_compiled_metrics(model: keras.Model, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
    """Update the metrics of `compile` alone (`self.compiled_metrics.update_state(...)` in a `train_step`).

    Args:
        model: a compiled model.
        y_true: targets `(samples, ...)`, or a structure of them.
        y_pred: predictions of the same structure.
        sample_weight: weights `(samples,)`, or None.
    """
    _, metrics, _ = keras3.compiled.compiled_parts(model)
    if metrics is not None:
        metrics.update_state(y_true, y_pred, sample_weight=sample_weight)


def output_names(model: keras.Model) -> list[str]:
    """Return the names of a model's outputs (`model.output_names`).

    >>> output_names(keras.Sequential([keras.Input((3,)), keras.layers.Dense(1, name="price")]))
    ['price']

    Args:
        model: a functional or Sequential model.
    """
    if (names := getattr(model, "output_names", None)) is not None:
        return list(names)
    return [keras3.layers.operation_of(tensor).name for tensor in model.outputs]


def input_names(model: keras.Model) -> list[str]:
    """Return the names of a model's inputs (`model.input_names`).

    >>> input_names(keras.Sequential([keras.Input((3,), name="a"), keras.layers.Dense(1)]))
    ['a']

    Args:
        model: a functional or Sequential model.
    """
    return [keras3.layers.operation_of(tensor).name for tensor in model.inputs]
