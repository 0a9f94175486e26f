"""`experimental.preprocessing.Normalization` of TensorFlow 2.2, whose weights were all that it knew.

It took the statistics in floats of 64 bits: in 32 bits the variance of 64 photographs is 0.3% off. It kept how many
numbers it had seen, so that `adapt(..., reset_state=False)` went on from there, and divided by the variance that its
weights held, so that `set_weights` took effect. Today's layer keeps tensors beside its weights, which `set_weights` and
a checkpoint do not reach. Read in TensorFlow 2.2.3's `layers/preprocessing/normalization.py`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

if TYPE_CHECKING:
    from collections.abc import Iterable


def has_statistics(layer: Any) -> bool:
    """Say whether a layer takes its statistics from data, and was not given them when it was made."""
    return layer.input_mean is None


def adapt(layer: Any, data: Any, reset_state: bool = True) -> None:
    """Take the statistics of data.

    Args:
        layer: the layer.
        data: an array, a tensor, or a `tf.data.Dataset` of batches.
        reset_state: whether to forget the data that it was adapted to before.

    Raises:
        RuntimeError: it is to go on from weights that do not say of how many numbers they are.
        ValueError: the data is of another kind, without an end, or empty.
    """
    batches, count = _batches(data), 0
    mean: Any = np.float64(0)
    variance: Any = np.float64(0)
    if not reset_state and layer.built:
        mean, variance = (np.asarray(weight, np.float64) for weight in (layer.adapt_mean, layer.adapt_variance))
        count = int(np.asarray(layer.count))
        if not count and (mean.any() or (variance != 1).any()):
            raise RuntimeError(
                "Expected `count` to be set where `mean` and `variance` are, for `adapt(..., reset_state=False)` to go "
                "on from them. Received: count=0. Give `set_weights` all three, or let the state be reset."
            )
    for batch in batches:
        if not layer.built:
            layer.build(batch.shape)
        reduced = tuple(axis for axis in range(batch.ndim) if axis not in _kept(layer, batch.ndim))
        here = math.prod(batch.shape[axis] for axis in reduced)
        mean_here, variance_here = np.mean(batch, reduced, np.float64), np.var(batch, reduced, np.float64)
        if not here:
            continue
        total = (mean * count + mean_here * here) / (count + here)
        variance = (
            count * (variance + np.square(mean - total)) + here * (variance_here + np.square(mean_here - total))
        ) / (count + here)
        count, mean = count + here, total
    if not count:
        raise ValueError("Expected data to take a mean and a variance of. Received: none")
    for weight, value in ((layer.adapt_mean, mean), (layer.adapt_variance, variance), (layer.count, count)):
        weight.assign(value)
    layer.finalize_state()


def show_weights(layer: Any) -> None:
    """Let `mean` and `variance` be the weights, as they were."""
    # Past `__setattr__` of Keras, which would list them once more.
    vars(layer).update(mean=layer.adapt_mean, variance=layer.adapt_variance)


def call(layer: Any, inputs: Any) -> Any:
    """Return inputs less the mean that the weights hold, over the square root of the variance that they hold."""
    inputs = tf.cast(tf.convert_to_tensor(inputs), layer.compute_dtype)
    kept = _kept(layer, len(inputs.shape))
    shape = [inputs.shape[axis] if axis in kept else 1 for axis in range(len(inputs.shape))]
    mean, variance = (
        tf.reshape(tf.cast(weight, layer.compute_dtype), shape) for weight in (layer.adapt_mean, layer.adapt_variance)
    )
    return (inputs - mean) / tf.sqrt(variance)


def with_count(layer: Any, weights: Any) -> Any:
    """Return the arrays of `set_weights`, which were enough without the count of the numbers."""
    return [*weights, np.array(0)] if has_statistics(layer) and len(weights) == 2 else weights


def _kept(layer: Any, rank: int) -> set[int]:
    return {axis % rank for axis in layer.axis}


def _batches(data: Any) -> Iterable[Any]:
    if isinstance(data, tf.data.Dataset):
        if data.cardinality() == tf.data.INFINITE_CARDINALITY:
            raise ValueError(
                "Expected data with an end for `adapt`. Received: a data set without one. Give `data.take(...)`."
            )
        batches: Iterable[Any] = data.as_numpy_iterator()
        return batches
    if not isinstance(data, (np.ndarray, tf.Tensor)):
        raise ValueError(
            "Expected an array, a tensor or a `tf.data.Dataset` of batches for `adapt`. Received: "
            f"{type(data).__name__}"
        )
    return [np.asarray(data)]
