"""What Keras's trainer is made of, for loops over arrays in memory. Read in Keras 3.15.1."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from keras.src.trainers.data_adapters.array_data_adapter import ArrayDataAdapter
from tensorflow.python.eager import context as tensorflow_context
from tensorflow.python.eager.polymorphic_function import atomic_function
from tensorflow.python.framework import ops

from parallel_compat.backend.keras3.compiled import Compiled

# The packages whose methods of a model do what is known here; others are the user's.
OWN_PACKAGES = ("keras.", "parallel_compat.")


def is_defined_by(model: keras.Model, names: Iterable[str], packages: tuple[str, ...]) -> bool:
    """Whether all these methods of a model are those of some packages, and none was put on the object."""
    kind, own = type(model), vars(model)
    return not any(name in own for name in names) and all(_is_of(getattr(kind, name), packages) for name in names)


def has_own_step(model: keras.Model, kind: str) -> bool:
    """Whether a model's class overrides a step."""
    return not is_defined_by(model, (f"{kind}_step",), OWN_PACKAGES)


@functools.lru_cache(256)
def _is_of(function: Any, packages: tuple[str, ...]) -> bool:
    return str(function.__module__).startswith(packages)


def function_of_step(model: keras.Model, kind: str) -> Any:
    """Return what `make_train_function` or its relatives made: anew after `compile`, or if a user set it to None."""
    if getattr(model, f"{kind}_function") is None:
        getattr(model, f"make_{kind}_function")()
    return getattr(model, f"{kind}_function")


def caller_of(function: Any) -> Callable[..., list[Any]]:
    """Return a function that runs a traced one on tensors of its signature, and returns its outputs flat.

    The rest of `ConcreteFunction.__call__` is for arguments by name, for tapes and for calls inside of a graph
    (`ConcreteFunction._call_flat`, `AtomicFunction.call_flat` in TensorFlow 2.21); on small models it takes longer than
    the step.
    """
    if function.graph.deferred_external_captures:  # they are looked up at each call
        return lambda *tensors: tf.nest.flatten(function(*tensors))
    atomic, captured = function._inference_function, function.captured_inputs
    name, count = atomic.name, len(atomic.function_type.flat_outputs)
    run = tensorflow_context.context().call_function

    def call(*tensors: Any) -> list[Any]:
        with atomic_function.InterpolateRuntimeError(atomic):
            outputs: list[Any] = run(name, [*tensors, *captured], count)
        return outputs

    return call


def as_eager_tensor(array: np.ndarray[Any, Any]) -> Any:
    """Copy an array into a tensor on the host (`constant_op.convert_to_eager_tensor` with a device is 8 x slower)."""
    return ops.EagerTensor(array.copy(), None, None)


def assert_compiled(model: keras.Model) -> None:
    """Raise what Keras raises for a model that is not compiled."""
    if not model.compiled:
        raise ValueError("You must call `compile()` before using the model.")


def split(arrays: tuple[Any, ...], fraction: float) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Split arrays for training and validation as `fit(validation_split=)` does."""
    leaves = [leaf for leaf in keras.tree.flatten(arrays) if leaf is not None]
    samples = int(leaves[0].shape[0])
    first = math.floor(samples * (1.0 - fraction))
    if first in (0, samples):
        raise ValueError(
            f"Training data contains {samples} samples, which is not sufficient to split it into a validation and "
            f"training set as specified by `validation_split={fraction}`. Either provide more data, or a different "
            "value for the `validation_split` argument."
        )
    training, validation = (
        keras.tree.map_structure(lambda leaf, cut=cut: None if leaf is None else leaf[cut], arrays)
        for cut in (slice(first), slice(first, samples))
    )
    return training, validation


class ArrayData:
    """Arrays as Keras's `ArrayDataAdapter` takes them: checked, with weights of classes and of several outputs.

    Args:
        batch_size: the samples of a batch, or None for 32.
    """

    def __init__(
        self, x: Any, y: Any = None, sample_weight: Any = None, batch_size: int | None = None, class_weight: Any = None
    ) -> None:
        if _are_plain(x, y, sample_weight, class_weight):
            self._set(x if y is None else (x, y), len(x), batch_size or 32)
            return
        adapter = ArrayDataAdapter(x, y, sample_weight, batch_size=batch_size, class_weight=class_weight)
        samples = next(len(leaf) for leaf in keras.tree.flatten(adapter._inputs) if leaf is not None)
        self._set(adapter._inputs, samples, batch_size or 32)

    def _set(self, data: Any, samples: int, batch_size: int) -> None:
        self.data = in_floatx(data)
        self.bytes = sum(int(leaf.nbytes) for leaf in keras.tree.flatten(self.data) if leaf is not None)
        self.samples = samples
        self.batch_size = batch_size
        self.batches = -(-samples // batch_size)


def _are_plain(x: Any, y: Any, sample_weight: Any, class_weight: Any) -> bool:
    """Whether data is an array, perhaps with targets for each sample: the adapter would find nothing to do."""
    if sample_weight is not None or class_weight is not None or type(x) is not np.ndarray:
        return False
    return y is None or (type(y) is np.ndarray and len(y) == len(x))


def floatx() -> np.dtype[Any]:
    """Return Keras's `floatx` as numpy's dtype: names are compared by a function of python."""
    dtype: np.dtype[Any] = np.dtype(keras.config.floatx())
    return dtype


def in_floatx(data: Any) -> Any:
    """Return data with floats in Keras's `floatx`, as Keras's trainer feeds them, and tensors as numpy arrays."""
    if data is None:
        return None
    if type(data) is np.ndarray:
        return data.astype(floatx()) if data.dtype.kind == "f" and data.dtype != floatx() else data
    if isinstance(data, dict):
        return {key: in_floatx(part) for key, part in data.items()}
    if isinstance(data, (list, tuple)):
        parts = [in_floatx(part) for part in data]
        return type(data)(*parts) if hasattr(data, "_fields") else type(data)(parts)
    return in_floatx(np.asarray(data.numpy() if isinstance(data, tf.Tensor) else data))


def weights_of_batch(y: Any, sample_weight: Any, class_weight: Any) -> Any:
    """Return the sample weights of `train_on_batch`, made of those of classes if there are."""
    if class_weight is None:
        return sample_weight
    if sample_weight is not None:
        raise ValueError(
            "Arguments `sample_weight` and `class_weight` cannot be specified at the same time. "
            f"Received: sample_weight={sample_weight}, class_weight={class_weight}"
        )
    return ArrayDataAdapter(y, y, class_weight=class_weight)._inputs[2]


def callback_list(model: keras.Model, callbacks: Any, *, history: bool, verbose: Any, epochs: int, steps: int) -> Any:
    """Return Keras's list of callbacks for a loop, or the one that is given."""
    if isinstance(callbacks, keras.callbacks.CallbackList):
        return callbacks
    return keras.callbacks.CallbackList(
        callbacks,
        add_history=history,
        add_progbar=verbose != 0,
        verbose=verbose,
        epochs=epochs,
        steps=steps,
        model=model,
    )


def any_looks_at(callbacks: Any, *hooks: str) -> bool:
    """Whether a callback of the list has a hook of its own: those of `keras.callbacks.Callback` do nothing."""
    return any(
        getattr(getattr(callback, hook, None), "__func__", None) is not getattr(keras.callbacks.Callback, hook)
        for callback in callbacks.callbacks
        for hook in hooks
    )


def initial_epoch(model: keras.Model, given: int) -> int:
    """Return the epoch to begin at: `BackupAndRestore` says so on the model (`Trainer._initial_epoch`)."""
    return int(model._initial_epoch or given)


def averages_weights(optimizer: Any) -> bool:
    """Whether `finalize_variable_values` of an optimizer does something: else `fit` need not collect the weights."""
    inner = getattr(optimizer, "inner_optimizer", optimizer)  # of a `LossScaleOptimizer`
    return isinstance(optimizer, keras.optimizers.Optimizer) and bool(
        inner.use_ema or type(inner).finalize_variable_values is not keras.optimizers.Optimizer.finalize_variable_values
    )


def validates_after(model: keras.Model, epoch: int, frequency: Any) -> bool:
    """Whether `fit(validation_freq=)` validates after an epoch, counted from 0."""
    if isinstance(frequency, int):
        return (epoch + 1) % frequency == 0
    if isinstance(frequency, list):
        return epoch + 1 in frequency
    raise ValueError(f"Expected `validation_freq` to be a list or int. Received: {frequency!r}")


def in_order(model: keras.Model, logs: dict[str, Any]) -> Any:
    """Return logs as `evaluate` and `train_on_batch` do without `return_dict`: a list, the metrics' names first."""
    # Those that `compile` was given are in one metric of the model's, and have names of their own.
    given = model._compile_metrics
    names = [part.name for metric in model.metrics for part in (metric.metrics if metric is given else [metric])]
    known = [logs[name] for name in names if name in logs]
    values = known + [logs[name] for name in sorted(logs.keys() - set(names))]
    return values[0] if len(values) == 1 else values


def plain_logs(logs: dict[str, Any]) -> dict[str, Any]:
    """Return logs sorted, as python's numbers where they are scalars, as callbacks get them."""
    if logs and all(type(value) is float for value in logs.values()):  # most often
        return dict(sorted(logs.items()))
    plain: dict[str, Any] = {}
    for name, value in sorted((logs or {}).items()):
        if isinstance(value, dict):
            plain.update(plain_logs(value))
        else:
            try:
                plain[name] = float(value)
            except Exception:  # what is no scalar stays as it is, whatever its class says of that
                plain[name] = value
    return plain


def joined(batches: Sequence[Any]) -> Any:
    """Join what `predict_step` gave for each batch, as `predict` does, into numpy arrays."""
    if len(batches) == 1:
        return keras.tree.map_structure(_as_array, batches[0])
    columns = keras.tree.map_structure_up_to(batches[0], lambda *parts: list(parts), *batches)
    return keras.tree.map_structure_up_to(batches[0], lambda parts: _as_array(_concatenated(parts)), columns)


def _as_array(tensor: Any) -> Any:
    return tensor if isinstance(tensor, (tf.RaggedTensor, tf.SparseTensor)) else tensor.numpy()


def _concatenated(parts: list[Any]) -> Any:
    """Join tensors of batches along the samples; where only the other axes differ, into a ragged one."""
    if isinstance(parts[0], tf.SparseTensor):
        return tf.sparse.concat(axis=0, sp_inputs=parts)
    if isinstance(parts[0], tf.RaggedTensor):
        return tf.concat(parts, axis=0)
    if parts[0].shape.rank == 0:
        return tf.stack(parts)
    shapes = [part.shape[1:].as_list() for part in parts]
    differing = [axis for axis, sizes in enumerate(zip(*shapes, strict=True)) if len(set(sizes)) > 1]
    if not differing:
        return tf.concat(parts, axis=0)
    inner = tuple(shapes[0][differing[-1] + 1 :])
    return tf.ragged.constant([part.numpy() for part in parts], inner_shape=inner or None).merge_dims(0, 1)


def _first(leaf: Any, size: int) -> Any:
    """Return the first samples of an array, or of what says its shape."""
    if isinstance(leaf, tf.TensorSpec):
        samples = leaf.shape[0]
        return tf.TensorSpec((size if samples is None else min(size, samples), *leaf.shape[1:]), leaf.dtype)
    return None if leaf is None else leaf[:size]


def build_compiled(model: keras.Model, y: Any, sample_weight: Any) -> bool:
    """Build a model's losses and metrics before its first step; False if its outputs are not known before."""
    compiled = Compiled(model)
    if not compiled.built and getattr(model, "outputs", None):
        # `Sequential.output` is there only once the model was called on a symbolic tensor.
        outputs = model.outputs if isinstance(model, keras.Sequential) else model.output
        if isinstance(outputs, (list, tuple)) and len(outputs) == 1:
            outputs = outputs[0]
        shapes = [each.shape for each in keras.tree.flatten(outputs)]
        samples = {shape[0] if shape else None for shape in shapes}  # none of a loss that is an output itself
        if len(samples) == 1 and (size := samples.pop()) is not None:  # of stateful layers: those of a batch
            y, sample_weight = keras.tree.map_structure(lambda leaf: _first(leaf, size), (y, sample_weight))
        compiled.build(y, outputs, sample_weight, symbolic=True)
    return compiled.built


def build_optimizer(model: keras.Model) -> None:
    """Make the optimizer's variables, as `fit` does before its first step (`Trainer._symbolic_build`)."""
    optimizer, variables = model.optimizer, model.trainable_variables
    if optimizer is not None and not optimizer.built and variables:
        optimizer.build(variables)


def can_build_compiled(model: keras.Model) -> bool:
    """Whether a model's losses and metrics are built, or can be before its first step."""
    return bool(getattr(model, "outputs", None)) or Compiled(model).built


def is_array(leaf: Any) -> bool:
    """Whether a leaf is a numpy array of numbers, or a tensor that is one."""
    if type(leaf) is np.ndarray:
        return leaf.dtype.kind in "fiub" and leaf.ndim > 0
    return isinstance(leaf, tf.Tensor) and hasattr(leaf, "numpy") and leaf.shape.rank > 0 and leaf.dtype in _NUMBERS


_NUMBERS = frozenset(
    {tf.float16, tf.float32, tf.float64, tf.int8, tf.int16, tf.int32, tf.int64, tf.uint8, tf.uint16, tf.bool}
)
