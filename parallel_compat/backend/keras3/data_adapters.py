"""What `fit`, `evaluate` and `predict` take their batches from. Read in Keras 3.15.1."""

from __future__ import annotations

import functools
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from keras.src.trainers.data_adapters.array_data_adapter import ArrayDataAdapter


class BatchAdapter(ArrayDataAdapter.__base__):  # type: ignore[misc]  # Keras carries no types
    """Feeds plain python batches to `fit`, `evaluate` and `predict`, past `tf.data`.

    The trainer of the TensorFlow backend takes any iterable from `get_tf_dataset`, as long as the model has no
    `tf.distribute` strategy of its own, and takes `OutOfRangeError` for the end of the data.

    Args:
        epochs: an iterator over batches, tuples `(x,)`, `(x, y)` or `(x, y, sample_weight)`, with a method `begin` that
            begins an epoch, and the batches of an epoch as its `length`.
        steps_are_given: whether the caller of `fit` says how many steps an epoch has; Keras then does not get `length`.
    """

    def __init__(self, epochs: Any, steps_are_given: bool) -> None:
        self._epochs = epochs
        self._steps_are_given = steps_are_given

    def get_tf_dataset(self) -> Any:
        return self._epochs

    def on_epoch_begin(self) -> None:
        self._epochs.begin()

    @property
    def num_batches(self) -> int | None:
        length: int | None = None if self._steps_are_given else self._epochs.length
        return length

    batch_size = has_partial_batch = partial_batch_size = None  # nobody knows


def is_built_under_a_strategy(model: keras.Model) -> bool:
    """Whether a model trains under a `tf.distribute` strategy."""
    return model.distribute_strategy is not _no_strategy()


@functools.cache
def _no_strategy() -> Any:
    """Return what stands for no strategy: a new thread is in no scope."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(tf.distribute.get_strategy).result()


def is_scipy_sparse(x: Any) -> bool:
    """Whether something is a sparse matrix or array of SciPy."""
    return type(x).__module__.startswith("scipy.sparse") and hasattr(x, "tocoo")


def scipy_sparse_to_tensor(x: Any) -> tf.SparseTensor:
    """Return a sparse matrix of SciPy as a tensor."""
    entries = x.tocoo()
    return tf.SparseTensor(np.stack([entries.row, entries.col], axis=1), entries.data, entries.shape)
