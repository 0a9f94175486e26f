"""One batch of a generator or Sequence, in the form that Keras 3 takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import keras
import numpy as np
import tensorflow as tf

if TYPE_CHECKING:
    from collections.abc import Mapping

FORMS = "(x, y), (x, y, sample_weight), or (x,) for a model without targets"


def training_batch(batch: Any, model: keras.Model, number: int, class_weight: Mapping[Any, float] | None) -> Any:
    """Put what a generator yields for training or evaluation into a tuple `(x, y, sample_weight)`.

    Args:
        batch: what was yielded: a tuple or a list; an array or a dict is inputs alone.
        model: the model that is trained.
        number: the position of the batch, for error messages.
        class_weight: a weight for each class of the targets, or None.

    Returns:
        `(x, y, sample_weight)`, the last two perhaps None.

    Raises:
        ValueError: if the batch has another form, or does not fit the model's inputs.
    """
    parts = tuple(batch) if isinstance(batch, (tuple, list)) else (batch,)
    if not 1 <= len(parts) <= 3 or (isinstance(batch, list) and len(parts) == 1):
        raise ValueError(
            f"Expected each batch of the generator to be {FORMS}. Received: batch {number} is a "
            f"{type(batch).__name__} of {len(parts)} elements."
        )
    x, y, weight = (arrays(part) for part in (*parts, None, None)[:3])
    check_inputs(x, model, number)
    if class_weight is not None:
        weight = weighted_classes(y, weight, class_weight, number)
    return x, y, weight


def prediction_batch(batch: Any, model: keras.Model, number: int) -> Any:
    """Put what a generator yields for prediction into a tuple `(x,)`: a list is a list of inputs."""
    x = arrays(batch[0] if isinstance(batch, tuple) else batch)
    check_inputs(x, model, number)
    return (x,)


def arrays(value: Any) -> Any:
    """Turn lists of numbers into arrays, lists of one array into that array, float64 into Keras's float type."""
    if value is None or tf.is_tensor(value) or isinstance(value, (tf.RaggedTensor, tf.SparseTensor)):
        return value
    if isinstance(value, dict):
        return {name: arrays(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        if value and not any(hasattr(item, "shape") or item is None for item in value):
            if any(isinstance(item, (list, tuple, dict)) and _holds_arrays(item) for item in value):
                return [arrays(item) for item in value]
            value = np.asarray(value)
        else:
            items = [arrays(item) for item in value]
            return items[0] if len(items) == 1 else items
    array = np.asarray(value)
    return array.astype(keras.config.floatx()) if array.dtype == np.float64 else array


def _holds_arrays(value: Any) -> bool:
    return any(hasattr(leaf, "shape") for leaf in keras.tree.flatten(value))


def check_inputs(x: Any, model: keras.Model, number: int) -> None:
    """Refuse a batch that has not as many inputs as the model.

    Raises:
        ValueError: with what was expected and received.
    """
    expected = getattr(model, "inputs", None)
    if not expected:
        return
    received = keras.tree.flatten(x)
    if len(received) != len(expected):
        names = [tensor.name for tensor in expected]
        shapes = [getattr(leaf, "shape", None) and tuple(leaf.shape) for leaf in received]
        raise ValueError(
            f"Expected {len(expected)} inputs, {names}. Received: batch {number} has {len(received)}, of shapes "
            f"{shapes}."
        )


def weighted_classes(y: Any, sample_weight: Any, class_weight: Mapping[Any, float], number: int) -> np.ndarray:
    """Turn class weights into sample weights, times those that the batch brings.

    Args:
        y: integer targets `(rows,)` or `(rows, 1)`, or one-hot targets `(rows, classes)`.
        sample_weight: weights `(rows,)` or None.
        class_weight: class -> weight; a class without one weighs 1, as in Keras.
        number: the position of the batch, for error messages.

    Returns:
        Weights of shape `(rows,)`.

    Raises:
        ValueError: for several outputs, where it is not known whose classes are weighed.
    """
    if keras.tree.is_nested(y) or y is None:
        raise ValueError(
            "Expected a single output for `class_weight`. Received: batch "
            f"{number} with targets {keras.tree.map_structure(np.shape, y)}. Yield sample weights instead."
        )
    targets = np.asarray(y)
    classes = (
        targets.argmax(-1) if targets.ndim > 1 and targets.shape[-1] > 1 else targets.reshape(len(targets), -1)[:, 0]
    )
    weights = np.asarray([class_weight.get(int(c), 1.0) for c in classes], keras.config.floatx())
    return weights if sample_weight is None else weights * np.asarray(sample_weight)
