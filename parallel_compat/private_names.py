"""Private names of other packages that this one stands on, and whether they are there."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

_ABSENT = object()


@dataclass(frozen=True)
class PrivateName:
    """One private name of another package."""

    # Its full name: `keras.Model._compile_loss`. Of places that releases differ in, all, with " or " between; where
    # there is no such object, the last name is one that the class, module or function gives or keeps: its source has
    # the word.
    place: str
    why: str  # what it is needed for, in a few words
    # The first parameters of a function, with commas between. All others have defaults; "..." at the end says that they
    # need not, as they are handed on.
    parameters: str = ""

    @property
    def name(self) -> str:
        """The last part of its place."""
        return self.place.rpartition(".")[2]


def fault(name: PrivateName) -> str | None:
    """Return a sentence that says what is wrong with a name in the installed packages, or None.

    >>> fault(PrivateName("json.decoder._decode_uXXXX", "an example", "s, pos"))
    >>> fault(PrivateName("json.decoder._decode_UXXXX", "an example"))
    'json.decoder._decode_UXXXX is gone (an example)'
    >>> fault(PrivateName("json.decoder._decode_uXXXX", "an example", "text"))  # doctest: +ELLIPSIS
    'json.decoder._decode_uXXXX(s, pos...) has other parameters than (text) (an example)'
    """
    for place in name.place.split(" or "):
        found = _found(place, exactly=bool(name.parameters))
        if found is not _ABSENT:
            other = _other_parameters(found, name.parameters) if name.parameters else None
            return other and f"{place}{other} has other parameters than ({name.parameters}) ({name.why})"
    return f"{name.place} is gone ({name.why})"


def faults(names: Iterable[PrivateName]) -> list[str]:
    """Return the sentences of all names with which something is wrong."""
    return [sentence for name in names if (sentence := fault(name)) is not None]


def is_there(place: str) -> bool:
    """Whether there is a module, class, function or value at a place; what sources alone have does not count."""
    return _found(place, exactly=True) is not _ABSENT


def _found(place: str, exactly: bool) -> Any:
    """Return what is at a place, or `_ABSENT`; the word itself where only an object's source has it."""
    parts = place.split(".")
    owner: Any = _ABSENT
    for count in range(len(parts), 0, -1):
        try:
            owner = importlib.import_module(".".join(parts[:count]))
        except ImportError:
            continue
        parts = parts[count:]
        break
    while owner is not _ABSENT and parts:
        value = getattr(owner, parts[0], _ABSENT)
        if value is _ABSENT and len(parts) == 1 and not exactly and _has_word(owner, parts[0]):
            return parts[0]
        owner = value
        del parts[0]
    return owner


def _has_word(owner: Any, word: str) -> bool:
    """Whether the source of an object, or of a class that it is made of, has a word."""
    for each in getattr(owner, "__mro__", (owner,)):
        try:
            source = inspect.getsource(each)
        except (OSError, TypeError):  # of the interpreter, or compiled
            continue
        if re.search(rf"\b{re.escape(word)}\b", source):
            return True
    return False


def _other_parameters(function: Any, wanted: str) -> str | None:
    """Return the parameters of a function that are not those wanted, or None."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except ValueError:  # of a function that is compiled
        return "(?)"
    names = wanted.removesuffix(", ...").split(", ")
    required = [
        each
        for each in parameters[len(names) :]
        if each.default is each.empty and each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
    ]
    if [each.name for each in parameters[: len(names)]] == names and (not required or wanted.endswith(", ...")):
        return None
    return f"({', '.join(each.name + ('' if each.default is each.empty else '=...') for each in parameters)})"
