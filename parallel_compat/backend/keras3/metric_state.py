"""The state of means as tensors of a graph, while a step is traced. Read in Keras 3.15.1.

A mean's `total` and `count` are read and written several times in a step: set to zero, added to, and divided. In a
graph each of these is an operation that waits for the one before; as tensors they are read once and written once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import keras
import tensorflow as tf


class _Held:
    """What stands for TensorFlow's variable in `keras.Variable._value`."""

    def __init__(self, variable: tf.Variable) -> None:
        self.variable = variable
        self.dtype = variable.dtype
        self.shape = variable.shape
        self._value: Any = None
        self._written = False

    def assign(self, value: Any) -> None:
        """Remember a value."""
        self._value, self._written = value, True

    def write(self) -> None:
        """Give the variable the value that was assigned last."""
        if self._written:
            self.variable.assign(self._value)

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Any:
        if self._value is None:
            self._value = self.variable.read_value()
        return tf.convert_to_tensor(self._value, dtype, name=name)


@contextmanager
def means_held(metrics: Iterable[Any]) -> Iterator[None]:
    """Hold the state of Keras's own means as tensors of the graph, and write it at the end.

    Other metrics are not changed: their `update_state` may do with variables what tensors cannot.

    Args:
        metrics: of a model, which are updated in the graph that is the default one, and in no function within it.
    """
    held = [(variable, _Held(variable._value)) for mean in _means(metrics) for variable in (mean.total, mean.count)]
    try:
        for variable, instead in held:
            variable._value = instead
        yield
    finally:
        for variable, instead in held:
            variable._value = instead.variable
    for _, instead in held:
        instead.write()


def _means(metrics: Iterable[Any]) -> Iterator[Any]:
    """Yield each mean among metrics, once, that is updated and read by code of Keras or of this package."""
    seen = set()
    waiting = list(metrics)
    while waiting:
        metric = waiting.pop()
        waiting += getattr(metric, "metrics", None) or []
        if not isinstance(metric, keras.metrics.Mean) or id(metric) in seen:
            continue
        seen.add(id(metric))
        module = type(metric).__module__
        variables = [metric.total, metric.count]
        is_plain = len(metric.variables) == 2 and all(isinstance(v._value, tf.Variable) for v in variables)
        if is_plain and module.startswith(("keras.", "parallel_compat.")):
            yield metric
