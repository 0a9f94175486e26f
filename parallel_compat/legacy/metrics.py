"""Metric functions of Keras 2, and what they were given."""

from __future__ import annotations

import functools
from typing import Any

import keras
import tensorflow as tf

from parallel_compat.backend.keras3.layers import get_mask
from parallel_compat.legacy import losses_utils
from parallel_compat.names.identifiers import FUNCTIONS_TODAY, SHORT_FUNCTIONS


def metric_function(given: Any) -> Any:
    """Return a metric function that gets its targets as Keras 2 gave them: floats, of shape (n, 1) for n numbers.

    Keras 3 passes them unchanged. Targets of shape (n,) beside predictions of shape (n, 1) make `y_true * y_pred`
    n x n numbers: a metric that is silently wrong.

        model.compile("sgd", "mse", metrics=[metric_function(f1_score), metric_function("hinge")])

    Args:
        given: a function of targets and predictions, or the name of one of Keras's; or a list or dict of these.

    Returns:
        The function, logged under its own name, of which Keras 3 would make snake case (`psnr` for `PSNR`); under a
        mask it may return one number. What is no function, or no name of one, comes back as it is.
    """
    if isinstance(given, (list, tuple)):
        return [metric_function(each) for each in given]
    if isinstance(given, dict):
        return {output: metric_function(each) for output, each in given.items()}
    function = _of_name(given) if isinstance(given, str) else given
    if not callable(function) or isinstance(function, (type, keras.metrics.Metric)):
        return given

    @functools.wraps(function)
    def metric(y_true: Any, y_pred: Any, *rest: Any, **keywords: Any) -> Any:
        y_true = keras.ops.cast(y_true, keras.config.floatx())
        if y_true.shape.rank == 1 and (y_pred.shape.rank or 1) > 1:
            y_true = keras.ops.expand_dims(y_true, -1)
        value = function(y_true, y_pred, *rest, **keywords)
        mask = get_mask(y_pred)
        if mask is not None and keras.ops.is_tensor(value) and value.shape.rank == 0:
            # Keras 3 refuses one number under a mask; the mean under the mask of equal ones is this one.
            return keras.ops.broadcast_to(value, keras.ops.shape(mask))
        return value

    if hasattr(given, "__name__"):
        metric.name = given.__name__  # type: ignore[attr-defined]  # what Keras 3 asks for first
    return metric


def _of_name(name: str) -> Any:
    """Return the function of Keras's under an old or short name, or None."""
    full = SHORT_FUNCTIONS.get(name, name)
    for module in (keras.metrics, keras.losses):
        found = getattr(module, FUNCTIONS_TODAY.get(full, full), None)
        if callable(found) and not isinstance(found, type):
            return found
    return None


@keras.saving.register_keras_serializable(package="parallel_compat")
class MeanRelativeError(keras.metrics.Mean):  # type: ignore[misc]  # Keras carries no types
    """The mean of the errors, each divided by a number.

    >>> metric = MeanRelativeError(normalizer=[1, 3, 2, 3])
    >>> metric.update_state([1, 3, 2, 3], [2, 4, 6, 8])
    >>> float(metric.result())
    1.25

    Args:
        normalizer: what errors are divided by, of the shape of the predictions; by 0 gives 0.
        name: under which it is logged.
        dtype: of the result.
    """

    def __init__(self, normalizer: Any, name: str | None = None, dtype: Any = None) -> None:
        super().__init__(name=name or "mean_relative_error", dtype=dtype)
        self.normalizer = tf.cast(normalizer, self.dtype)

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        y_true, y_pred = tf.cast(y_true, self.dtype), tf.cast(y_pred, self.dtype)
        if y_pred.shape.rank == y_true.shape.rank + 1:
            y_true = y_true[..., None]
        normalizer = self.normalizer
        if y_pred.shape.rank == normalizer.shape.rank + 1 and y_pred.shape[-1] == 1:
            normalizer = normalizer[..., None]
        errors = tf.math.divide_no_nan(tf.abs(y_true - y_pred), normalizer)
        if sample_weight is not None:
            errors, _, sample_weight = losses_utils.squeeze_or_expand_dimensions(
                errors, None, tf.cast(sample_weight, self.dtype)
            )
            lacking = range(sample_weight.shape.rank or errors.shape.rank, errors.shape.rank)
            errors = tf.reduce_mean(errors, axis=list(lacking))  # over the axes that the weights lack
            sample_weight = tf.reshape(sample_weight * tf.ones_like(errors), [-1])
        # Each number counts, where today each first row does.
        super().update_state(tf.reshape(errors, [-1]), sample_weight)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "normalizer": self.normalizer.numpy().tolist()}


@keras.saving.register_keras_serializable(package="parallel_compat")
class MeanTensor(keras.metrics.Metric):  # type: ignore[misc]
    """The mean of tensors of one shape, element by element.

    >>> metric = MeanTensor()
    >>> metric.update_state([1.0, 2.0])
    >>> metric.update_state([3.0, 6.0])
    >>> metric.result().numpy().tolist()
    [2.0, 4.0]

    Args:
        name: under which it is logged.
        dtype: of the result.
    """

    def __init__(self, name: str = "mean_tensor", dtype: Any = None) -> None:
        super().__init__(name=name, dtype=dtype)
        self.total: Any = None
        self.count: Any = None

    def update_state(self, values: Any, sample_weight: Any = None) -> None:
        values = tf.cast(values, self.dtype)
        shape = tuple(values.shape)
        if self.total is None:
            self.total, self.count = (
                self.add_variable(shape, keras.initializers.Zeros(), dtype=self.dtype, name=name)
                for name in ("total", "count")
            )
        elif tuple(self.total.shape) != shape:
            raise ValueError(
                "MeanTensor input values must always have the same shape. Expected shape (set during the first call): "
                f"{tuple(self.total.shape)}. Got: {shape}"
            )
        weights = tf.ones_like(values)
        if sample_weight is not None:
            given = tf.cast(sample_weight, self.dtype)
            if given.shape.rank == len(shape) + 1 and given.shape[-1] == 1:
                given = tf.squeeze(given, -1)
            missing = len(shape) - given.shape.rank
            weights *= tf.reshape(given, [*tf.unstack(tf.shape(given)), *[1] * missing]) if missing > 0 else given
        self.total.assign_add(values * weights)
        self.count.assign_add(weights)

    def result(self) -> Any:
        if self.total is None:
            raise ValueError(
                "MeanTensor does not have any result yet. Please call the MeanTensor instance or use "
                "`.update_state(value)` before retrieving the result."
            )
        return keras.ops.divide_no_nan(self.total, self.count)


def clone_metric(metric: Any) -> Any:
    """Return another metric of the same configuration, of a function itself."""
    return type(metric).from_config(metric.get_config()) if isinstance(metric, keras.metrics.Metric) else metric


def clone_metrics(metrics: Any) -> Any:
    """Return others like those of a list or dict.

    >>> [each.name for each in clone_metrics([keras.metrics.Mean(name="of")])]
    ['of']

    Args:
        metrics: a list or dict of metrics and functions, or None.
    """
    if metrics is None:
        return None
    if isinstance(metrics, dict):
        return {name: clone_metric(metric) for name, metric in metrics.items()}
    return [clone_metric(metric) for metric in metrics]
