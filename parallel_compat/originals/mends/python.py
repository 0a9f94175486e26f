"""Names that Python removed from its standard library.

Seen in Python 3.10 to 3.13.
"""

from __future__ import annotations

import collections
import collections.abc
import importlib.util
import inspect
import sys
import time
import types
from collections.abc import Callable
from importlib.machinery import PathFinder
from typing import Any, NamedTuple

from parallel_compat.originals.mends.register import Register


class ArgSpec(NamedTuple):
    """What `inspect.getargspec` returned up to Python 3.10."""

    args: list[str]
    varargs: str | None
    keywords: str | None
    defaults: tuple[Any, ...] | None


def _getargspec(function: Callable[..., Any]) -> ArgSpec:
    return ArgSpec(*inspect.getfullargspec(function)[:4])


def apply(mends: Register) -> None:
    abstract = {name: getattr(collections.abc, name) for name in collections.abc.__all__}
    mends.add(collections, **abstract)
    mends.add(inspect, ArgSpec=ArgSpec, getargspec=_getargspec)
    mends.add(time, clock=time.perf_counter)
    # Setuptools, which has it where Python has not, takes a quarter of a second to be asked.
    if PathFinder.find_spec("distutils") is None and importlib.util.find_spec("distutils") is None:
        _add_distutils()


def _add_distutils() -> None:
    """Make `distutils.version`, all that the originals import of it."""
    from parallel_compat.originals.mends import versions

    package = types.ModuleType("distutils")
    package.__path__ = []
    package.version = versions  # type: ignore[attr-defined]
    sys.modules["distutils"] = package
    sys.modules["distutils.version"] = versions
