"""Batches cut into epochs for Keras's trainer: when an epoch is over, and what is said when the data ends before."""

from __future__ import annotations

import warnings
import weakref
from typing import Any

import keras
import tensorflow as tf

from parallel_compat.batches.batch import samples_of
from parallel_compat.batches.sources import SequenceSource, Source
from parallel_compat.warning_category import ParallelCompatWarning

_alive: weakref.WeakSet[Epochs] = weakref.WeakSet()


def skip(model: keras.Model, epochs: int, validations: int) -> bool:
    """Let a `fit` that begins go on with its generators and Sequences where it was: what was drawn is drawn again.

    Args:
        validations: after how many of them there was a validation.

    Returns:
        Whether training is on batches that are drawn; False for arrays and datasets.
    """
    mine = [one for one in _alive if one.feeds(model)]
    for one in mine:
        one.skip(epochs if one.is_for("training") else validations)
    return any(one.is_for("training") for one in mine)


class Epochs:
    """Hands a model the batches of a source, epoch after epoch.

    Args:
        steps: the batches of an epoch; None for one pass of a Sequence, or all of a generator.
    """

    def __init__(self, source: Source, model: keras.Model, what: str, steps: int | None) -> None:
        self._source = source
        self._model = model
        self._what = what
        self._steps = steps
        # The train function takes so many batches at once, the last time of an epoch the rest.
        self._at_once = int(getattr(model, "steps_per_execution", None) or 1)
        self.last_samples: int | None = None
        self.error: BaseException | None = None
        self._to_skip = 0
        self.begin()
        _alive.add(self)

    @property
    def length(self) -> int | None:
        """The batches of an epoch, None where it is not known."""
        return self._steps or self._source.batches_per_pass

    def begin(self) -> None:
        """Begin an epoch."""
        self._given = 0
        self._over = False
        self._short = False
        self._limit = self.length

    def skip(self, epochs: int) -> None:
        """Leave out the batches of so many epochs, before the first one is taken."""
        self._to_skip = epochs * (self.length or 0)

    def feeds(self, model: keras.Model) -> bool:
        """Whether it is this model that gets the batches."""
        return self._model is model

    def close(self) -> None:
        """End the threads and processes of the source."""
        self._source.close()
        _alive.discard(self)

    def is_for(self, what: str) -> bool:
        """Whether these are the batches of "training", "validation" or "prediction"."""
        return self._what == what

    def __iter__(self) -> Epochs:
        return self

    def __next__(self) -> Any:
        """Return the next batch.

        Raises:
            StopIteration: at an end where the train function has taken some batches of this execution.
            tf.errors.OutOfRangeError: at any other end; Keras's trainer ends the epoch on it.
        """
        if not self._over and (self._limit is None or self._given < self._limit):
            try:
                while self._to_skip:
                    self._source.draw()
                    self._to_skip -= 1
                batch = self._source.draw()
            except StopIteration:
                self._over = True
                self._warn_of_early_end()
            except tf.errors.OutOfRangeError as error:
                # The user's own error, which Keras's trainer would take for the end of the data.
                self.error = error
                self._over = self._model.stop_training = True
            else:
                self._given += 1
                self.last_samples = samples_of(batch)
                return batch
        if self._given % self._at_once and not self._short:
            self._short = True
            raise StopIteration
        raise tf.errors.OutOfRangeError(None, None, "end of the data")

    def _warn_of_early_end(self) -> None:
        total = self._source.given
        if self._given == 0:
            raise ValueError(
                f"Expected the {self._what} generator to give batches in every epoch. Received: it ended after "
                f"{total} batches, and an epoch found none. Let it yield forever and give the steps of an epoch."
            )
        if self._steps and not isinstance(self._source, SequenceSource):
            warnings.warn(
                f"The {self._what} generator ended after {total} batches, before {self._steps} steps of an epoch were "
                "done. Let it yield forever.",
                ParallelCompatWarning,
                stacklevel=3,
            )
            if self._what == "training":
                self._model.stop_training = True
