"""`imp` until Python 3.11: loading modules by their files."""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import os
import sys
import types
from typing import Any

PY_SOURCE, PY_COMPILED, C_EXTENSION, PKG_DIRECTORY = 1, 2, 3, 5
reload = importlib.reload
cache_from_source = importlib.util.cache_from_source
new_module = types.ModuleType


def load_source(name: str, pathname: str, file: Any = None) -> types.ModuleType:
    """Load a module from a source, again if it is loaded."""
    loader = importlib.machinery.SourceFileLoader(name, pathname)
    spec = importlib.util.spec_from_file_location(name, pathname, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    loader.exec_module(module)
    return module


def find_module(name: str, path: Any = None) -> tuple[Any, str, tuple[str, str, int]]:
    """Return the open file of a module, its path and its kind."""
    spec = importlib.machinery.PathFinder.find_spec(name, path)
    if spec is None or spec.origin is None:
        raise ImportError(f"No module named {name!r}", name=name)
    if spec.submodule_search_locations:
        return None, os.path.dirname(spec.origin), ("", "", PKG_DIRECTORY)
    kind = PY_SOURCE if spec.origin.endswith(".py") else C_EXTENSION
    ending = os.path.splitext(spec.origin)[1]
    mode = "r" if kind == PY_SOURCE else "rb"
    return open(spec.origin, mode), spec.origin, (ending, mode, kind)  # the caller closes it


def load_module(name: str, file: Any, filename: str, details: tuple[str, str, int]) -> types.ModuleType:
    """Load what `find_module` found."""
    if details[2] == PKG_DIRECTORY:
        filename = os.path.join(filename, "__init__.py")
    return load_source(name, filename)


def get_suffixes() -> list[tuple[str, str, int]]:
    """Return the endings of modules."""
    extensions = [(ending, "rb", C_EXTENSION) for ending in importlib.machinery.EXTENSION_SUFFIXES]
    return [*extensions, *((ending, "r", PY_SOURCE) for ending in importlib.machinery.SOURCE_SUFFIXES)]
