"""Epochs over arrays in memory, counted as in Keras 2: see `batch_logs`."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import keras
import tensorflow as tf

from parallel_compat.backend import keras3
from parallel_compat.backend.keras3 import patch_points
from parallel_compat.legacy.numbers import batch_logs
from parallel_compat.legacy.numbers.batch_logs import BatchLogs, MeanMetrics, Totals
from parallel_compat.names.eras import Era
from parallel_compat.training.in_memory import EpochLogs

if TYPE_CHECKING:
    from parallel_compat.training.step_function import Results

# So many batches' logs wait on the device for somebody to read them; they are then read together.
WAITING = 256


_MEANS = "_parallel_compat_all_means"


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
            values = dict(zip(results.names, row.tolist(), strict=True))
            if results.others:
                values.update(keras3.plain_logs(results.others))
            self._logs = self._count(values, samples)
        self._waiting.clear()
        return self._logs or {}

    def _count(self, values: dict[str, float], samples: int) -> BatchLogs:
        return self._totals.add(values, samples)

    def of_epoch(self) -> dict[str, Any]:
        self.of_batch()
        return dict(self._logs.means) if self._logs is not None else {}

    def state_of_epoch(self) -> dict[str, Any]:
        self.of_batch()
        return {"totals": self._totals.state_of_epoch()}

    def go_on_from(self, state: dict[str, Any]) -> None:
        self._totals.go_on_from(state["totals"])


class EpochLogsOfTfKeras(EpochLogsOfKeras2):
    """The logs of an epoch of `tf.keras`: metrics go on from batch to batch, losses are counted for themselves.

    Args:
        model: the model.
        data: what it is fed.
        era: the era of the model.
    """

    alone = False

    def __init__(self, model: keras.Model, data: keras3.ArrayData, era: Era) -> None:
        super().__init__(model, data)
        self._model = model
        self._era = era
        self._samples = self._batches = 0
        self._before: dict[str, float] = {}

    def _count(self, values: dict[str, float], samples: int) -> BatchLogs:
        # The step gives means since the epoch began: of the loss over samples, of those of outputs over batches.
        own, seen = dict(values), self._samples
        number = batch_logs.values_of_batch(self._model, samples, self._era)
        weight = samples * number
        own["loss"] = (values["loss"] * (seen + weight) - self._before.get("loss", 0.0) * seen) / weight
        of_outputs = patch_points.output_loss_trackers(self._model) if self._era is Era.TF_KERAS_2_2 else []
        names = [tracker.name for tracker in of_outputs if tracker.name in values]
        for name in names:
            before = self._before.get(name, 0.0) * self._batches
            own[name] = (values[name] * (self._batches + number) - before) / number
        self._before = values
        self._samples += weight
        self._batches += number
        counted = self._totals.add(own, batch_logs.weight_of_batch(self._model, weight, self._era), {"loss", *names})
        batch_logs.count_with(self._model, self._totals)
        return counted if self._era.has_graphs else BatchLogs(counted.means, samples, counted.means)

    def state_of_epoch(self) -> dict[str, Any]:
        counted = super().state_of_epoch()
        return {**counted, "samples": self._samples, "batches": self._batches, "before": dict(self._before)}

    def go_on_from(self, state: dict[str, Any]) -> None:
        super().go_on_from(state)
        self._samples, self._batches, self._before = state["samples"], state["batches"], state["before"]


def of_model(model: keras.Model, data: keras3.ArrayData, era: Era) -> EpochLogs:
    """Count as the era of a model did, and as Keras 3 where a metric of Keras 2.2.4's time is no mean."""
    if era is Era.TODAY:
        return EpochLogs(model, data)
    if era is not Era.KERAS_2_2_4:
        return EpochLogsOfTfKeras(model, data, era)
    return (EpochLogsOfKeras2 if _all_means(model, data) else EpochLogs)(model, data)


def _all_means(model: keras.Model, data: keras3.ArrayData) -> bool:
    """Whether all metrics are means; kept until the model is compiled again."""
    compiled = keras3.compiled_parts(model)
    kept = vars(model).get(_MEANS)
    if kept is not None and all(map(operator.is_, kept[0], compiled)):
        return bool(kept[1])
    _, y, sample_weight = keras.utils.unpack_x_y_sample_weight(data.data)
    built = keras3.build_compiled(model, y, sample_weight)
    found = MeanMetrics(model).all_means
    if built:
        vars(model)[_MEANS] = (compiled, found)
    return found
