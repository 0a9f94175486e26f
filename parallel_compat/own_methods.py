"""Functions that stand for a method of Keras's models ask an object of another class for its own.

A project may wrap its model in a class that has `fit_generator` or `load_weights` of its own; rewritten code calls the
function of this package, for it cannot always tell what the object is.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

import keras

Function = TypeVar("Function", bound="Callable[..., Any]")


def of_models(method: str) -> Callable[[Function], Function]:
    """Let a function call an object's own method, if the object is no Keras model and has one of that name.

    >>> @of_models("size")
    ... def size_of(model): return 3
    >>> class Net:
    ...     def size(self): return 4
    >>> size_of(Net()), size_of(keras.Sequential())
    (4, 3)

    Args:
        method: the method that the function stands for; the function takes the model first.
    """

    def decorate(function: Function) -> Function:
        @functools.wraps(function)
        def of_any(model: Any, *given: Any, **named: Any) -> Any:
            own = None if isinstance(model, keras.Model) else getattr(type(model), method, None)
            return function(model, *given, **named) if own is None else own(model, *given, **named)

        return cast("Function", of_any)

    return decorate
