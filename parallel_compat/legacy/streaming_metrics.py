"""`tf.metrics` of TensorFlow 1, which counted in variables of the graph: over all batches, and none of it began anew.

`tf.metrics.auc(y_true, y_pred)[1]` in a metric function of Keras was among the most copied ones. A metric function ran
once, when the model was compiled, and training and evaluation counted in the same variables. Here it runs whenever a
step is traced, so that the variables are kept with the compiled metric. The arithmetic is TensorFlow's own
(`tf.compat.v1.metrics`, read in TensorFlow 2.21 and 1.15.5).
"""

from __future__ import annotations

import contextlib
import weakref
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple

import tensorflow as tf

from parallel_compat.backend.keras3 import graphs_of_programs
from parallel_compat.legacy.data_tensors import Initializer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class _Counting(NamedTuple):
    """The variables of a compiled metric, and those of them that its function has asked for in this trace."""

    variables: list[tf.Variable]
    asked_for: list[tf.Variable]


_of_metrics: weakref.WeakKeyDictionary[Any, list[tf.Variable]] = weakref.WeakKeyDictionary()
_counting: ContextVar[_Counting | None] = ContextVar("the metric whose function is called", default=None)


@contextlib.contextmanager
def counting_in(metric: Any) -> Iterator[None]:
    """Let what the block calls of `tf.metrics` count in variables of a compiled metric.

    Args:
        metric: the metric; the variables live as long as it does.
    """
    before = _counting.set(_Counting(_of_metrics.get(metric, []), []))
    try:
        yield
        counting = _counting.get()
        if counting is not None and counting.variables:
            _of_metrics[metric] = counting.variables
    finally:
        _counting.reset(before)


def _kept(create: Callable[..., tf.Variable], **keywords: Any) -> tf.Variable:
    """Return the variable that was made at this place of the function when it was traced first."""
    counting = _counting.get()
    if counting is None:
        return create(**keywords)
    place = len(counting.asked_for)
    if place == len(counting.variables):
        value = keywords["initial_value"]
        before = _counting.set(None)  # this function is asked in the scope of initialisation, too
        try:
            with tf.init_scope():
                counting.variables.append(tf.Variable(value, trainable=False))
        finally:
            _counting.reset(before)
    counting.asked_for.append(counting.variables[place])
    return counting.variables[place]


def _mean_iou(matrix: tf.Tensor) -> tf.Tensor:
    """Return the mean of the classes' intersection over union, of those that a label or a prediction names."""
    both = tf.cast(tf.linalg.diag_part(matrix), tf.float32)
    either = tf.cast(tf.reduce_sum(matrix, 0) + tf.reduce_sum(matrix, 1), tf.float32) - both
    named = tf.math.count_nonzero(either, dtype=tf.float32)
    return tf.math.divide_no_nan(tf.reduce_sum(tf.math.divide_no_nan(both, either)), named)


def _same(updated: tf.Tensor) -> tf.Tensor:
    return updated


# What the update returns is the value after it, but for these.
_AFTER = {"mean_iou": _mean_iou, "mean_per_class_accuracy": tf.reduce_mean}


def _streaming(name: str) -> Callable[..., tuple[Any, Any]]:
    original = getattr(tf.compat.v1.metrics, name)

    def function(*given: Any, **keywords: Any) -> tuple[Any, Any]:
        if graphs_of_programs.is_in_one():
            return original(*given, **keywords)  # type: ignore[no-any-return]
        if _counting.get() is None:
            raise NotImplementedError(
                f"Expected `tf.metrics.{name}` to be called by a function in `compile(metrics=[...])`, with whose "
                "metric its variables are kept. Received: a call from elsewhere. Use a metric of `keras.metrics`, or "
                "a `tf.Graph` and a `tf.Session` of your own."
            )
        with tf.variable_creator_scope(_kept):
            _, updated = original(*given, **keywords)
        # Whether the value was read before or after the update was a matter of chance there.
        return _AFTER.get(name, _same)(updated), updated

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Count, and return the value and the operation that counts: see `tf.compat.v1.metrics.{name}`."
    return function


globals().update({name: _streaming(name) for name in dir(tf.compat.v1.metrics) if not name.startswith("_")})


class _Zeros(Initializer):
    def run(self, *_arguments: Any, **_keywords: Any) -> None:
        """Begin all counts anew, unless a metric function says so, which ran once, before anything was counted."""
        if _counting.get() is None:
            for variable in (each for kept in list(_of_metrics.values()) for each in kept):
                variable.assign(tf.zeros_like(variable))


def local_variables_initializer() -> Any:
    """Return what a session runs to begin the counts of `tf.metrics` anew (`tf.local_variables_initializer`)."""
    return tf.compat.v1.local_variables_initializer() if graphs_of_programs.is_in_one() else _Zeros()
