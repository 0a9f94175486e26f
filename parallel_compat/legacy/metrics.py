"""Metric functions of Keras 2, and what they were given."""

from __future__ import annotations

import functools
from typing import Any

import keras

from parallel_compat.legacy.numbers import metric_functions
from parallel_compat.names.eras import Era


def metric_function(given: Any) -> Any:
    """Return a metric function that gets its targets as Keras 2 gave them: floats, of shape (n, 1) for n numbers.

    Keras 3 gives them as they are. Targets of shape (n,) beside predictions of shape (n, 1) make `y_true * y_pred`
    n x n numbers: a metric that is wrong without a word.

        model.compile("sgd", "mse", metrics=[metric_function(f1_score), metric_function("hinge")])

    Args:
        given: a function of targets and predictions, or the name of one of Keras's.

    Returns:
        The function, under its own name. What is no function, or no name of one, comes back as it is.
    """
    function = metric_functions.of_name(given, Era.TODAY) if isinstance(given, str) else given
    if not callable(function) or isinstance(function, (type, keras.metrics.Metric)):
        return given

    @functools.wraps(function)
    def metric(y_true: Any, y_pred: Any, *rest: Any, **keywords: Any) -> Any:
        y_true = keras.ops.cast(y_true, keras.config.floatx())
        if y_true.shape.rank == 1 and (y_pred.shape.rank or 1) > 1:
            y_true = keras.ops.expand_dims(y_true, -1)
        return function(y_true, y_pred, *rest, **keywords)

    return metric
