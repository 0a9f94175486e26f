"""How a function takes the place of another one, and tells of what it changed."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any

from parallel_compat.run import usage

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType


# Why most patches are there.
ARGUMENTS = "old arguments, for the user's code"


def noting(of: str, frame: FrameType) -> Callable[[str, str], None]:
    short = of.removeprefix("keras.").rpartition(".")[2]

    def note(given: str, became: str) -> None:
        usage.record(f"{short}({given})", became, frame)

    return note


def looking_alike(wrap: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Let what `wrap` returns pass for what it wraps."""
    return lambda original: like(original)(wrap(original))


def like(original: Any) -> Callable[[Any], Any]:
    """Let a function pass for another one: Keras reads names, docstrings and signatures of its methods."""

    def decorate(function: Any) -> Any:
        functools.update_wrapper(function, original)
        del function.__wrapped__
        function.__signature__ = inspect.signature(original)
        return function

    return decorate
