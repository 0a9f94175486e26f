"""Where modules of old Keras and TensorFlow 1 are today, and how a finding words it."""

from __future__ import annotations

from parallel_compat.names import table
from parallel_compat.names.table import Status

BACKEND = "parallel_compat.legacy.backend"
_PACKAGES = ("keras_preprocessing", "alt_model_checkpoint")  # what Keras 2 was made of, and what was used with it
_MODULES = frozenset(
    ("keras.backend.tensorflow_backend", "tensorflow.python.client.device_lib", "tensorflow.logging", "tensorflow.app")
)
# A function, in Keras 1, where Keras 2 had a module.
MERGE = table.Path("keras.layers.merge", Status.PROVIDED, "parallel_compat.legacy.merging.merge", "")


def is_other_spelling(path: str) -> bool:
    """Return whether a path is Keras itself under another name."""
    return table.root_of(path) == path and path not in ("keras", "tensorflow.keras")


def is_alive(path: str) -> bool:
    """Return whether a module can be imported today, and is the one that the table means."""
    root = table.root_of(path)
    if root is None:
        entry = table.lookup(path)
        known = path in _MODULES or path.partition(".")[0] in _PACKAGES
        return not known and (entry is None or entry.status is Status.SAME)
    if root not in ("keras", "tensorflow.keras"):
        return False
    return table.canonical(path) in table.modules_today(root)


def is_gone(path: str) -> bool:
    """Return whether a module of Keras or TensorFlow cannot be imported any more."""
    return bool(table.names_of(path)) and not is_alive(path)


def is_module(path: str) -> bool:
    """Return whether the table knows a path as a module."""
    return bool(table.names_of(path)) or table.canonical(path) in _MODULES


def home_of_module(path: str) -> str | None:
    """Return the module that has today what a module had; None where there is none."""
    root = table.root_of(path)
    if root is not None and root not in ("keras", "tensorflow.keras"):
        modern = "tensorflow.keras" + path[len(root) :]
        if modern == "tensorflow.keras" or (is_alive(modern) and modern != "tensorflow.keras.backend"):
            return modern
    home = table.module(path)
    return BACKEND if home in ("keras.backend", "tensorflow.keras.backend") else home


def moved(path: str, target: str, entry: table.Path | None) -> str:
    """Say where something is now."""
    if target.startswith("parallel_compat"):
        return f"`{path}` is provided by `{target}`."
    note = f" {entry.note}" if entry is not None and entry.note else ""
    return f"`{path}` is now `{target}`.{note}"


def gone(entry: table.Path) -> str:
    """Say that something is gone, and what to do instead."""
    return f"`{entry.path}` is gone. {entry.note}"


def is_legacy_module(path: str) -> bool:
    """Return whether a module's path is one that cannot be imported today, or not with the same content."""
    if table.canonical(path) == "keras.backend":
        return True
    known = bool(table.names_of(path)) or is_other_spelling(path) or table.lookup(path) is not None
    return known and table.root_of(path) is not None and not is_alive(path)


def what_became(path: str) -> str:
    """Say in half a sentence what became of a module."""
    home = home_of_module(path)
    return f"it is now `{home}`." if home else "it is gone."
