"""One batch of a generator or Sequence: what was yielded, as the tensors and in the structure that the model takes."""

from __future__ import annotations

import functools
import numbers
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from parallel_compat.backend import keras3
from parallel_compat.template import template_inputs
from parallel_compat.warning_category import ParallelCompatWarning

FORMS = "(x, y), (x, y, sample_weight), or (x,) for a model without targets"
Scalar = (numbers.Number, str, bytes)


class BatchReader:
    """Reads `(x, y, sample_weight)` out of what is yielded, and refuses what the model cannot take.

    The arrays are copied as soon as they are drawn: generators write the next batch into the same array, and
    Sequences shuffle theirs in `on_epoch_end`.

    Args:
        what: "training", "validation" or "prediction".
        class_weight: class -> weight, or such a dict for each output, by name or in order; or None.
        targets_of_keras_2: whether integer targets become floats, and those of shape `(samples,)` get a second axis, as
            in Keras 2: metrics of that time multiply them with predictions of shape `(samples, 1)`.
    """

    def __init__(
        self, model: keras.Model, what: str, class_weight: Any = None, targets_of_keras_2: bool = False
    ) -> None:
        self._as_target = functools.partial(target_of_keras_2, model) if targets_of_keras_2 else as_tensor
        self._what = what
        self._targets = what != "prediction"
        own_step = keras3.in_memory.has_own_step(model, "train")
        of_step = {"training": "train", "validation": "test", "prediction": "predict"}[what]
        self._takes_any_shape = keras3.in_memory.has_own_step(model, of_step)
        losses = keras.tree.flatten(getattr(model, "loss", None))
        self._needs_targets = self._targets and not own_step and any(loss is not None for loss in losses)
        self._class_weight = class_weight
        of_columns = isinstance(class_weight, (list, tuple)) and len(class_weight) != 1
        if targets_of_keras_2 and of_columns and len(getattr(model, "outputs", None) or ()) == 1:
            warnings.warn(
                f"`class_weight` is a list of {len(class_weight)} for one output: ignored, as in Keras 2. Pass a "
                "dict, or weight the columns of the output in a custom loss.",
                ParallelCompatWarning,
                stacklevel=2,
            )
            self._class_weight = None
        self._inputs = list(getattr(model, "inputs", None) or [])
        self._structure = template_inputs(model) if self._inputs else None
        self._input_names = _input_names(self._structure, self._inputs)
        self._output_names = _output_names(model)
        self._outputs_are_listed = len(self._output_names) > 1 and not isinstance(model.output, dict)
        self._right: set[Any] = set()

    def __call__(self, drawn: Any, number: int) -> tuple[Any, ...]:
        """Read one batch.

        Args:
            number: which batch it is, from 1 on, for error messages.

        Returns:
            `(x, y, sample_weight)`, the last two perhaps None; `(x,)` for prediction. Tensors `(samples, ...)`.

        Raises:
            ValueError: for another structure, shape or number of samples than the model takes.
        """
        x, y, weight = self._parts(drawn, number)
        x = self._input_structure(x, number)
        y, weight = self._output_structure(y, number), self._output_structure(weight, number, is_weight=True)
        x, weight = (keras.tree.map_structure(as_tensor, part) for part in (x, weight))
        y = keras.tree.map_structure(self._as_target, y)
        self._check(x, y, weight, number)
        if not self._targets:
            return (x,)
        if self._class_weight is not None:
            weight = self._apply_class_weight(y, weight, number)
        return x, y, weight

    def _parts(self, drawn: Any, number: int) -> tuple[Any, Any, Any]:
        if drawn is None or isinstance(drawn, Scalar):
            raise self._unexpected(f"is {drawn!r}", number)
        if not self._targets and isinstance(drawn, list) and not self._has_targets(drawn):
            return drawn, None, None
        if not isinstance(drawn, (list, tuple)):
            if self._needs_targets and hasattr(drawn, "shape"):
                raise ValueError(
                    f"Expected each batch of the {self._what} generator to be a tuple (x, y) or (x, y, sample_weight): "
                    f"the model is compiled with a loss. Received: batch {number} is a bare array of shape "
                    f"{tuple(drawn.shape)}. Yield its targets with it: `yield x, y`."
                )
            return drawn, None, None
        if not 1 <= len(drawn) <= 3 or (isinstance(drawn, list) and len(drawn) == 1):
            raise ValueError(
                f"Expected each batch of the generator to be {FORMS}. Received: batch {number} is a "
                f"{type(drawn).__name__} of {len(drawn)} elements."
            )
        x, y, weight = (*drawn, None, None)[:3]
        return (x, y, weight) if self._targets else (x, None, None)

    def _has_targets(self, drawn: list[Any]) -> bool:
        """Whether a list in `predict` is `[x, y]`: Keras 2 took a list for the inputs of a model with several."""
        if not self._inputs or len(drawn) not in (2, 3):
            return False
        if len(self._inputs) == 1:
            return all(part is None or hasattr(part, "shape") for part in drawn)
        return isinstance(drawn[0], (list, tuple, dict))

    def _input_structure(self, x: Any, number: int) -> Any:
        if not self._inputs:
            return _arrays(x)
        if isinstance(x, dict):
            missing = [name for name in self._input_names if name not in x]
            if missing:
                raise self._unexpected(f"has the inputs {sorted(map(str, x))}, without {missing}", number)
            flat = [np.asarray(x[n]) if _is_numbers(x[n]) else x[n] for n in self._input_names]
        else:
            flat = _leaves(x, len(self._inputs))
        if len(flat) != len(self._inputs) or any(leaf is None for leaf in flat):
            raise ValueError(
                f"Expected {len(self._inputs)} inputs, {self._input_names}. Received: batch {number} has {len(flat)}, "
                f"of shapes {_shapes(flat)}."
            )
        return keras.tree.pack_sequence_as(self._structure, flat)

    def _output_structure(self, values: Any, number: int, is_weight: bool = False) -> Any:
        """Give targets or weights the structure of the model's outputs."""
        if values is None or not self._output_names:
            return _arrays(values)
        if isinstance(values, dict):
            unknown = sorted(set(map(str, values)) - set(self._output_names))
            if unknown:
                raise self._unexpected(f"has values for {unknown}", number)
            if len(self._output_names) == 1:
                return values[self._output_names[0]]
            if self._outputs_are_listed and (is_weight or set(values) == set(self._output_names)):
                return [_arrays(values.get(name)) for name in self._output_names]
            return {name: _arrays(value) for name, value in values.items()}
        if len(self._output_names) > 1:
            flat = _leaves(values, len(self._output_names))
            return flat if len(flat) == len(self._output_names) else _arrays(values)
        flat = _leaves(values, 1)
        if len(flat) != 1:
            raise self._unexpected(f"has {len(flat)} targets, of shapes {_shapes(flat)}", number)
        return flat[0]

    def _check(self, x: Any, y: Any, weight: Any, number: int) -> None:
        leaves = [[leaf for leaf in keras.tree.flatten(part) if leaf is not None] for part in (x, y, weight)]
        shapes = [[tuple(leaf.shape) for leaf in part] for part in leaves]
        flat = [shape for part in shapes for shape in part]
        samples = {shape[0] for shape in flat if shape}
        if not flat or () in flat or 0 in samples or len(samples - {None}) > 1:
            raise ValueError(
                "Expected a batch with the same number of samples, at least one, in all its arrays. Received: batch "
                f"{number} with inputs of shapes {shapes[0]}, targets of shapes {shapes[1]} and sample weights of "
                f"shapes {shapes[2]}."
            )
        key = tuple(tuple(shape[1:] for shape in part) for part in shapes)
        if key in self._right:  # a shape that was right once is not looked at again
            return
        for symbolic, shape in zip(self._inputs, shapes[0], strict=False):
            if not self._takes_any_shape and not _fits(tuple(symbolic.shape), shape):
                raise self._unexpected(f"has inputs of shapes {shapes[0]}", number)
        if isinstance(y, list) and len(y) > len(self._output_names) > 0:
            raise self._unexpected(f"has {len(y)} targets, of shapes {shapes[1]}", number)
        self._right.add(key)

    def _unexpected(self, received: str, number: int) -> ValueError:
        expected = FORMS if self._targets else "x, (x,) or (x, y)"
        if self._inputs:
            expected += f", with inputs {self._input_names} of shapes {[tuple(t.shape) for t in self._inputs]}"
        if self._targets and self._output_names:
            expected += f" and targets for {self._output_names}"
        return ValueError(f"Expected batches {expected}. Received: batch {number} {received}.")

    def _apply_class_weight(self, y: Any, weight: Any, number: int) -> Any:
        """Turn class weights into sample weights, beside those that the batch brings."""
        of_classes = self._class_weight
        names = self._output_names
        by_name = isinstance(of_classes, dict) and bool(set(of_classes) & set(names))
        if isinstance(of_classes, (list, tuple)):
            if len(of_classes) != len(names):
                raise ValueError(
                    f"Expected `class_weight` with a dict for each of {len(names)} outputs, {names}. Received: a list "
                    f"of {len(of_classes)}. Weight the columns of one output in a custom loss."
                )
            of_classes, by_name = dict(zip(names, of_classes, strict=True)), True
        if y is None or (keras.tree.is_nested(y) and not by_name):
            raise ValueError(
                "Expected a single output for `class_weight`, or weights by output name, such as "
                f"{{{(names or ['output'])[0]!r}: {{0: 1.0}}}}. Received: batch {number} with targets of shapes "
                f"{[tuple(leaf.shape) for leaf in keras.tree.flatten(y) if leaf is not None]}."
            )
        if not keras.tree.is_nested(y):
            return sample_weight_of_classes(y, weight, of_classes[names[0]] if by_name else of_classes)
        targets = y if isinstance(y, dict) else dict(zip(names, y, strict=True))
        given = weight if isinstance(weight, dict) else dict(zip(names, weight or [None] * len(names), strict=True))
        weights = {n: sample_weight_of_classes(t, given.get(n), of_classes.get(n) or {}) for n, t in targets.items()}
        return weights if isinstance(y, dict) else list(weights.values())


def as_tensor(leaf: Any) -> Any:
    """Copy an array into a tensor; floats become Keras's float type, as in `fit` of arrays."""
    if leaf is None or tf.is_tensor(leaf) or isinstance(leaf, (tf.RaggedTensor, tf.SparseTensor)):
        return leaf
    if keras3.data_adapters.is_scipy_sparse(leaf):
        return keras3.data_adapters.scipy_sparse_to_tensor(leaf)
    array = np.asarray(leaf)
    if array.dtype.kind == "f" and array.dtype.name != keras.config.floatx():
        array = array.astype(keras.config.floatx())
    return tf.convert_to_tensor(array)


def target_of_keras_2(model: keras.Model, leaf: Any) -> Any:
    """Like `as_tensor`; integers and bools become floats too, `(samples,)` becomes `(samples, 1)` where outputs are so.

    `standardize_input_data` in Keras 2.2.4's `engine/training_utils.py` added the axis, and the placeholder of a target
    had the dtype of the output.
    """
    if isinstance(leaf, np.ndarray) and leaf.dtype.kind in "fiub":
        return tf.convert_to_tensor(array_of_keras_2(model, leaf))
    tensor = as_tensor(leaf)
    if not isinstance(tensor, tf.Tensor) or tensor.dtype == tf.string:
        return tensor
    if not tensor.dtype.is_floating:
        tensor = tf.cast(tensor, keras.config.floatx())
    return tf.expand_dims(tensor, 1) if tensor.shape.rank == 1 and not has_flat_outputs(model) else tensor


def array_of_keras_2(model: keras.Model, target: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Like `target_of_keras_2`, of an array of numbers, as an array."""
    if target.dtype != keras3.in_memory.floatx():
        target = target.astype(keras3.in_memory.floatx())
    return target[:, None] if target.ndim == 1 and not has_flat_outputs(model) else target


def has_flat_outputs(model: keras.Model) -> bool:
    """Whether an output is one number of each sample, without an axis of its own."""
    return any(len(output.shape) < 2 for output in getattr(model, "outputs", None) or ())


def samples_of(batch: Any) -> int:
    """Count the samples of a batch."""
    first = next(leaf for leaf in keras.tree.flatten(batch) if leaf is not None)
    return int(first.nrows()) if isinstance(first, tf.RaggedTensor) else int(first.shape[0])


def sample_weight_of_classes(y: Any, sample_weight: Any, class_weight: Mapping[Any, float]) -> Any:
    """Turn class weights into sample weights, times those that the batch brings.

    Args:
        y: class ids `(samples,)` or `(samples, 1)`, or one-hot targets `(samples, classes)`.
        sample_weight: weights `(samples,)` or None.
        class_weight: class -> weight; a class without one has weight 1, as in Keras.

    Returns:
        Weights, a float tensor of shape `(samples,)`.

    Raises:
        ValueError: for targets with more axes, as in Keras 2.
    """
    targets = np.asarray(y)
    if targets.ndim > 2:
        raise ValueError(
            "Expected targets of shape (samples,) or (samples, classes) for `class_weight`. Received targets of shape "
            f"{targets.shape}. Let the generator yield `sample_weight`, one for each step."
        )
    one_hot = targets.ndim > 1 and targets.shape[-1] > 1
    classes = np.round(targets.argmax(-1) if one_hot else targets.reshape(len(targets), -1)[:, 0])
    weights = np.asarray([class_weight.get(int(c), 1.0) for c in classes], keras.config.floatx())
    return tf.convert_to_tensor(weights if sample_weight is None else weights * np.asarray(sample_weight))


def _input_names(structure: Any, inputs: Sequence[Any]) -> list[str]:
    if isinstance(structure, dict):
        return [str(path[-1]) for path, _ in keras.tree.flatten_with_path(structure)]
    return [tensor.name for tensor in inputs]


def _is_numbers(value: Any) -> bool:
    """Whether a value is an array written as lists of numbers."""
    if isinstance(value, (list, tuple)):
        return len(value) > 0 and all(isinstance(item, Scalar) or _is_numbers(item) for item in value)
    return isinstance(value, Scalar)


def _is_array(value: Any) -> bool:
    """Whether a value is one array; a list that has plain numbers in it is."""
    if isinstance(value, (list, tuple)):
        return _is_numbers(value) and any(isinstance(item, Scalar) for item in value)
    return not isinstance(value, dict)


def _leaves(value: Any, count: int = 0) -> list[Any]:
    """Flatten; a structure with as many items as there is to be, lists of numbers among them, is not cut smaller."""
    if count == 1 and _is_numbers(value):
        return [np.asarray(value)]
    if isinstance(value, (list, tuple)) and len(value) == count > 1:
        return [leaf for item in value for leaf in ([np.asarray(item)] if _is_numbers(item) else _leaves(item))]
    if _is_array(value):
        return [np.asarray(value) if isinstance(value, (list, tuple)) else value]
    if isinstance(value, dict):
        return [leaf for key in sorted(value) for leaf in _leaves(value[key])]
    return [leaf for item in value for leaf in _leaves(item)]


def _arrays(value: Any) -> Any:
    """Keep the structure, tuples as lists; lists of numbers become arrays."""
    if _is_array(value):
        return np.asarray(value) if isinstance(value, (list, tuple)) else value
    if isinstance(value, dict):
        return {key: _arrays(item) for key, item in value.items()}
    return [_arrays(item) for item in value]


def _output_names(model: keras.Model) -> list[str]:
    return (
        keras3.layers.output_names(model)
        if isinstance(model, keras.Sequential) or getattr(model, "inputs", None)
        else []
    )


def _shapes(flat: Sequence[Any]) -> list[Any]:
    return [None if leaf is None else tuple(getattr(leaf, "shape", ())) for leaf in flat]


def _fits(expected: tuple[int | None, ...], received: tuple[int | None, ...]) -> bool:
    """Whether a shape is that of an input; Keras lets a last dimension of 1 be missing or too many."""
    if len(received) == len(expected) - 1 and expected[-1] == 1:
        received = (*received, 1)
    if len(received) == len(expected) + 1 and received[-1] == 1:
        received = received[:-1]
    pairs = zip(expected[1:], received[1:], strict=False)
    return len(expected) == len(received) and all(e is None or r is None or e == r for e, r in pairs)
