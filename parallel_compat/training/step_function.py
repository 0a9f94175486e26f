"""A step of a model as one compiled function of arrays, whatever the number of samples.

Kept with the model from call to call. For each structure of the data, with its dtypes and ranks, one function is kept:
its first axis is open, and another axis becomes so when it is seen to differ. Only a step that cannot be traced so (it
asks for the number of samples as an int) is traced for each number of samples, of which `SIZES` are kept.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import keras
import numpy as np
import tensorflow as tf

from parallel_compat.backend import keras3

Shape = tuple[int | None, ...]

# What code raises that meets None for a length, or cannot go on without it. Other errors have other reasons: they are
# raised at once, and nothing that the user's code does is done twice.
_OF_UNKNOWN_LENGTHS = (
    ArithmeticError, AssertionError, AttributeError, IndexError, NotImplementedError, TypeError, ValueError,
    tf.errors.OpError,
)  # fmt: skip

# How many numbers of samples are kept where each needs a function of its own.
SIZES = 8


class Results:
    """What a step gave: on the device until somebody reads it.

    Args:
        names: the names of the logs that are scalars, in the order of `vector`.
        vector: their values, one tensor.
        others: logs that are no scalars of float32 or float64.
    """

    def __init__(self, names: list[str], vector: Any, others: dict[str, Any]) -> None:
        self.names = names
        self.vector = vector
        self.others = others

    def read(self) -> dict[str, Any]:
        """The logs as python's numbers, sorted by name as Keras sorts them."""
        logs = dict(sorted(zip(self.names, self.vector.numpy().tolist(), strict=True)))
        return keras3.in_memory.plain_logs({**logs, **self.others}) if self.others else logs


class Traced(NamedTuple):
    """A traced step."""

    shapes: list[Shape]  # of each leaf of the data, None for what may differ
    function: Any  # what TensorFlow traced; its graph goes when nobody holds it
    call: Callable[..., list[Any]]  # takes the leaves, and returns the outputs flat
    outputs: Any  # what holds the outputs, None where it is one tensor
    names: list[str]  # the names of the logs
    resets: bool  # whether it forgets the batches before by itself


class StepFunction:
    """A step of a model.

    Args:
        kind: "train", "test" or "predict".
        alone: whether metrics are of this batch alone; else they go on from batch to batch.
        made_for: what Keras made for the same step; with another one this one is out of date.
    """

    def __init__(self, model: keras.Model, kind: str, alone: bool, made_for: Any) -> None:
        self.model = model
        self.made_for = made_for
        self._kind = kind
        self._alone = alone
        self._traced: dict[Any, list[Traced]] = {}
        self._lock = threading.RLock()
        self.traces = 0

    def __call__(self, data: Any) -> Any:
        """Run the step.

        Args:
            data: `(x,)`, `(x, y)` or `(x, y, sample_weight)`, numpy arrays or tensors in any structure.

        Returns:
            `Results`; of a prediction, what `predict_step` returns.
        """
        leaves: list[Any] = []
        structure = _flatten(data, leaves)
        traced = self._for(structure, leaves) if _have_one_length(leaves) else self._of_these(structure, leaves)
        if self._alone and not traced.resets:
            for metric in self.model.metrics:
                metric.reset_state()
        outputs = traced.call(
            *[keras3.in_memory.as_eager_tensor(leaf) if isinstance(leaf, np.ndarray) else leaf for leaf in leaves]
        )
        packed = outputs[0] if traced.outputs is None else tf.nest.pack_sequence_as(traced.outputs, outputs)
        if self._kind == "predict":
            return packed
        return Results(traced.names, packed, {}) if traced.outputs is None else Results(traced.names, *packed)

    def _for(self, structure: Any, leaves: list[Any]) -> Traced:
        kept = self._traced.get(structure)
        if kept is not None:
            for traced in kept:
                if all(map(_fits, traced.shapes, leaves)):
                    return traced
        with self._lock:
            return self._trace(structure, leaves)

    def _of_these(self, structure: Any, leaves: list[Any]) -> Traced:
        """Trace for arrays of different lengths, which most steps refuse, and do so where they know the lengths."""
        with self._lock:
            return self._of_shapes(structure, leaves, [tuple(leaf.shape) for leaf in leaves])

    def _trace(self, structure: Any, leaves: list[Any]) -> Traced:
        kept = self._traced.setdefault(structure, [])
        exact: list[Shape] = [tuple(leaf.shape) for leaf in leaves]
        fixed = self._fixed_batch()
        open_ended = [(fixed, *shape[1:]) for shape in exact]
        if fixed is not None and open_ended != exact:
            open_ended = exact  # a model that was built on a first batch is fed a last, smaller one
        elif kept and len(kept[-1].shapes) == len(exact) and None in {s[0] for s in kept[-1].shapes}:
            pairs = zip(kept[-1].shapes, open_ended, strict=True)
            open_ended = [tuple(a if a == b else None for a, b in zip(*pair, strict=True)) for pair in pairs]
        try:
            traced = self._of_shapes(structure, leaves, open_ended)
            if open_ended is exact:
                del kept[: len(kept) - SIZES + 1]
                kept.append(traced)
            else:
                kept[:] = [traced]
            return traced
        except _OF_UNKNOWN_LENGTHS:  # what a user wrote can ask for the number of samples in any way
            if open_ended == exact:
                raise
        del kept[: len(kept) - SIZES + 1]
        kept.append(self._of_shapes(structure, leaves, exact))
        return kept[-1]

    def _fixed_batch(self) -> int | None:
        """The number of samples that the model was made for, if it was."""
        fixed = {tensor.shape[0] for tensor in getattr(self.model, "inputs", None) or [None] if tensor is not None}
        return fixed.pop() if len(fixed) == 1 else None

    def _build(self, data: Any) -> bool:
        """Make the variables of the step before it is traced: TensorFlow traces a function that makes some twice.

        Args:
            data: the batch, its leaves as `tf.TensorSpec`.

        Returns:
            Whether all losses and metrics are there.
        """
        if self._kind == "predict":
            return True
        _, y, sample_weight = keras.utils.unpack_x_y_sample_weight(data)
        known = y is not None and keras3.in_memory.build_compiled(self.model, y, sample_weight)
        if self._kind == "train":
            keras3.in_memory.build_optimizer(self.model)
        return known

    def _of_shapes(self, structure: Any, leaves: list[Any], shapes: list[Shape]) -> Traced:
        specs = [tf.TensorSpec(shape, leaf.dtype) for shape, leaf in zip(shapes, leaves, strict=True)]
        names: list[str] = []
        knows_metrics = self._build(_pack(structure, iter(specs)))
        resets = not self._alone or knows_metrics

        def run(*tensors: Any) -> Any:
            data = _pack(structure, iter(tensors))
            step = getattr(self.model, f"{self._kind}_step")
            if self._kind == "predict":
                return step(data)
            holds = knows_metrics and keras3.in_memory.is_defined_by(
                self.model, ("compute_loss", "compute_metrics"), keras3.in_memory.OWN_PACKAGES
            )
            with keras3.metric_state.means_held(self.model.metrics if holds else ()):
                if self._alone and knows_metrics:
                    for metric in self.model.metrics:
                        metric.reset_state()
                logs = _flat_logs(step(data))
            names[:] = [name for name, value in logs.items() if _is_scalar(value)]
            others = {name: value for name, value in logs.items() if name not in names}
            # A user's metric may return its variable.
            numbers = [tf.convert_to_tensor(logs[name]) for name in names]
            if any(number.dtype == tf.float64 for number in numbers):
                numbers = [tf.cast(number, tf.float64) for number in numbers]
            return tf.stack(numbers) if names else tf.zeros((0,)), others

        self.traces += 1
        function = tf.function(run, input_signature=specs, autograph=False).get_concrete_function()
        outputs = function.structured_outputs
        if self._kind != "predict" and not outputs[1]:
            outputs = outputs[0]
        outputs = None if tf.is_tensor(outputs) else outputs
        return Traced(shapes, function, keras3.in_memory.caller_of(function), outputs, names, resets)


def step_function(model: keras.Model, kind: str, alone: bool = False) -> StepFunction:
    """Return a model's step as a function; the same one until the model is compiled again."""
    made_for = keras3.in_memory.function_of_step(model, kind)
    functions: dict[Any, StepFunction] = vars(model).setdefault("_parallel_compat_step_functions", {})
    found = functions.get((kind, alone))
    if found is None or found.model is not model or found.made_for is not made_for:
        found = functions[kind, alone] = StepFunction(model, kind, alone, made_for)
    return found


def _flatten(data: Any, leaves: list[Any]) -> Any:
    """Put the leaves of a structure into `leaves`, and return the rest of it, with their dtypes and ranks."""
    if data is None:
        return None
    if type(data) is np.ndarray:
        leaves.append(data)
        return (data.dtype, data.ndim)
    if isinstance(data, dict):
        return ("dict", tuple((key, _flatten(data[key], leaves)) for key in data))
    if isinstance(data, (list, tuple)):
        return (type(data), tuple(_flatten(part, leaves) for part in data))
    leaves.append(data)
    dtype = data.dtype
    return (dtype if isinstance(dtype, np.dtype) else np.dtype(dtype.as_numpy_dtype), len(data.shape))


def _pack(structure: Any, tensors: Iterator[Any]) -> Any:
    if structure is None:
        return None
    kind, parts = structure
    if kind == "dict":
        return {key: _pack(part, tensors) for key, part in parts}
    if isinstance(kind, type) and issubclass(kind, (list, tuple)):
        packed = [_pack(part, tensors) for part in parts]
        return kind(*packed) if hasattr(kind, "_fields") else kind(packed)
    return next(tensors)


def _have_one_length(leaves: list[Any]) -> bool:
    return len({leaf.shape[0] for leaf in leaves if leaf.shape}) < 2


def _fits(shape: Shape, leaf: Any) -> bool:
    for known, length in zip(shape, leaf.shape, strict=True):  # noqa: SIM110  # at each call, for each leaf
        if known is not None and known != length:
            return False
    return True


def _flat_logs(logs: dict[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in logs.items():
        flat.update(_flat_logs(value) if isinstance(value, dict) else {name: value})
    return flat


def _is_scalar(value: Any) -> bool:
    return bool(tf.is_tensor(value) and value.dtype in (tf.float32, tf.float64) and value.shape.rank == 0)
