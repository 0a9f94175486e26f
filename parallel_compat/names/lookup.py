"""The table, arranged for answering at run time: which modules held legacy names, and what a name is today."""

from __future__ import annotations

import importlib
from functools import cache
from types import ModuleType
from typing import Any

from parallel_compat.names import run_only, table
from parallel_compat.names.table import Path, Status

# Where today's packages keep what users spell otherwise.
_SPELLINGS = (
    ("keras._tf_keras.keras", "tensorflow.keras"),
    ("tensorflow._api.v2", "tensorflow"),
)
# Modules of TensorFlow 1 whose names are those of Keras's modules today: `tf.losses.huber_loss`.
_UNDER_ANOTHER = {f"tensorflow.keras.{name}": f"tensorflow.{name}" for name in ("initializers", "losses", "metrics")}


def spelled(module: str) -> str:
    """Return the name that users have for a module of today.

    >>> spelled("keras._tf_keras.keras.utils")
    'tensorflow.keras.utils'
    """
    for name, spelling in _SPELLINGS:
        if module == name or module.startswith(name + "."):
            return spelling + module[len(name) :]
    return module


def held(module: str) -> frozenset[str]:
    """Return the names that a module (under any root) held, submodules included."""
    names = _held().get(table.canonical(spelled(module)), frozenset())
    return names | _held().get(_UNDER_ANOTHER.get(spelled(module), ""), frozenset())


def is_module(name: str) -> bool:
    """Say whether old code could import a module of this name.

    It is asked for every module of TensorFlow that is imported, so the answers are made ready.
    """
    return name in _module_names()


def submodule(module: str, name: str) -> str | None:
    """Return the full name of a submodule that old code reaches as an attribute, or None."""
    child = f"{spelled(module)}.{name}"
    return child if is_module(child) else None


@cache
def moved_module(name: str) -> str | None:
    """Return where a module of TensorFlow's own tree is today, or None where nothing is known of such a module.

    It is asked for every module of TensorFlow that is imported, as `is_module` is.

    >>> moved_module("tensorflow.python.training.training_ops")
    'tensorflow.python.ops.gen_training_ops'
    """
    if not name.startswith("tensorflow.python.") or table.root_of(name) is not None:
        return None
    row = answer(*name.rpartition(".")[::2])
    if row is None or row.status is not Status.MOVED or row.target is None:
        return None
    try:
        return row.target if isinstance(fetch(row.target), ModuleType) else None
    except ImportError:
        return None


@cache
def answer(module: str, name: str) -> Path | None:
    """Say what `module.name` is today, or None where nothing changed or nothing is known."""
    path = f"{spelled(module)}.{name}"
    row = run_only.lookup(path, table.canonical(path)) or table.lookup(path)
    if row is None and spelled(module) in _UNDER_ANOTHER:
        other = f"{_UNDER_ANOTHER[spelled(module)]}.{name}"
        row = run_only.lookup(other, table.canonical(other)) or table.lookup(other)
    if row is None:
        return _of_private_spelling(path)
    return None if row.status is Status.SAME else row


_ABSENT = object()


def fetch(target: str) -> Any:
    """Import the object that a row's target names.

    >>> fetch("parallel_compat.names.table.lookup").__name__
    'lookup'

    Args:
        target: a dotted path to a module or to something in one.

    Raises:
        ImportError: there is no such thing in the installed versions.
    """
    parts, missing = target.split("."), ""
    for cut in range(len(parts), 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError as error:
            # Only the target's own path may be missing; a module that is missing inside it is an error.
            if error.name is None or not target.startswith(error.name):
                raise
            continue
        # `tensorflow/distribute` on the disk is another one than `tf.distribute`: what it does not have may be there.
        lacks = next((part for part in parts[cut:] if (found := getattr(found, part, _ABSENT)) is _ABSENT), None)
        if lacks is None:
            return found
        missing = missing or lacks
    if missing:
        raise ImportError(f"Expected {target} in the installed Keras and TensorFlow. Received: no `{missing}`.")
    raise ImportError(f"Expected {target} to be installed.")


def _of_private_spelling(path: str) -> Path | None:
    """Names newer than Keras 2.2.4 under `tensorflow.python.keras`, which holds another Keras, are those of Keras 3."""
    root = table.root_of(path)
    if root is None or root in ("keras", "tensorflow.keras") or path == root:
        return None
    target = "tensorflow.keras" + path[len(root) :]
    try:
        fetch(target)
    except ImportError:
        return None
    return Path(path, Status.MOVED, target)


@cache
def _module_names() -> frozenset[str]:
    roots = (*table.ROOTS, "keras._tf_keras.keras")
    under_keras = [module[len("keras") :] for module in _held() if module == "keras" or module.startswith("keras.")]
    others = [module for module in _held() if not module.startswith("keras.")]
    under_tensorflow = [module[len("tensorflow") :] for module in others if module.startswith("tensorflow")]
    return frozenset(
        [root + rest for root in roots for rest in under_keras]
        + others
        + ["tensorflow._api.v2" + rest for rest in under_tensorflow]
    )


@cache
def _held() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    changed = (*table.tensorflow_1_signatures(), *run_only.CHANGED_SINCE_GRAPHS)
    for path in (*table.paths(), *run_only.paths(), *changed, *table.ROOTS):
        module, _, name = path.rpartition(".")
        while module:
            names = found.setdefault(module, set())
            if name in names:
                break
            names.add(name)
            module, _, name = module.rpartition(".")
    return {module: frozenset(names) for module, names in found.items()}
