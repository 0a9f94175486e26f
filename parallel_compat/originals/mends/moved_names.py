"""Names that moved within TensorFlow (`moved_names.tsv`)."""

from __future__ import annotations

import importlib
import sys
import types

from parallel_compat.names import tsv
from parallel_compat.originals.mends.register import Register, named

_PYTHON = "tensorflow.python."

_ROWS = tsv.rows("moved_names.tsv", 3, __package__)
PATHS = [path for _, _, path in _ROWS]


def apply(mends: Register) -> None:
    for kind, path, today in _ROWS:
        if kind == "module":
            put_module(_PYTHON + path, named(_PYTHON + today))
            continue
        module, _, name = path.rpartition(".")
        owner = named(_PYTHON + module)
        if not hasattr(owner, name):
            mends.add(owner, **{name: named(_PYTHON + today)})


def put_module(name: str, module: types.ModuleType) -> None:
    """Let a module be imported by a further name; folders that are gone are made."""
    parent, _, child = name.rpartition(".")
    try:
        package = importlib.import_module(parent)
    except ModuleNotFoundError:
        package = types.ModuleType(parent)
        package.__path__ = []
        put_module(parent, package)
    sys.modules[name] = module
    setattr(package, child, module)
