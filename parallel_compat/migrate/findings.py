"""What a rule found, and what became of a file."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field, replace

from parallel_compat.migrate.edits import AnyEdit
from parallel_compat.names.eras import Era


class Status(str, enum.Enum):
    """What is done about a finding."""

    REWRITTEN = "rewritten"  # the edit keeps behaviour, or --unsafe was passed
    UNSAFE = "unsafe"  # there is an edit, made with --unsafe only
    ATTENTION = "attention"  # somebody has to look


@dataclass(frozen=True, slots=True)
class Finding:
    """One legacy use in a source."""

    rule: str  # the rule's name
    offset: int  # where it begins, in characters
    status: Status  # what is done about it
    message: str  # what was found, what it becomes or what to do
    edits: tuple[AnyEdit, ...] = ()  # the edits that rewrite it
    hint: bool = False  # whether it is worth telling only in a project that has other legacy names


@dataclass(frozen=True, slots=True)
class Place:
    """A finding as it is reported: at a line and column (both from 1) of a file; in a notebook, of a cell."""

    path: str  # the file
    line: int  # the line
    column: int  # the column
    rule: str  # the rule's name
    status: Status  # what is done about it
    message: str  # what was found, what it becomes or what to do
    cell: int | None = None  # in a notebook, the cell's number among all cells, from 1
    prompt: str = ""  # how the notebook names that cell, as in `In [3]`


class FileStatus(str, enum.Enum):
    """What became of a file."""

    CHANGED = "changed"
    UNCHANGED = "unchanged"
    SKIPPED = "skipped"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Report:
    """What became of one file."""

    path: str  # as given on the command line, or found below what was given
    status: FileStatus  # what became of it
    reason: str = ""  # for `skipped` and `failed`, why
    places: tuple[Place, ...] = ()  # what was found, in the text before
    places_after: tuple[Place, ...] = ()  # the same, in the text after
    before: str = ""  # the text before
    after: str = ""  # the text after (the same where nothing changed)
    data: bytes = b""  # the bytes to write
    legacy: bool = False  # whether it has a name that only old code uses
    helpers: tuple[str, ...] = ()  # the functions of `legacy_numerics.py` that it imports afterwards
    era: Era | None = None  # whose Keras it was written for, None where that is not known
    if_old: tuple[Place, ...] = ()  # what is found besides if it counts as old, which nothing in it says
    as_old_as: str = ""  # another file of the project, which is certainly old: so this one counts as old
    hinted: Report | None = field(default=None, repr=False)  # the report that counts in an old project

    def settled(self, old: str) -> Report:
        """Return the report with hints where the project is a legacy one, else without."""
        if self.legacy or self.hinted is None:
            return replace(self.hinted or self, hinted=None)
        if_old = tuple(each for each in self.hinted.places if each not in self.places)
        return replace(self.hinted if old else self, hinted=None, if_old=if_old, as_old_as=old)
