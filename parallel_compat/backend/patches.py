"""The one register of what this package sets on classes and modules of Keras and TensorFlow.

Each patch is a function from what stood there to what shall stand there, with its reason. A patch of an attribute that
is not there is an error that names it: Keras has another name for it by now.
"""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

# Where the patched places were read.
KERAS = "Keras 3.15.1"

_lock = threading.RLock()


@dataclass(frozen=True)
class Patch:
    """One attribute that is set on somebody else's class or module."""

    owner: Any
    attribute: str
    why: str
    set_by: Patches

    @property
    def place(self) -> str:
        """The attribute's full name."""
        owner = self.owner
        names = (owner.__module__, owner.__qualname__) if isinstance(owner, type) else (owner.__name__,)
        return ".".join((*names, self.attribute))


# Patch -> what stood there before it, and what it set.
_set: dict[Patch, tuple[Any, Any]] = {}


class Patches:
    """What one part of this package sets on other people's classes and modules.

    >>> class Owner: x = 1
    >>> core = Patches("the core")
    >>> core.wrap(Owner, "x", lambda before: before + 10, why="an example")
    >>> Owner.x
    11
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def wrap(self, owner: Any, attribute: str, make: Callable[[Any], Any], *, why: str) -> None:
        """Set an attribute to `make(what stood there)`; for the same reason a second time, in place of the first."""
        patch = Patch(owner, attribute, why, self)
        if not hasattr(owner, attribute):
            raise AttributeError(
                f"Expected the attribute {patch.place!r}, which is wrapped: {why}. Received: none. It was read in "
                f"{KERAS}; install a version that the package was tested with, or report this one."
            )
        with _lock:
            now = inspect.getattr_static(owner, attribute)  # a property, a static method itself
            before, ours = _set.get(patch, (now, now))
            if now is not ours:  # somebody has wrapped ours
                return
            _set[patch] = before, make(before)
            setattr(owner, attribute, _set[patch][1])

    def around(self, owner: Any, attribute: str, function: Callable[..., Any], *, why: str) -> None:
        """Let `function` answer calls of a function or method; it gets that one first, and then the arguments."""

        def make(before: Any) -> Any:
            @functools.wraps(before)
            def called(*args: Any, **kwargs: Any) -> Any:
                return function(before, *args, **kwargs)

            return called

        self.wrap(owner, attribute, make, why=why)


CORE = Patches("import parallel_compat")


def patches() -> list[Patch]:
    """List all patches, by the names of their places; those of one place from the lowest up."""
    return sorted(_set, key=lambda patch: patch.place)
