"""Synchronized batch statistics. Read in Keras 3.15.1."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from parallel_compat.backend.keras3 import moved_names
from parallel_compat.backend.patches import STEP

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


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
        moved_names.nn, "_compute_moments_sync", lambda _: moments, why="replicas without samples count for nothing"
    ):
        yield
