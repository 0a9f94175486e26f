"""TensorFlow functions called on symbolic tensors of Keras. Read in TensorFlow 2.21.

TensorFlow asks its global dispatchers what to do with a function that failed on unknown types.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import keras
from tensorflow.python.util import dispatch, tf_decorator, tf_export


class SymbolicTensorDispatcher(dispatch.GlobalOpDispatcher):  # type: ignore[misc]  # TensorFlow carries no types
    """Hands the outermost TensorFlow function that was called on a symbolic tensor to a handler."""

    def __init__(self, handler: Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]) -> None:
        super().__init__()
        self._handler = handler

    def handle(self, op: Any, args: Any, kwargs: Any) -> Any:
        if not has_symbolic((args, kwargs)):
            return self.NOT_SUPPORTED
        return self._handler(op, tuple(args), dict(kwargs))


@functools.cache
def register_once(handler: Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]) -> None:
    """Let TensorFlow ask a handler; it cannot be unregistered."""
    SymbolicTensorDispatcher(handler).register()


def has_symbolic(value: Any) -> bool:
    """Return whether there is a symbolic tensor in a value: in a list, a tuple, a dict or a slice."""
    if isinstance(value, keras.KerasTensor):
        return True
    if isinstance(value, (list, tuple)):
        return any(has_symbolic(each) for each in value)
    if isinstance(value, dict):
        return any(has_symbolic(each) for each in value.values())
    return isinstance(value, slice) and has_symbolic((value.start, value.stop, value.step))


def api_names(function: Any) -> list[str]:
    """Return the public names of a TensorFlow function without `tf.`, those of TensorFlow 2 first."""
    _, plain = tf_decorator.unwrap(function)
    names = [*tf_export.get_v2_names(plain)]
    return names + [f"compat.v1.{name}" for name in tf_export.get_v1_names(plain)]


def same_function(function: Any, other: Any) -> bool:
    """Return whether two TensorFlow functions are one under their decorators."""
    return function is not None and tf_decorator.unwrap(function)[1] is tf_decorator.unwrap(other)[1]
