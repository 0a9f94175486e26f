"""The one register of what this package sets on classes and modules of Keras and TensorFlow.

Each patch is a function from what stood there to what shall stand there, with its reason. The patches of one attribute
are chained: those of the core, which stay, stand below those that come and go. What an attribute is in the end is the
same in whatever order they were set and undone. A patch of an attribute that is not there is an error that names it:
Keras has another name for it by now.
"""

from __future__ import annotations

import contextlib
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Where the patched places were read.
KERAS = "Keras 3.15.1"

_ABSENT = object()
_READ = f"It was read in {KERAS}; install a version that the package was tested with, or report this one."
_lock = threading.RLock()


@dataclass(frozen=True, eq=False)
class Patch:
    """One attribute that is set on somebody else's class or module.

    Attributes:
        owner: the class or module.
        attribute: its attribute.
        make: returns what shall stand there, given what stood there (as in `__dict__`).
        why: what it is for, in a sentence. A patch of the same setter with the same reason is the same patch.
        set_by: who set it.
    """

    owner: Any
    attribute: str
    make: Callable[[Any], Any]
    why: str
    set_by: Patches

    @property
    def place(self) -> str:
        """The attribute's full name."""
        owner = self.owner
        names = (owner.__module__, owner.__qualname__) if isinstance(owner, type) else (owner.__name__,)
        return ".".join((*names, self.attribute))

    def is_same(self, other: Patch | None) -> bool:
        """Whether another patch of this attribute is this one, set before."""
        return other is not None and (self.set_by, self.why) == (other.set_by, other.why)


class _Place:
    """An attribute with its patches, the lowest first: (patch, what stands there with it).

    What somebody else set above ours is kept in the chain with None for its patch.
    """

    def __init__(self, owner: Any, attribute: str) -> None:
        self.owner, self.attribute = owner, attribute
        self.original = vars(owner).get(attribute, _ABSENT)
        self.chain: list[tuple[Patch | None, Any]] = []

    def _value(self, below: int) -> Any:
        return self.chain[below - 1][1] if below else self.original

    def _note_what_others_set(self) -> None:
        now = vars(self.owner).get(self.attribute, _ABSENT)
        if now is not self._value(len(self.chain)):
            self.chain.append((None, now))

    def _chain_from(self, start: int, patches: list[Patch | None]) -> None:
        """Build the value again, from `start` upwards."""
        del self.chain[start:]
        for patch in patches:
            if patch is None:  # it holds what stood below it: nothing can be put under it
                continue
            below = self._value(len(self.chain))
            if below is _ABSENT:
                below = _inherited(self.owner, self.attribute)
            self.chain.append((patch, patch.make(below)))
        value = self._value(len(self.chain))
        if value is not _ABSENT:
            setattr(self.owner, self.attribute, value)
        elif self.attribute in vars(self.owner):
            delattr(self.owner, self.attribute)

    def set(self, patch: Patch, *, once: bool) -> None:
        self._note_what_others_set()
        patches = [each for each, _ in self.chain]
        for i, each in enumerate(patches):
            if once and patch.is_same(each):
                if None not in patches[i:]:
                    self._chain_from(i, [patch, *patches[i + 1 :]])
                return
        lowest = len(patches) - patches[::-1].index(None) if None in patches else 0
        at = next(
            (i for i, each in enumerate(patches) if i >= lowest and each and each.set_by.rank > patch.set_by.rank),
            len(patches),
        )
        self._chain_from(at, [patch, *patches[at:]])

    def undo(self, is_undone: Callable[[Patch], bool]) -> None:
        self._note_what_others_set()
        patches = [each for each, _ in self.chain]
        lowest = next((i for i, each in enumerate(patches) if each is not None and is_undone(each)), None)
        if lowest is not None:
            self._chain_from(lowest, [each for each in patches[lowest:] if each is not None and not is_undone(each)])


def _inherited(owner: Any, attribute: str) -> Any:
    kinds = owner.__mro__[1:] if isinstance(owner, type) else ()
    return next((vars(kind)[attribute] for kind in kinds if attribute in vars(kind)), _ABSENT)


_places: dict[tuple[int, str], _Place] = {}


class Patches:
    """What one part of this package sets on other people's classes and modules.

    >>> class Owner: x = 1
    >>> core, step = Patches("the core", 0), Patches("a step", 1)
    >>> step.wrap(Owner, "x", lambda below: below + 10, why="an example")
    >>> core.wrap(Owner, "x", lambda below: below * 2, why="an example")
    >>> step.add(Owner, "y", 3, why="another one")
    >>> Owner.x, Owner.y
    (12, 3)
    >>> step.undo()
    >>> Owner.x, hasattr(Owner, "y")
    (2, False)
    >>> core.undo()

    Args:
        name: who sets them.
        rank: its place in the chain; the patches of a higher rank stand above those of a lower one.
    """

    def __init__(self, name: str, rank: int) -> None:
        self.name = name
        self.rank = rank

    def wrap(self, owner: Any, attribute: str, make: Callable[[Any], Any], *, why: str) -> None:
        """Set an attribute to `make(what stood there)`, once: see `Patch`.

        Raises:
            AttributeError: the owner has no such attribute.
        """
        self._set(Patch(owner, attribute, make, why, self), once=True)

    def set(self, owner: Any, attribute: str, value: Any, *, why: str) -> None:
        """Set an attribute, whatever stood there.

        Raises:
            AttributeError: the owner has no such attribute.
        """
        self.wrap(owner, attribute, lambda _: value, why=why)

    def add(self, owner: Any, attribute: str, value: Any, *, why: str) -> None:
        """Set an attribute that the owner does not have.

        Raises:
            AttributeError: the owner has one of this name.
        """
        patch = Patch(owner, attribute, lambda _: value, why, self)
        with _lock:
            place = _places.get((id(owner), attribute))
            is_ours = place is not None and any(patch.is_same(each) for each, _ in place.chain)
            if not is_ours and hasattr(owner, attribute):
                raise AttributeError(f"Expected no attribute {patch.place!r}, which is added: {why}. {_READ}")
            self._set(patch, once=True, new=True)

    def _set(self, patch: Patch, *, once: bool, new: bool = False) -> None:
        with _lock:
            key = (id(patch.owner), patch.attribute)
            place = _places.get(key)
            if place is None:
                if not new and not hasattr(patch.owner, patch.attribute):
                    raise AttributeError(
                        f"Expected the attribute {patch.place!r}, which is wrapped: {patch.why}. Received: none. "
                        f"{_READ}"
                    )
                place = _places[key] = _Place(patch.owner, patch.attribute)
            place.set(patch, once=once)

    def undo(self) -> None:
        """Put back what would stand there without the patches of this setter."""
        self._undo(lambda patch: patch.set_by is self)

    def _undo(self, is_undone: Callable[[Patch], bool]) -> None:
        with _lock:
            for key, place in list(_places.items()):
                place.undo(is_undone)
                if not any(patch for patch, _ in place.chain):
                    del _places[key]

    @contextlib.contextmanager
    def for_a_while(self, owner: Any, attribute: str, make: Callable[[Any], Any], *, why: str) -> Iterator[None]:
        """Wrap an attribute for the length of a `with` block."""
        patch = Patch(owner, attribute, make, why, self)
        self._set(patch, once=False)
        try:
            yield
        finally:
            self._undo(lambda each: each is patch)


CORE = Patches("import parallel_compat", 0)
STEP = Patches("the step that is being traced", 2)


def patches() -> list[Patch]:
    """List all patches that are set now, by the names of their places; those of one place from the lowest up."""
    with _lock:
        found = [patch for place in _places.values() for patch, _ in place.chain if patch is not None]
    return sorted(found, key=lambda patch: patch.place)
