"""Rows of a table (`Embedding`) on a replica, without the table. Read in Keras 3.15.1.

Keras's TensorFlow backend takes rows of a variable by reading all of it first, so that all of it would be sent to each
replica's device. Here the numbers of the rows are sent to where the variable is, and the rows come back; gradients are
sparse either way.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import keras
import tensorflow as tf
from keras.src.backend.common import stateless_scope

from parallel_compat.backend.keras3 import moved_names
from parallel_compat.backend.patches import CORE

if TYPE_CHECKING:
    from collections.abc import Callable


def take_rows_where_the_table_is() -> None:
    """Let `keras.ops.take` of a variable in a scope that has `takes_rows` gather where the variable is."""
    CORE.wrap(moved_names.numpy, "take", _take, why="a replica needs some rows of an embedding, not all of it")


def _take(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def take(x: Any, indices: Any, axis: int | None = None) -> Any:
        if axis != 0 or not isinstance(x, keras.Variable):
            return original(x, indices, axis)
        takes_rows = getattr(stateless_scope.get_stateless_scope(), "takes_rows", None)
        if takes_rows is None or not takes_rows(x) or isinstance(indices, (tf.SparseTensor, tf.RaggedTensor)):
            return original(x, indices, axis)
        table = x._value
        indices = tf.convert_to_tensor(indices)
        mirrored = isinstance(table, tf.distribute.DistributedValues)
        if mirrored or not isinstance(table, tf.Variable) or x.value.dtype != table.dtype:  # or of another precision
            return original(x, indices, axis)
        rows = tf.where(indices < 0, indices + tf.cast(tf.shape(table)[0], indices.dtype), indices)
        with tf.device(table.device):
            return tf.gather(table, rows)

    return take
