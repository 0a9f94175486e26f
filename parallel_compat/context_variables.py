"""Context variables that have a value within a block."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from typing import TypeVar

_T = TypeVar("_T")


@contextlib.contextmanager
def set_within(variable: ContextVar[_T], value: _T) -> Iterator[None]:
    """Let a context variable have a value within the block, and what it had before behind it.

    >>> from contextvars import ContextVar
    >>> depth = ContextVar("depth", default=0)
    >>> with set_within(depth, 1):
    ...     depth.get()
    1
    >>> depth.get()
    0
    """
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)
