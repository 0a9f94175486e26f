"""Synchronized batch statistics. Read in Keras 3.15.1."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any

import keras
import tensorflow as tf

from parallel_compat.backend.patches import CORE
from parallel_compat.context_variables import set_within

_with_samples: ContextVar[Sequence[Any] | None] = ContextVar("with_samples", default=None)


def synchronized_moments_of(replicas_with_samples: Sequence[Any]) -> contextlib.AbstractContextManager[None]:
    """Let synchronized batch statistics of this thread leave out replicas that have no samples of their own."""
    return set_within(_with_samples, replicas_with_samples)


def take_statistics_of_all_replicas() -> None:
    """Let synchronized batch statistics be those of one device, by `BatchNormalization._moments`.

    Keras's own count a replica without samples, which computes a copy of the first sample; behind a mask they are each
    replica's; and their gradient needs the replica contexts of the forward pass.
    """
    why = "synchronized statistics are those of all samples, also behind a mask"
    CORE.around(keras.layers.BatchNormalization, "_moments", _of_all_samples, why=why)


def _of_all_samples(original: Callable[..., Any], self: Any, inputs: Any, mask: Any) -> Any:
    with_samples = _with_samples.get()
    if with_samples is None or not self.synchronized:
        return original(self, inputs, mask)
    replica = int(tf.get_static_value(tf.distribute.get_replica_context().replica_id_in_sync_group))
    counted = tf.ones_like(inputs)
    if mask is not None:
        counted *= tf.cast(mask, inputs.dtype)[..., None]
    counted *= tf.cast(with_samples[replica], inputs.dtype)
    kept = tf.math.multiply_no_nan(inputs, counted)
    rank = len(inputs.shape)
    axes = [axis for axis in range(rank) if axis != self.axis % rank]
    total, squares, count = _sums_of_replicas(*(tf.reduce_sum(v, axes) for v in (kept, tf.square(kept), counted)))
    divisor = count if mask is None else count + keras.config.epsilon()
    mean = total / divisor
    variance = (squares - 2 * mean * total + tf.square(mean) * count) / divisor
    return mean, tf.maximum(variance, 0.0)


@tf.custom_gradient  # type: ignore[untyped-decorator]
def _sums_of_replicas(*parts: Any) -> Any:
    """Add up values over all replicas; the way back is in another `strategy.run`, of other replica contexts."""

    def add(*values: Any) -> Any:
        return tf.distribute.get_replica_context().all_reduce("SUM", values)

    return add(*parts), add
