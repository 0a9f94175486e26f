"""Keras within a graph that a program made itself: `with tf.Graph().as_default():`. Read in Keras 3.15.1.

In TensorFlow 1 each model of a server had a graph and a session of its own. Keras 3 computes without graphs: there its
variables would be parts of that graph, which nothing runs. So it leaves the graph for as long as it is called.
"""

from __future__ import annotations

import contextlib
import functools
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import keras
import tensorflow as tf
from tensorflow.python.eager import context

from parallel_compat.context_variables import set_within

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_left_graph: ContextVar[Any] = ContextVar("left_graph", default=None)
_OF_VARIABLES = ("__init__", "assign", "numpy", "__array__")


def is_in_one() -> bool:
    """Say whether the code is in a graph that a program made itself."""
    return not (tf.executing_eagerly() or tf.inside_function())


def graph_of_program() -> Any:
    """Return the graph that a program made itself and that the code is in, or was when it was `left`; None for none."""
    return tf.compat.v1.get_default_graph() if is_in_one() else _left_graph.get()


def left() -> contextlib.AbstractContextManager[None]:
    """Return a context within which the code is in no such graph."""
    return _left() if is_in_one() else contextlib.nullcontext()


@contextlib.contextmanager
def _left() -> Iterator[None]:
    with set_within(_left_graph, tf.compat.v1.get_default_graph()), context.eager_mode():
        yield


def points() -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """Yield what of Keras leaves it: (owner, attribute, a function from what stands there to what shall)."""
    for name in _OF_VARIABLES:
        yield keras.Variable, name, outside
    yield keras.layers.Layer, "__call__", outside
    yield keras.optimizers.Optimizer, "add_variable_from_reference", outside


def outside(original: Any) -> Any:
    """Let a function of Keras leave such a graph, unless it is called on tensors of it.

    Args:
        original: the function; its first argument is the object that it is a method of.
    """

    @functools.wraps(original)
    def call(*given: Any, **keywords: Any) -> Any:
        if not is_in_one() or any(map(tf.is_symbolic_tensor, tf.nest.flatten((given[1:], keywords)))):
            return original(*given, **keywords)
        with left():
            return original(*given, **keywords)

    return call
