"""The metric that an era made of a metric function: how it masks, weighs and averages.

Keras 2.2.4 made one number of each batch and averaged those by samples (`weighted_masked_objective`, `BaseLogger`).
`tf.keras` summed over an epoch, divided by the weights, and broadcast them along the first axes; that of TensorFlow
1.15 (and Keras 2.3) took a mask for weights, that of 2.2 for a weighted metric alone (`compile_utils.py`).
"""

from __future__ import annotations

import contextlib
from contextvars import ContextVar, Token
from typing import TYPE_CHECKING, Any

import keras
import tensorflow as tf

from parallel_compat.backend import keras3
from parallel_compat.legacy import pending_updates, streaming_metrics
from parallel_compat.names.eras import Era

if TYPE_CHECKING:
    from collections.abc import Callable


class MetricOfEra(keras.metrics.Mean):  # type: ignore[misc]  # Keras carries no types
    """A metric function's mean over an epoch, as an era took it.

    Args:
        function: takes `(y_true, y_pred)` and returns numbers.
        name: under which it is logged.
        era: the era.
        weighted: whether it heeds sample weights.
    """

    def __init__(self, function: Callable[[Any, Any], Any], name: str, era: Era, weighted: bool = False) -> None:
        super().__init__(name=name)
        self._function = function
        self._era = era
        self._weighted = weighted

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        mask = keras3.get_mask(y_pred)
        weights = sample_weight if self._weighted else None
        # A tensor of its own: Keras 3's cross-entropies look for logits on the output's.
        y_pred = tf.identity(tf.cast(y_pred, self.dtype))
        y_true = tf.cast(y_true, self.dtype)
        if y_true.shape.rank == 1 and y_pred.shape.rank == 2:
            y_true = y_true[:, None]
        mask, weights = (None if each is None else tf.cast(each, self.dtype) for each in (mask, weights))
        if self._era is Era.KERAS_2_2_4:
            values = self._values(y_true, y_pred)
            count = tf.cast(tf.shape(y_pred)[0], self.dtype)
            self._add(one_number(values, mask, weights) * count, count)
            return
        y_true, y_pred = of_same_rank(y_true, y_pred)
        values = self._values(y_true, y_pred)
        if self._era is Era.TF_KERAS_2_2 and not self._weighted:
            mask = None
        if weights is not None and weights.shape.rank == 1 and y_pred.shape.rank == 2:
            weights = weights[:, None]
        if mask is not None:
            weights = mask if weights is None else mask * _for_rank(weights, mask)
        if weights is None:
            self._add(tf.reduce_sum(values), tf.cast(tf.size(values), self.dtype))
            return
        values, weights = _broadcast(values, weights)
        self._add(tf.reduce_sum(values * weights), tf.reduce_sum(weights))

    def _values(self, y_true: Any, y_pred: Any) -> Any:
        with streaming_metrics.counting_in(self):
            return tf.cast(self._function(y_true, y_pred), self.dtype)

    def _add(self, total: Any, count: Any) -> None:
        self.total.assign_add(total)
        self.count.assign_add(count)

    def get_config(self) -> dict[str, Any]:
        raise NotImplementedError("A metric of a compiled model is written by the name that it was compiled with.")


def update_mean(metric: keras.metrics.Mean, values: Any, sample_weight: Any = None) -> None:
    """Add values to a mean as tf.keras 2 did: each number counts, where today each first row does.

    >>> mean = keras.metrics.Mean()
    >>> update_mean(mean, [[1.0, 2.0, 3.0, 4.0]])
    >>> update_mean(mean, [5.0])
    >>> float(mean.result())
    3.0

    Args:
        metric: the mean.
        values: numbers of any shape.
        sample_weight: one weight for all, or weights along the first axes; `None` for 1.
    """
    values = tf.cast(values, metric.dtype)
    if sample_weight is None:
        metric.total.assign_add(tf.reduce_sum(values))
        metric.count.assign_add(tf.cast(tf.size(values), metric.dtype))
        return
    weights = tf.cast(sample_weight, metric.dtype)
    if weights.shape.rank == 0:
        weights = weights * tf.ones_like(values)
    else:
        values, weights = _broadcast(values, weights)
    metric.total.assign_add(tf.reduce_sum(values * weights))
    metric.count.assign_add(tf.reduce_sum(weights))


_keeps_counts: ContextVar[bool] = ContextVar("stateful metrics keep their counts", default=False)


def count_on() -> Token[bool]:
    """Let `StatefulMetric` go on from what it counted, as in Keras 2.2.4's `train_on_batch`, which reset none.

    Returns:
        What `count_on_no_more` takes.
    """
    return _keeps_counts.set(True)


def count_on_no_more(before: Token[bool]) -> None:
    """End what `count_on` began."""
    _keeps_counts.reset(before)


class StatefulMetric(keras.metrics.Metric):  # type: ignore[misc]
    """A layer with `stateful = True` and `reset_states()`, which counts by itself: its last value is the result.

    Args:
        function: the layer; takes `(y_true, y_pred)`.
    """

    def __init__(self, function: Any) -> None:
        super().__init__(name=function.name)
        self._function = function
        self._last = self.add_variable((), "zeros", name="last")

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        self._last.assign(tf.cast(self._function(y_true, tf.identity(y_pred)), self.dtype))

    def result(self) -> Any:
        return self._last.value

    def reset_state(self) -> None:
        if not _keeps_counts.get():
            self._function.reset_states()
            self._last.assign(0.0)

    def get_config(self) -> dict[str, Any]:
        raise NotImplementedError("A metric of a compiled model is written by the name that it was compiled with.")


class LayerMetric(MetricOfEra):
    """A layer in `metrics=` of tf.keras, which took it for any function: the mean of what it gave for each batch.

    TensorFlow 1.15 never ran the updates of what it counts by. Where a metric begins anew all its variables became 0,
    those of the layer among them (`Metric.reset_states`).

    Args:
        function: the layer.
        era: the era.
    """

    def __init__(self, function: Any, era: Era) -> None:
        super().__init__(function, function.name, era, False)
        self._layer, self._runs_updates = [function], era is not Era.TF_KERAS_1_15  # in a list: it is not tracked

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        with contextlib.nullcontext() if self._runs_updates else pending_updates.never_carried_out():
            super().update_state(y_true, tf.identity(y_pred), sample_weight)

    def reset_state(self) -> None:
        super().reset_state()
        layer = self._layer[0]
        held = [each for each in vars(layer).values() if isinstance(each, (tf.Variable, keras.Variable))]
        for variable in {id(each): each for each in (*held, *getattr(layer, "variables", ()))}.values():
            variable.assign(tf.zeros(variable.shape, variable.dtype))


def one_number(values: Any, mask: Any, weights: Any) -> Any:
    """Return what Keras 2.2.4 made of a batch's values (`weighted_masked_objective`).

    Args:
        values: what a metric function returned.
        mask: 0 and 1, or None.
        weights: sample weights or None.
    """
    if mask is not None:
        values = values * mask / tf.reduce_mean(mask)
    if weights is not None:
        if weights.shape.rank == 2 and weights.shape[1] == 1 and values.shape.rank <= 1:
            weights = weights[:, 0]
        further = list(range(weights.shape.rank, values.shape.rank))
        values = tf.reduce_mean(values, axis=further) if further else values
        values = values * weights / tf.reduce_mean(tf.cast(tf.not_equal(weights, 0), values.dtype))
    return tf.reduce_mean(values)


def of_same_rank(y_true: Any, y_pred: Any) -> tuple[Any, Any]:
    """Take away the last axis of one where it has one more, of length 1 (`remove_squeezable_dimensions`).

    Args:
        y_true: targets, an array or tensor; anything else is left as it is.
        y_pred: predictions, an array or tensor.
    """
    ranks = [_rank(each) for each in (y_pred, y_true)]
    difference = 0 if None in ranks else ranks[0] - ranks[1]
    if difference == 1 and y_pred.shape[-1] == 1:
        return y_true, tf.squeeze(y_pred, -1)
    if difference == -1 and y_true.shape[-1] == 1:
        return tf.squeeze(y_true, -1), y_pred
    return y_true, y_pred


def _rank(values: Any) -> Any:
    """Return how many axes an array or tensor has, or None where that is not known."""
    shape = getattr(values, "shape", None)
    return shape.rank if isinstance(shape, tf.TensorShape) else None if shape is None else len(shape)


def _for_rank(weights: Any, like: Any) -> Any:
    """Give weights the rank of values where they differ by one axis (`squeeze_or_expand_dimensions`)."""
    difference = weights.shape.rank - like.shape.rank
    if difference == 1:
        return tf.squeeze(weights, -1)
    return weights[..., None] if difference == -1 else weights


def _broadcast(values: Any, weights: Any) -> tuple[Any, Any]:
    """Broadcast weights to values, or take the mean of values over the axes that weights lack (`Reduce`)."""
    if values.shape.rank == 0:  # one number for the batch counts once for each of its samples
        return values * tf.ones_like(weights), weights
    weights = _for_rank(weights, values)
    if weights.shape.rank == values.shape.rank:
        return values, weights * tf.ones_like(values)
    return tf.reduce_mean(values, axis=list(range(weights.shape.rank, values.shape.rank))), weights
