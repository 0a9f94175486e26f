"""Logs and history that answer to the names of old metrics: `acc` for `accuracy`, and the other way round."""

from __future__ import annotations

from typing import Any


def spellings(name: str) -> tuple[str, ...]:
    """Return the other spellings of a log's name.

    >>> spellings("val_acc")
    ('val_accuracy',)
    >>> spellings("val_output_1_acc")
    ('val_output_1_accuracy',)
    """
    if name == "lr":
        return ("learning_rate",)
    if name == "learning_rate":
        return ("lr",)
    prefix, _, last = name.rpartition("_")
    start = f"{prefix}_" if prefix else ""
    other = {"acc": "accuracy", "accuracy": "acc"}.get(last)
    return (start + other,) if other else ()


def resolve(logs: Any, name: str) -> str:
    """Return the name under which `logs` has what `name` asks for, or `name` itself."""
    if dict.__contains__(logs, name):
        return name
    return next((other for other in spellings(name) if dict.__contains__(logs, other)), name)


class Logs(dict[str, Any]):
    """A dict of logs whose keys may be asked for in the old spelling; what it lists is today's.

    >>> logs = Logs(val_accuracy=0.5)
    >>> logs["val_acc"], logs.get("val_acc"), "val_acc" in logs, list(logs)
    (0.5, 0.5, True, ['val_accuracy'])
    """

    def __missing__(self, name: str) -> Any:
        found = resolve(self, name)
        if found == name:
            raise KeyError(name)
        return dict.__getitem__(self, found)

    def get(self, name: str, default: Any = None) -> Any:
        return dict.get(self, resolve(self, name), default)

    def __contains__(self, name: object) -> bool:
        return dict.__contains__(self, resolve(self, name) if isinstance(name, str) else name)

    def copy(self) -> Logs:
        return Logs(self)

    def __reduce__(self) -> Any:
        # A pickled history is read without this package, by scripts that ask for either spelling.
        return (dict, (with_old_names(self),))


def with_old_names(logs: dict[str, Any]) -> dict[str, Any]:
    """Return a dict that has every log under today's name and under the old one."""
    named = dict(logs)
    for name in logs:
        if name == "accuracy" or name.endswith("_accuracy"):
            named.setdefault(spellings(name)[0], logs[name])
    return named
