"""Synchronized batch statistics, and other moving statistics than Keras 3's. Read in Keras 3.15.1."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import keras
import keras.src.backend.tensorflow.nn as tensorflow_nn
import tensorflow as tf

from parallel_compat.backend.patches import STEP

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


@contextlib.contextmanager
def synchronized_moments_of(replicas_with_samples: Sequence[Any]) -> Iterator[None]:
    """Let synchronized batch statistics leave out replicas that have no samples of their own.

    Replaces `_compute_moments_sync` of the TensorFlow backend while the replicas are traced: it sums over all
    replicas, and a replica without samples computes a copy of the first sample, which must not be counted twice.

    Args:
        replicas_with_samples: one bool per replica, whether it has samples.
    """

    def moments(x: Any, axes: Any, keepdims: bool) -> tuple[Any, Any]:
        context = tf.distribute.get_replica_context()
        counts = tf.cast(replicas_with_samples[int(tf.get_static_value(context.replica_id_in_sync_group))], x.dtype)
        local = [tf.reduce_sum(value, axes, keepdims=True) for value in (x, tf.square(x), tf.ones_like(x))]
        total, squares, count = context.all_reduce("SUM", [counts * value for value in local])
        mean = total / count
        variance = tf.maximum(squares / count - tf.square(mean), 0.0)
        return (mean, variance) if keepdims else (tf.squeeze(mean, axes), tf.squeeze(variance, axes))

    with STEP.for_a_while(
        tensorflow_nn, "_compute_moments_sync", lambda _: moments, why="replicas without samples count for nothing"
    ):
        yield


_DEBIASED = "_parallel_compat_debiased"


class Debiased:
    """Moving statistics that are not mixed with the values they began with (`zero_debias` of TensorFlow 1).

    The variables are the layer's, but none of its weights: they are not saved, and not listed.

    Args:
        shape: the shape of the statistics.
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.mean, self.variance = (
            keras.Variable(keras.initializers.Zeros(), shape, "float32", trainable=False, name=name)
            for name in ("biased_mean", "biased_variance")
        )
        self.steps = keras.Variable(keras.initializers.Zeros(), (), "float32", trainable=False, name="steps")

    @property
    def variables(self) -> list[keras.Variable]:
        return [self.mean, self.variance, self.steps]

    def after(self, mean: Any, variance: Any, momentum: float) -> tuple[Any, Any]:
        """Take a batch in, and return the statistics after it."""
        steps = self.steps + 1.0
        weight = 1.0 - keras.ops.power(momentum, steps)
        self.steps.assign(steps)
        found = []
        for variable, value in ((self.mean, mean), (self.variance, variance)):
            biased = variable - (variable - value) * (1.0 - momentum)
            variable.assign(biased)
            found.append(biased / weight)
        return found[0], found[1]


def keep_debiased(layer: keras.layers.BatchNormalization) -> None:
    """Give a built layer what it needs to debias its statistics."""
    vars(layer)[_DEBIASED] = Debiased(tuple(layer.moving_mean.shape))


def debiased_of(layer: keras.layers.Layer) -> Debiased | None:
    """Return what `keep_debiased` gave a layer, or None."""
    found: Debiased | None = vars(layer).get(_DEBIASED)
    return found


def call_in_training(
    layer: keras.layers.BatchNormalization, inputs: Any, moving: Callable[[Any, Any, Any], tuple[Any, Any]] | None
) -> Any:
    """Normalise a training batch with its own statistics (`BatchNormalization.call`, `_moments`).

    Args:
        layer: the layer.
        inputs: the batch.
        moving: returns the moving mean and variance for the mean and variance of the batch and the number of values
            that each is of; None to leave them alone.
    """
    dtype = keras.backend.result_type(inputs.dtype, "float32")
    x = keras.ops.cast(inputs, dtype)
    mean, variance = layer._moments(x, None)
    if moving is not None:
        sizes = keras.ops.shape(x)
        samples = 1
        for axis in layer._reduction_axes:
            samples = samples * sizes[axis]
        new_mean, new_variance = moving(mean, variance, keras.ops.cast(samples, dtype))
        layer.moving_mean.assign(new_mean)
        layer.moving_variance.assign(new_variance)
    offset = keras.ops.cast(layer.beta, dtype) if layer.center else None
    scale = keras.ops.cast(layer.gamma, dtype) if layer.scale else None
    outputs = keras.ops.batch_normalization(
        x, mean, variance, layer.axis, offset=offset, scale=scale, epsilon=layer.epsilon
    )
    return keras.ops.cast(outputs, layer.compute_dtype)
