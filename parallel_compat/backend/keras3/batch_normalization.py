"""Synchronized batch statistics. Read in Keras 3.15.1."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any

import tensorflow as tf

from parallel_compat.backend.keras3 import moved_names
from parallel_compat.backend.patches import CORE
from parallel_compat.context_variables import set_within

_with_samples: ContextVar[Sequence[Any] | None] = ContextVar("with_samples", default=None)


def synchronized_moments_of(replicas_with_samples: Sequence[Any]) -> contextlib.AbstractContextManager[None]:
    """Let synchronized batch statistics of this thread leave out replicas that have no samples of their own.

    Args:
        replicas_with_samples: one bool per replica, whether it has samples.
    """
    return set_within(_with_samples, replicas_with_samples)


def leave_out_empty_replicas() -> None:
    """Make `synchronized_moments_of` possible, by `_compute_moments_sync` of the TensorFlow backend.

    It sums over all replicas, and a replica without samples computes a copy of the first sample, which must not be
    counted twice.
    """
    CORE.wrap(
        moved_names.nn, "_compute_moments_sync", _of_samples_alone, why="replicas without samples count for nothing"
    )


def _of_samples_alone(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def moments(x: Any, axes: Any, keepdims: bool) -> Any:
        with_samples = _with_samples.get()
        if with_samples is None:
            return original(x, axes, keepdims)
        context = tf.distribute.get_replica_context()
        counts = tf.cast(with_samples[int(tf.get_static_value(context.replica_id_in_sync_group))], x.dtype)
        local = [tf.reduce_sum(value, axes, keepdims=True) for value in (x, tf.square(x), tf.ones_like(x))]
        total, squares, count = _sums_of_replicas(*[counts * value for value in local])
        mean = total / count
        variance = tf.maximum(squares / count - tf.square(mean), 0.0)
        return (mean, variance) if keepdims else (tf.squeeze(mean, axes), tf.squeeze(variance, axes))

    return moments


@tf.custom_gradient  # type: ignore[untyped-decorator]
def _sums_of_replicas(*parts: Any) -> Any:
    """Add up values over all replicas; the way back is in another `strategy.run`, of other replica contexts."""

    def add(*values: Any) -> Any:
        return tf.distribute.get_replica_context().all_reduce("SUM", values)

    return add(*parts), add
