"""The graph in which an optimizer of a user's own says what a step is, as all of Keras 2 did.

What stands in it is computed anew in each step, also what the optimizer's `__init__` computes of its variables.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import keras
import tensorflow as tf

from parallel_compat.legacy.variables import held_variable

_makers: list[Any] = []  # the optimizers that are made or asked for their updates, the innermost last


@functools.cache
def _wrapped() -> Any:
    return tf.compat.v1.wrap_function(lambda: tf.constant(0.0), [])


@contextlib.contextmanager
def of(optimizer: Any) -> Iterator[None]:
    """Build the graph, and let an optimizer have the variables that are made meanwhile."""
    _makers.append(optimizer)
    try:
        with _wrapped().graph.as_default():
            yield
    finally:
        _makers.pop()


def is_built() -> bool:
    """Return whether what is computed now becomes a part of the graph."""
    return bool(_makers) and tf.compat.v1.get_default_graph() is _wrapped().graph


def variable(make: Callable[[], Any]) -> Any:
    """Return a variable that the optimizer has whose part of the graph is built."""
    its = _makers[-1]._parallel_compat_made
    its.append(held_variable(make, f"{_makers[-1].name}_{len(its)}_"))
    return its[-1]


def has(x: Any) -> bool:
    """Return whether it is a tensor of the graph."""
    return tf.is_symbolic_tensor(x) and x.graph is _wrapped().graph


def function(inputs: Sequence[Any], outputs: Sequence[Any]) -> Callable[..., list[Any]]:
    """Return the function that computes tensors of the graph from others, and has read all when it ends."""
    with _wrapped().graph.as_default():
        outputs = [tf.identity(each) for each in outputs]
        # Without it TensorFlow, which puts the function's operations among those of a step, may write before it reads.
        done = tf.group(*outputs)
    computed = _wrapped().prune(list(inputs), [*outputs, done])
    return lambda *values: computed(*values)[:-1]


def value_of(x: Any) -> Any:
    """Return what a tensor of the graph is now, which depends on variables alone."""
    with tf.init_scope():
        return function([], [x])()[0]


def depends_on(tensors: Sequence[Any], other: Any) -> bool:
    """Return whether one of some tensors is computed from another."""
    waiting, seen = [each.op for each in tensors], set()
    while waiting:
        op = waiting.pop()
        if op is other.op:
            return True
        if op not in seen:
            seen.add(op)
            waiting += [*(each.op for each in op.inputs), *op.control_inputs]
    return False


def as_tensor(value: Any, like: keras.Variable) -> Any:
    """Return what is assigned to a variable as a tensor of the graph."""
    with _wrapped().graph.as_default():
        return tf.cast(tf.convert_to_tensor(value), like.dtype)
