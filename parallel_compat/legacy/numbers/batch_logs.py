"""Logs of batches and epochs as Keras 2 counted them: a batch's own values, and their mean over samples.

Keras 3 logs the mean since the epoch began after every batch, counts a function that returns one number and the loss
of one output once a batch, however few samples it has, and weighs a masked metric by what is not masked. In Keras 2.2.4
the callbacks get what the batch alone gave, with its `size`, and `BaseLogger` and `test_loop` average that by samples
(`keras/callbacks.py`, `keras/engine/training_arrays.py`).
"""

from __future__ import annotations

from typing import Any


class BatchLogs(dict[str, Any]):
    """What one batch gave, by today's names of the logs.

    Args:
        values: the logs of the batch alone.
        size: its samples.
        means: the mean over the samples of all batches since the epoch began.
    """

    def __init__(self, values: dict[str, float], size: int, means: dict[str, float]) -> None:
        super().__init__(values)
        self.size = size
        self.means = means


class Totals:
    """Adds up what the batches of an epoch gave.

    >>> totals = Totals()
    >>> totals.add({"loss": 3.0}, 2).means
    {'loss': 3.0}
    >>> totals.add({"loss": 6.0}, 1).means
    {'loss': 4.0}
    """

    def __init__(self) -> None:
        self._samples = 0
        self._sums: dict[str, float] = {}

    def add(self, logs: dict[str, Any], samples: int) -> BatchLogs:
        """Add a batch of so many samples."""
        values = {name: float(value) for name, value in logs.items()}
        self._samples += samples
        for name, value in values.items():
            self._sums[name] = self._sums.get(name, 0.0) + value * samples
        means = {name: total / self._samples for name, total in self._sums.items()} if self._samples else values
        return BatchLogs(values, samples, means)


_TOTALS = "_totals_of_epoch"


def begin(model: Any) -> None:
    """Begin an epoch of a model."""
    vars(model)[_TOTALS] = Totals()


def add(model: Any, logs: dict[str, Any], samples: int) -> BatchLogs:
    """Count a batch in the epoch of a model.

    Args:
        model: the model.
        logs: what the batch gave.
        samples: its samples.
    """
    totals: Totals = vars(model).setdefault(_TOTALS, Totals())
    return totals.add(logs, samples)
