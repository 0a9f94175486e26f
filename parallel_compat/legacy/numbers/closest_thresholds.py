"""`SpecificityAtSensitivity` and its like: the rate at the threshold where another rate is closest to what was asked.

Keras 3 (and tf.keras since 2.3) takes the greatest rate among the thresholds that give at least what was asked;
TensorFlow 1.15 and 2.2 took the first threshold of those that come closest to it (`result` in
`tensorflow/python/keras/metrics.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import keras
import tensorflow as tf

if TYPE_CHECKING:
    from collections.abc import Callable

Rate = tuple[str, str]  # (a, b) of `a / (a + b)`, by the names of a metric's variables
_SENSITIVITY: Rate = ("true_positives", "false_negatives")
_SPECIFICITY: Rate = ("true_negatives", "false_positives")
_PRECISION: Rate = ("true_positives", "false_positives")

# Of each class: the rate that is asked for, and the one that it gives.
RATES: dict[type[keras.metrics.Metric], tuple[Rate, Rate]] = {
    keras.metrics.SpecificityAtSensitivity: (_SENSITIVITY, _SPECIFICITY),
    keras.metrics.SensitivityAtSpecificity: (_SPECIFICITY, _SENSITIVITY),
    keras.metrics.PrecisionAtRecall: (_SENSITIVITY, _PRECISION),
}


def result_of(asked: Rate, given: Rate) -> Callable[[Any], Any]:
    """Return what computes the result of a metric.

    Args:
        asked: the rate that is to be close to the metric's `value`.
        given: the rate that is the result.
    """

    def result(metric: Any) -> Any:
        closest = tf.argmin(tf.abs(_rates(metric, asked) - tf.cast(metric.value, metric.dtype)))
        return _rates(metric, given)[closest]

    return result


def _rates(metric: Any, rate: Rate) -> Any:
    """Return a rate at each threshold, 0 where there is nothing to divide by."""
    part, other = (tf.convert_to_tensor(getattr(metric, name)) for name in rate)
    return tf.math.divide_no_nan(part, part + other)
