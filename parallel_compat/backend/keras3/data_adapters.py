"""What `fit`, `evaluate` and `predict` take their batches from. Read in Keras 3.15.1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from keras.src.trainers.data_adapters import data_adapter_utils
from keras.src.trainers.data_adapters.data_adapter import DataAdapter
from keras.src.trainers.data_adapters.tf_dataset_adapter import TFDatasetAdapter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import keras
    import tensorflow as tf


class BatchAdapter(DataAdapter):  # type: ignore[misc]  # Keras carries no types
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

    @property
    def may_grow(self) -> bool:
        """Whether each epoch has to ask for `num_batches`."""
        return getattr(self._epochs, "may_grow", False)

    @property
    def batch_size(self) -> None:
        return None

    @property
    def has_partial_batch(self) -> None:
        return None

    @property
    def partial_batch_size(self) -> None:
        return None


class DatasetAdapter(TFDatasetAdapter):  # type: ignore[misc]  # Keras carries no types
    """Feeds a data set to `fit` and `evaluate`, and says when it ends before an epoch does.

    `TFEpochIterator` tells it, as `patch_points.of_ends_of_data` has it.

    Args:
        dataset: the data set.
        goes_on: whether one iterator is for all epochs, whatever the length; else each has one of its own.
        learns_length: whether an unknown length is known after the first epoch, and others are to be as long.
        ended: called with the batches that an epoch had which was to have more.
        one_before: whether each pass makes an iterator that nobody reads before its own.
    """

    def __init__(
        self,
        dataset: tf.data.Dataset,
        goes_on: bool,
        learns_length: bool,
        ended: Callable[[int], object],
        one_before: bool = False,
    ) -> None:
        super().__init__(dataset)
        self._one_before = one_before
        self._goes_on = goes_on
        self._learns_length = learns_length
        self._ended = ended
        self._learned: int | None = None

    @property
    def num_batches(self) -> int | None:
        if self._goes_on:
            return None
        known: int | None = super().num_batches
        return self._learned if known is None else known

    def on_epoch_begin(self) -> None:
        if self._one_before:
            iter(self.get_tf_dataset())

    def ran_out(self, batches: int) -> None:
        """Take note of the end of the data, after so many batches of an epoch.

        Args:
            batches: how many.
        """
        if self._goes_on or self.num_batches is not None or not batches:
            self._ended(batches)
        elif self._learns_length:
            self._learned = batches


def is_built_under_a_strategy(model: keras.Model) -> bool:
    """Whether a model was made under a `tf.distribute` strategy (`Trainer._distribute_strategy`)."""
    return getattr(model, "_distribute_strategy", None) is not None


def has_sparse_inputs(model: keras.Model) -> bool:
    """Whether an input of a model is sparse; a functional model itself makes dense what comes to the others.

    Args:
        model: a model of any kind.
    """
    return any(getattr(each, "sparse", False) for each in getattr(model, "inputs", None) or ())


def settings_of_sequence(sequence: Any, names: Iterable[str]) -> dict[str, Any]:
    """Return how a Sequence wants to be drawn, if it called `super().__init__` (`PyDataset._workers` and so on).

    Args:
        sequence: a `keras.utils.PyDataset`.
        names: the arguments of its `__init__` that are asked for.
    """
    settings = {name: vars(sequence).get(f"_{name}") for name in names}
    return {name: value for name, value in settings.items() if value is not None}


is_scipy_sparse = data_adapter_utils.is_scipy_sparse
scipy_sparse_to_tensor = data_adapter_utils.scipy_sparse_to_tf_sparse
