"""Edits of a text by character offsets."""

from __future__ import annotations

import io
import itertools
import math
import tokenize
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from parallel_compat.migrate.source import Source


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """Replace the characters from `start` up to `end` by `text`."""

    start: int
    end: int
    text: str


def overlapping(edits: Iterable[Edit]) -> bool:
    """Return whether two of the edits want the same characters.

    Insertions at one place do not overlap, nor does an insertion at the edge of a replacement.
    """
    ordered = sorted(set(edits))
    return any(later.start < earlier.end for earlier, later in itertools.pairwise(ordered))


def apply(text: str, edits: Iterable[Edit]) -> str:
    """Apply edits that do not overlap; equal edits count once.

    >>> apply("model.fit(x)", [Edit(0, 0, "f("), Edit(5, 10, ", ")])
    'f(model, x)'
    """
    pieces = []
    position = 0
    for edit in sorted(set(edits)):
        assert edit.start >= position, "edits overlap"
        pieces += [text[position : edit.start], edit.text]
        position = edit.end
    return "".join([*pieces, text[position:]])


def mover(edits: Iterable[Edit]) -> Callable[[int], int]:
    """Return a function: where the text at an offset is after the edits; inside of what is replaced, where that begins.

    >>> list(map(mover([Edit(0, 0, "f("), Edit(5, 10, ", ")]), (0, 7, 11)))
    [2, 7, 10]
    """
    ordered = sorted(set(edits))
    ends = [edit.end for edit in ordered]
    starts = [*(edit.start for edit in ordered), math.inf]
    shifts = [0, *itertools.accumulate(len(edit.text) - (edit.end - edit.start) for edit in ordered)]

    def moved(offset: int) -> int:
        index = bisect_right(ends, offset)
        return int(min(offset, starts[index])) + shifts[index]

    return moved


@dataclass(frozen=True, slots=True)
class Item:
    """An item of a list that commas separate: where it begins, where it ends, where its comma ends."""

    start: int
    end: int
    comma: int | None


@dataclass(frozen=True, slots=True)
class Removal:
    """Take one item out of a list: settled together with the others that leave the same list."""

    items: tuple[Item, ...]
    index: int


@dataclass(frozen=True, slots=True)
class Addition:
    """Add an item at the end of a list that has some: settled together with those that leave it."""

    items: tuple[Item, ...]
    text: str


AnyEdit: TypeAlias = "Edit | Removal | Addition"


def settle(text: str, edits: Iterable[AnyEdit]) -> list[Edit]:
    """Turn removals and additions into edits, all those of one list at once."""
    settled = []
    removals: dict[tuple[Item, ...], set[int]] = {}
    additions: dict[tuple[Item, ...], list[str]] = {}
    for edit in edits:
        if isinstance(edit, Removal):
            removals.setdefault(edit.items, set()).add(edit.index)
        elif isinstance(edit, Addition):
            additions.setdefault(edit.items, []).append(edit.text)
        else:
            settled.append(edit)
    for items, chosen in removals.items():
        removed = remove_items(text, items, chosen)
        if len(chosen) == len(items) and items in additions:
            added = dict.fromkeys(additions.pop(items))
            removed = [Edit(one.start, one.end, ", ".join(added)) for one in removed]
        settled += removed
    for items, texts in additions.items():
        settled += [Edit(items[-1].end, items[-1].end, f", {added}") for added in texts]
    return settled


def items_between(text: str, start: int, end: int) -> tuple[Item, ...]:
    """Return the items of a list that stands between two offsets, without the comments around them.

    >>> items_between("f(a,  # first\\n  (b, c))", 2, 22)
    (Item(start=2, end=3, comma=4), Item(start=16, end=22, comma=None))
    """
    source = Source(f"({text[start:end]}\n)")
    tokens = tokenize.generate_tokens(io.StringIO(source.text, newline="").readline)
    next(tokens)  # the parenthesis
    items: list[Item] = []
    first = last = None
    depth = 1
    for token in tokens:
        begin, after = (start - 1 + source.line_starts[line - 1] + column for line, column in (token.start, token.end))
        if token.type == tokenize.OP:
            depth += (token.string in "([{") - (token.string in ")]}")
        if not depth or (depth == 1 and token.type == tokenize.OP and token.string == ","):
            if first is not None and last is not None:
                items.append(Item(first, last, after if depth else None))
            first = last = None
        elif token.type not in (tokenize.COMMENT, tokenize.NL):
            first, last = begin if first is None else first, after
        if not depth:
            break
    return tuple(items)


def remove_items(text: str, items: Sequence[Item], chosen: set[int]) -> list[Edit]:
    """Remove items of a list together with their commas; comments stay, and so does a trailing comma."""
    kept = [index for index in range(len(items)) if index not in chosen]
    if not kept:
        return [Edit(items[0].start, items[-1].comma or items[-1].end, "")]
    edits = []
    for index in sorted(chosen):
        item = items[index]
        if index > kept[-1]:
            # The end of the list goes together with the comma before it.
            edits.append(Edit(items[kept[-1]].end, items[-1].end, ""))
            break
        start, stop = item.start, item.comma if item.comma is not None else item.end
        following = items[index + 1].start
        gap = text[stop:following]
        if not set(gap) & set("\r\n#"):
            stop = following
        elif _alone_on_its_line(text, start, stop):
            start, stop = _whole_line(text, start, stop)
        elif not gap.strip(" \t\r\n\\"):
            stop = following
        edits.append(Edit(start, stop, ""))
    return edits


def _alone_on_its_line(text: str, start: int, stop: int) -> bool:
    before, after = _whole_line(text, start, stop)
    return not text[before:start].strip() and not text[stop:after].strip()


def _whole_line(text: str, start: int, stop: int) -> tuple[int, int]:
    while start > 0 and text[start - 1] not in "\r\n":
        start -= 1
    while stop < len(text) and text[stop] not in "\r\n":
        stop += 1
    if text[stop : stop + 2] == "\r\n":
        return start, stop + 2
    return start, min(stop + 1, len(text))
