"""What a rule found, and what became of a file."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from parallel_compat.migrate.edits import AnyEdit
from parallel_compat.names.eras import Era


class Status(str, enum.Enum):
    """What is done about a finding."""

    REWRITTEN = "rewritten"  # the edit keeps behaviour, or --unsafe was passed
    UNSAFE = "unsafe"  # there is an edit, made with --unsafe only
    ATTENTION = "attention"  # somebody has to look


@dataclass(frozen=True, slots=True)
class Finding:
    """One legacy use in a source.

    Attributes:
        rule: the rule's name.
        offset: where it begins, in characters.
        status: what is done about it.
        message: what was found, what it becomes or what to do.
        edits: the edits that rewrite it.
        hint: whether it is worth telling only in a project that has other legacy names.
    """

    rule: str
    offset: int
    status: Status
    message: str
    edits: tuple[AnyEdit, ...] = ()
    hint: bool = False


Findings: TypeAlias = Iterator[Finding]


@dataclass(frozen=True, slots=True)
class Place:
    """A finding as it is reported: at a line and column (both from 1) of a file; in a notebook, of a cell.

    Attributes:
        path: the file.
        line: the line.
        column: the column.
        rule: the rule's name.
        status: what is done about it.
        message: what was found, what it becomes or what to do.
        cell: in a notebook, the cell's number among all cells, from 1.
        prompt: how the notebook names that cell, as in `In [3]`.
    """

    path: str
    line: int
    column: int
    rule: str
    status: Status
    message: str
    cell: int | None = None
    prompt: str = ""


class FileStatus(str, enum.Enum):
    """What became of a file."""

    CHANGED = "changed"
    UNCHANGED = "unchanged"
    SKIPPED = "skipped"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Report:
    """What became of one file.

    Attributes:
        path: as given on the command line, or found below what was given.
        status: what became of it.
        reason: for `skipped` and `failed`, why.
        places: what was found.
        before: the text before.
        after: the text after (the same where nothing changed).
        data: the bytes to write.
        legacy: whether it has a name that only old code uses.
        helpers: the functions of `legacy_numerics.py` that it imports afterwards.
        era: whose Keras it was written for, None where that is not known.
        if_old: what is found besides if it counts as old, which nothing in it says.
        as_old_as: another file of the project, which is certainly old: so this one counts as old.
        hinted: the report that counts in an old project.
    """

    path: str
    status: FileStatus
    reason: str = ""
    places: tuple[Place, ...] = ()
    before: str = ""
    after: str = ""
    data: bytes = b""
    legacy: bool = False
    helpers: tuple[str, ...] = ()
    era: Era | None = None
    if_old: tuple[Place, ...] = ()
    as_old_as: str = ""
    hinted: Report | None = field(default=None, repr=False)

    def settled(self, old: str) -> Report:
        """Return the report with hints where the project is a legacy one, else without."""
        if self.legacy or self.hinted is None:
            return replace(self.hinted or self, hinted=None)
        if_old = tuple(each for each in self.hinted.places if each not in self.places)
        return replace(self.hinted if old else self, hinted=None, if_old=if_old, as_old_as=old)
