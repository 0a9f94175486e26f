"""Attributes set on other people's classes and modules, and their exact undo."""

from __future__ import annotations

from typing import Any

_ABSENT = object()


class Patches:
    """Attributes that are set for a while.

    >>> class Owner: x = 1
    >>> patches = Patches()
    >>> patches.set(Owner, "x", 2); patches.set(Owner, "y", 3)
    >>> patches.undo()
    >>> Owner.x, hasattr(Owner, "y")
    (1, False)
    """

    def __init__(self) -> None:
        self._before: list[tuple[Any, str, Any]] = []

    def set(self, owner: Any, name: str, value: Any) -> None:
        """Set an attribute; what stood in the owner's own `__dict__` is remembered."""
        self._before.append((owner, name, vars(owner).get(name, _ABSENT)))
        setattr(owner, name, value)

    def undo(self) -> None:
        """Put back what was there, the last change first."""
        while self._before:
            owner, name, value = self._before.pop()
            if value is _ABSENT:
                delattr(owner, name)
            else:
                setattr(owner, name, value)
