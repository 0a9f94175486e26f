"""Rows of a table (`Embedding`) on a replica, without the table. Read in Keras 3.15.1.

Keras's TensorFlow backend takes rows of a variable by reading all of it first, so that all of it would be sent to each
replica's device. Here the numbers of the rows are sent to where the variable is, and the rows come back; gradients are
sparse either way.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import keras
import tensorflow as tf

from parallel_compat.backend.keras3 import moved_names
from parallel_compat.backend.patches import CORE
from parallel_compat.context_variables import set_within

_may_take: ContextVar[Callable[[keras.Variable], bool] | None] = ContextVar("may_take", default=None)


def on_replica(may_take: Callable[[keras.Variable], bool]) -> contextlib.AbstractContextManager[None]:
    """Let this thread compute one of several replicas.

    Args:
        may_take: says of a variable whether its rows can be taken where it is.
    """
    return set_within(_may_take, may_take)


def is_on_replica() -> bool:
    """Whether this thread computes one of several replicas."""
    return _may_take.get() is not None


def take_rows_where_the_table_is() -> None:
    """Let `keras.ops.take` of a variable gather where the variable is, `on_replica`."""
    CORE.around(moved_names.numpy, "take", _take, why="a replica needs some rows of an embedding, not all of it")


def _take(original: Callable[..., Any], x: Any, indices: Any, axis: int | None = None) -> Any:
    if axis != 0 or not isinstance(x, keras.Variable):
        return original(x, indices, axis)
    may_take = _may_take.get()
    if may_take is None or not may_take(x) or isinstance(indices, (tf.SparseTensor, tf.RaggedTensor)):
        return original(x, indices, axis)
    table = x._value
    indices = tf.convert_to_tensor(indices)
    mirrored = isinstance(table, tf.distribute.DistributedValues)
    if mirrored or not isinstance(table, tf.Variable) or x.value.dtype != table.dtype:  # or of another precision
        return original(x, indices, axis)
    rows = tf.where(indices < 0, indices + tf.cast(tf.shape(table)[0], indices.dtype), indices)
    with tf.device(table.device):
        return tf.gather(table, rows)
