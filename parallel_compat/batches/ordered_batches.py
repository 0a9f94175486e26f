"""Batches of arrays in an order that the caller draws, epoch by epoch."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import keras
import numpy as np
import tensorflow as tf

from parallel_compat.backend import keras3

if TYPE_CHECKING:
    from collections.abc import Callable


class ArrayEpochs:
    """Hands a model the batches of arrays, epoch after epoch.

    Args:
        data: `(x,)`, `(x, y)` or `(x, y, sample_weight)`, structures of arrays or scipy's sparse matrices.
        batch_size: samples of a batch; the last one has what is left.
        draw_order: called at the beginning of each epoch with the samples and the batch size; returns an order.
        at_once: how many batches the train function takes at once.
        passes: how often the arrays are passed through, where the steps of an epoch are given: an epoch goes on from
            where the one before it ended. None to begin anew in each epoch.
        sparse: whether scipy's matrices in `x` become sparse tensors; all others become dense.
        ended: called with the batches of an epoch in which the passes are over.
    """

    def __init__(
        self,
        data: tuple[Any, ...],
        batch_size: int,
        draw_order: Callable[[int, int], Any],
        at_once: int = 1,
        passes: int | None = None,
        sparse: bool = False,
        ended: Callable[[int], object] | None = None,
    ) -> None:
        self._data = keras.tree.map_structure(_ready, keras.tree.lists_to_tuples(data))
        self._batch_size = batch_size
        self._draw_order = draw_order
        self._at_once = at_once
        self._samples = samples_of_arrays(data)
        self._order: Any = np.arange(self._samples)
        self._given = 0
        self._short = False
        self._passes = passes
        self._goes_on = False
        self._sparse = sparse
        self._ended = ended
        self._given_in_epoch = 0

    @property
    def length(self) -> int:
        """The batches of an epoch."""
        return -(-self._samples // self._batch_size)

    def begin(self) -> None:
        """Begin an epoch."""
        self._given_in_epoch = 0
        if self._goes_on:
            self._short = False
            return
        self._goes_on = self._passes is not None
        self._begin_pass()

    def _begin_pass(self) -> None:
        if self._passes is not None:
            self._passes -= 1
        self._order = self._draw_order(self._samples, self._batch_size)
        self._given = 0
        self._short = False

    def __iter__(self) -> ArrayEpochs:
        return self

    def __next__(self) -> Any:
        """Return the next batch; see `Epochs.__next__` for what it raises at the end."""
        if self._passes and self._given == self.length:
            self._begin_pass()
        start = self._given * self._batch_size
        if start >= self._samples:
            if self._passes is not None and self._ended is not None and not self._short:
                self._ended(self._given_in_epoch)
            if self._given % self._at_once and not self._short:
                self._short = True
                raise StopIteration
            raise tf.errors.OutOfRangeError(None, None, "end of the data")
        self._given += 1
        self._given_in_epoch += 1
        chosen = self._order[start : start + self._batch_size]
        return tuple(
            keras.tree.map_structure(functools.partial(_cut, chosen=chosen, sparse=self._sparse and part == 0), each)
            for part, each in enumerate(self._data)
        )


def adapter(
    data: tuple[Any, ...],
    batch_size: int,
    draw_order: Callable[[int, int], Any],
    at_once: int = 1,
    passes: int | None = None,
    sparse: bool = False,
    ended: Callable[[int], object] | None = None,
) -> Any:
    """Return what to give to `fit` for arrays; see `ArrayEpochs`."""
    return keras3.BatchAdapter(
        ArrayEpochs(data, batch_size, draw_order, at_once, passes, sparse, ended), passes is not None
    )


def samples_of_arrays(data: Any) -> int:
    """Return the samples of a structure of arrays.

    Raises:
        ValueError: if the arrays differ in their number.
    """
    counts = {int(leaf.shape[0]) for leaf in keras.tree.flatten(data) if leaf is not None}
    if len(counts) != 1:
        raise ValueError(
            f"Expected as many samples in each array of `x`, `y` and `sample_weight`. Received: arrays of "
            f"{sorted(counts)} samples. Cut them to one length."
        )
    return counts.pop()


def _ready(leaf: Any) -> Any:
    if leaf is not None and keras3.is_scipy_sparse(leaf):
        return leaf.tocsr()
    if isinstance(leaf, np.ndarray) and leaf.dtype.kind == "f":
        return leaf.astype(keras.config.floatx(), copy=False)
    return leaf


def _cut(leaf: Any, chosen: Any, sparse: bool) -> Any:
    if leaf is None:
        return None
    if keras3.is_scipy_sparse(leaf):
        if sparse:
            return keras3.scipy_sparse_to_tensor(leaf[chosen].astype(keras.config.floatx()))
        return tf.convert_to_tensor(leaf[chosen].toarray().astype(keras.config.floatx()))
    return tf.convert_to_tensor(leaf[chosen])
