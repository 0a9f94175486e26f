"""Logs of batches and epochs as Keras 2 counted them: a batch's own values, and their mean over samples.

Keras 3 logs the mean since the epoch began after every batch, counts a function that returns one number and the loss
of one output once a batch, however few samples it has, and weighs a masked metric by what is not masked. In Keras 2.2.4
the callbacks get what the batch alone gave, with its `size`, and `BaseLogger` and `test_loop` average that by samples
(`keras/callbacks.py`, `keras/engine/training_arrays.py`).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import keras

from parallel_compat.backend.keras3 import patch_points
from parallel_compat.legacy.numbers.logs import Logs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from parallel_compat.backend.keras3.patch_points import Point


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


_TOTALS = "_parallel_compat_totals_of_epoch"


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


class MeanMetrics:
    """The metrics of a compiled model, if they can be computed batch by batch.

    Args:
        model: a compiled model.
    """

    def __init__(self, model: Any) -> None:
        self._loss = patch_points.loss_tracker(model)
        parts = [getattr(metric, "metrics", [metric]) for metric in model.metrics]
        self._metrics = [metric for part in parts for metric in part]

    @property
    def all_means(self) -> bool:
        """Whether each of them is a mean, and the samples of a batch are known."""
        return self._loss is not None and all(isinstance(metric, keras.metrics.Mean) for metric in self._metrics)

    def reset(self) -> None:
        """Forget the batches before."""
        for metric in self._metrics:
            metric.reset_state()

    def samples(self) -> int:
        """Return the samples since `reset`: they are what the loss is weighted by."""
        return round(float(keras.ops.convert_to_numpy(self._loss.count)))


def points(applies: Callable[[Any], bool]) -> Iterator[Point]:
    """Yield where batches are trained and evaluated, and their logs go to callbacks, with what is done there.

    Args:
        applies: called with the model; says whether its batches shall be counted as in Keras 2.
    """
    yield from patch_points.of_functions_of_a_step(lambda name: partial(_batch_by_batch, name=name, applies=applies))
    yield from patch_points.of_metric_resets(_beginning)
    yield from patch_points.of_results(_means_of_epoch)
    yield from patch_points.of_batch_ends(lambda hook: partial(_giving_batch_logs, hook=hook))


def _batch_by_batch(original: Any, name: str, applies: Callable[[Any], bool]) -> Any:
    def make(self: Any, force: bool = False) -> Any:
        is_new = getattr(self, name) is None or force
        result = original(self, force)
        function = getattr(self, name)
        if not (is_new and applies(self) and self.steps_per_execution == 1):
            return result

        def of_one_batch(iterator: Any) -> Any:
            before = MeanMetrics(self)
            if before.all_means:
                before.reset()
            logs = function(iterator)
            after = MeanMetrics(self)  # the first batch has made the metrics
            return add(self, logs, after.samples()) if after.all_means else logs

        setattr(self, name, of_one_batch)
        return of_one_batch

    return make


def _beginning(original: Any) -> Any:
    def reset_metrics(self: Any) -> None:
        original(self)
        begin(self)

    return reset_metrics


def _means_of_epoch(original: Any) -> Any:
    def results(self: Any, logs: Any) -> Any:
        return dict(logs.means) if isinstance(logs, BatchLogs) else original(self, logs)

    return results


def _giving_batch_logs(original: Any, hook: str) -> Any:
    def give(self: Any, batch: int, logs: Any = None) -> None:
        if not isinstance(logs, BatchLogs):
            original(self, batch, logs)
            return
        given, means = Logs(logs), Logs(logs.means)
        given.unlisted = {"batch": batch, "size": logs.size}
        for callback in self.callbacks:
            is_bar = isinstance(callback, keras.callbacks.ProgbarLogger)
            getattr(callback, hook)(batch, logs=means if is_bar else given)

    return give
