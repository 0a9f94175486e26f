"""Epochs over arrays in memory, counted as in Keras 2: see `batch_logs`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import keras
import tensorflow as tf

from parallel_compat.backend import keras3
from parallel_compat.legacy.numbers.batch_logs import MeanMetrics, Totals
from parallel_compat.training.in_memory import EpochLogs

if TYPE_CHECKING:
    from parallel_compat.training.step_function import Results

# So many batches' logs wait on the device for somebody to read them; they are then read together.
WAITING = 256


class EpochLogsOfKeras2(EpochLogs):
    """The logs of an epoch: each batch's own, and their mean over samples.

    Args:
        model: the model.
        data: what it is fed.
    """

    alone = True

    def __init__(self, model: keras.Model, data: keras3.ArrayData) -> None:
        super().__init__(model, data)
        self._totals = Totals()
        self._waiting: list[tuple[Results, int]] = []
        self._logs: Any = None

    def add(self, results: Results, samples: int) -> None:
        self._waiting.append((results, samples))
        if len(self._waiting) == WAITING:
            self.of_batch()

    def of_batch(self) -> dict[str, Any]:
        if len(self._waiting) > 1:
            rows = tf.stack([results.vector for results, _ in self._waiting]).numpy()
        else:
            rows = [results.vector.numpy() for results, _ in self._waiting]
        for (results, samples), row in zip(self._waiting, rows, strict=True):
            self._logs = self._totals.add(dict(zip(results.names, row.tolist(), strict=True)), samples)
        self._waiting.clear()
        return self._logs or {}

    def of_epoch(self) -> dict[str, Any]:
        self.of_batch()
        return dict(self._logs.means) if self._logs is not None else {}


def of_model(model: keras.Model, data: keras3.ArrayData) -> EpochLogs:
    """Count as in Keras 2 where each metric is a mean, as in Keras 3 where one is not."""
    _, y, sample_weight = keras.utils.unpack_x_y_sample_weight(data.data)
    keras3.build_compiled(model, y, sample_weight)
    return (EpochLogsOfKeras2 if MeanMetrics(model).all_means else EpochLogs)(model, data)
