"""Layers whose `__init__` is decorated (`@typechecked`). Read in Keras 3.15.1.

Keras 3 asks for the arguments of `__init__` twice, once by `inspect.getfullargspec`, which sees those of the function
that the decorator put there: without a `self` it stopped with an IndexError.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
from typing import TYPE_CHECKING, Any

import keras

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def patch_points() -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """Yield where a layer is made: (owner, attribute, a function from what stands there to what shall)."""

    def wrap(original: Any) -> Any:
        make = original.__func__

        @functools.wraps(make)
        def __new__(cls: Any, *args: Any, **kwargs: Any) -> Any:
            init = cls.__init__
            if hasattr(init, "__wrapped__") and not hasattr(init, "__signature__"):
                with contextlib.suppress(AttributeError, TypeError, ValueError):  # not a function, or without one
                    init.__signature__ = inspect.signature(init)
            return make(cls, *args, **kwargs)

        return staticmethod(__new__)

    yield keras.layers.Layer, "__new__", wrap
