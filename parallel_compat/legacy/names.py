"""The table, arranged for answering at run time: which modules held legacy names, and what a name is today."""

from __future__ import annotations

import importlib
from collections import defaultdict
from functools import cache
from typing import TYPE_CHECKING, Any

from parallel_compat.legacy import beside, table
from parallel_compat.legacy.table import Path, Status

if TYPE_CHECKING:
    from collections.abc import Iterable

# Where TensorFlow's own import of Keras puts what users spell `tensorflow.keras`.
_TENSORFLOWS_KERAS = "keras._tf_keras.keras"


def spelled(module: str) -> str:
    """Return the name that old code has for a module of today: `keras._tf_keras.keras.utils` -> `tensorflow.keras.utils`."""
    if module == _TENSORFLOWS_KERAS or module.startswith(_TENSORFLOWS_KERAS + "."):
        return "tensorflow.keras" + module[len(_TENSORFLOWS_KERAS) :]
    return module


def canonical(module: str) -> str:
    """Return a module's name as the table has it: under `keras`, or as it is where it is not Keras's."""
    parts = table.split_root(spelled(module))
    return parts[2] if parts else module


def held(module: str) -> frozenset[str]:
    """Return the names that a module (under any root) held, submodules included."""
    return _held().get(canonical(module), frozenset())


def is_module(name: str) -> bool:
    """Say whether old code could import a module of this name."""
    return canonical(name) in _held()


def submodule(module: str, name: str) -> str | None:
    """Return the full name of a submodule that old code reaches as an attribute, or None."""
    child = f"{canonical(module)}.{name}"
    return f"{spelled(module)}.{name}" if child in _held() else None


def answer(module: str, name: str) -> Path | None:
    """Say what `module.name` is today, or None where nothing changed or nothing is known."""
    path = f"{spelled(module)}.{name}"
    row = beside.lookup(path, canonical(module), name) or table.lookup(path)
    if row is None or row.status is Status.SAME:
        return None
    return row


def fetch(target: str) -> Any:
    """Import the object that a row's target names.

    >>> fetch("parallel_compat.legacy.table.lookup")
    <function lookup at ...>
    """
    parts = target.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError as error:
            # Only the target's own path may be missing; a module that is missing inside it is an error.
            if error.name is None or not target.startswith(error.name):
                raise
            continue
        for part in parts[cut:]:
            found = getattr(found, part)
        return found
    return importlib.import_module(target)


@cache
def _held() -> dict[str, frozenset[str]]:
    found: defaultdict[str, set[str]] = defaultdict(set)
    for path in _all_paths():
        parts = path.split(".")
        for cut in range(1, len(parts)):
            found[".".join(parts[:cut])].add(parts[cut])
    return {module: frozenset(names) for module, names in found.items()}


def _all_paths() -> Iterable[str]:
    yield from table.paths()
    yield from beside.paths()
