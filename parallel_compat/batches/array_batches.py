"""Batches of arrays in memory: their order in an epoch, and the slices."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from parallel_compat.backend.keras3.in_memory import ArrayData

# From so many bytes on, the next batch is cut and placed while this one runs; below, handing it over takes longer.
WORTH_A_THREAD = 1 << 20

_map = keras.tree.map_structure
_thread = ThreadPoolExecutor(1, thread_name_prefix="parallel_compat batches")


def order_of_epoch(samples: int, batch_size: int, shuffle: Any) -> np.ndarray[Any, Any] | None:
    """Return the order in which an epoch takes its samples, or None for that of the arrays.

    Args:
        shuffle: whether the order is random; "batch" for a random order within each batch.
    """
    if not shuffle:
        return None
    if shuffle != "batch":
        return np.asarray(tf.random.shuffle(tf.range(samples)))
    starts = range(0, samples, batch_size)
    return np.concatenate([np.asarray(tf.random.shuffle(tf.range(i, min(i + batch_size, samples)))) for i in starts])


def batches(data: ArrayData, shuffle: Any = False) -> Iterator[Any]:
    """Yield an epoch's batches: tensors in the structure of the data, the next one ready while this one runs."""
    order = order_of_epoch(data.samples, data.batch_size, shuffle)

    def batch(start: int) -> Any:
        stop = min(start + data.batch_size, data.samples)
        if order is None and start == 0 and stop == data.samples:
            return data.data
        cut = slice(start, stop) if order is None else order[start:stop]
        return _map(lambda leaf: None if leaf is None else leaf[cut], data.data)

    def placed(start: int) -> Any:
        return _map(lambda leaf: None if leaf is None else tf.constant(leaf), batch(start))

    starts = range(0, data.samples, data.batch_size)
    if len(starts) == 1 or data.bytes // len(starts) < WORTH_A_THREAD:
        yield from map(batch, starts)
        return
    following = _thread.submit(placed, starts[0])
    for start in starts[1:]:
        ready, following = following.result(), _thread.submit(placed, start)
        yield ready
    yield following.result()
