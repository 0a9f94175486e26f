"""Notebooks: the source strings of code cells are edited in the file's own text, nothing else is touched.

The code cells together are read as one module, so that an import in the first cell is known in the last. Magics
are hidden from the parser behind comments of the same length. An edit is then made in the string of the line that it
belongs to, and only those strings are rewritten; layout, outputs and metadata stay byte for byte.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from parallel_compat.migrate.edits import Edit, apply
from parallel_compat.names.notebook_cells import commented, python_of_cell

_BLANK = " \t\r\n"
_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],:]|[^\s{}\[\],:"]+')


class BrokenNotebook(ValueError):
    """The file is no JSON: nothing can be said of it."""


class NotANotebook(ValueError):
    """The file is no notebook with Python cells of format 4."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A JSON string of a cell's source: where it lies in the file, its text, and its offset in the module."""

    start: int
    end: int
    text: str
    offset: int


@dataclass(frozen=True, slots=True)
class Cell:
    """A code cell: its number among all cells (from 1), its strings, and where it lies in the module."""

    number: int
    prompt: str
    pieces: tuple[Piece, ...]
    start: int
    end: int
    listed: bool


@dataclass(frozen=True, slots=True)
class Notebook:
    """A notebook's text, its code cells, and the module that they make together."""

    text: str  # the file's text
    cells: tuple[Cell, ...]  # the code cells
    module: str  # their source as one Python module; offsets in it are those of the cells
    unread: tuple[tuple[int, str], ...]  # for cells that are no Python, their number and why

    def prompt(self, number: int) -> str:
        """Return the prompt of a cell, by the cell's number."""
        return next(cell.prompt for cell in self.cells if cell.number == number)

    def cell_at(self, offset: int) -> Cell:
        """Return the cell in which an offset of the module lies; between two, the one before."""
        return next(cell for cell in reversed(self.cells) if cell.start <= offset)

    def rewritten(self, edits: Iterable[Edit]) -> str:
        """Return the notebook's text with edits of the module made in its cells."""
        by_cell: dict[int, list[Edit]] = {}
        for edit in edits:
            cell = self.cell_at(max(edit.start, edit.end - 1))
            # A line is removed with the line end before it, which is another cell's for the first line of a cell.
            within = Edit(max(edit.start, cell.start), edit.end, edit.text)
            by_cell.setdefault(cell.number, []).append(within)
        changes: list[Edit] = []
        for cell in self.cells:
            if cell.number in by_cell:
                changes += _cell_edits(self.text, cell, by_cell[cell.number])
        return apply(self.text, changes)


def read(text: str) -> Notebook:
    """Read a notebook."""
    try:
        document = json.loads(text)
    except ValueError as error:
        raise BrokenNotebook(f"not JSON: {error}") from None
    except RecursionError:
        raise BrokenNotebook("nested too deeply") from None
    if not isinstance(document, dict) or not isinstance(document.get("cells"), list):
        raise NotANotebook("not a notebook of format 4")
    metadata = _part(document, "metadata")
    language = _part(metadata, "language_info").get("name") or _part(metadata, "kernelspec").get("language")
    if language and not str(language).lower().startswith(("python", "ipython")):
        raise NotANotebook(f"its language is {language}")
    spans = _source_spans(text)
    cells: list[Cell] = []
    unread: list[tuple[int, str]] = []
    module: list[str] = []
    offset = 0
    for number, cell in enumerate(document["cells"], start=1):
        strings = spans.get(number - 1, ())
        if not strings or not isinstance(cell, dict) or cell.get("cell_type") != "code":
            continue
        pieces = []
        start = offset
        for begin, end in strings:
            content = json.loads(text[begin:end])
            pieces.append(Piece(begin, end, content, offset))
            offset += len(content)
        listed = isinstance(cell["source"], list)
        texts = [piece.text for piece in pieces]
        if texts != (cell["source"] if listed else [cell["source"]]):
            raise NotANotebook(f"the source of its cell {number} is not text, or is in it twice")
        source = "".join(texts)
        hidden, reason = python_of_cell(source)
        if reason:
            unread.append((number, reason))
            hidden = commented(source)
        cells.append(Cell(number, _prompt(cell, number), tuple(pieces), start, offset, listed))
        module.append(hidden)
        if not source.endswith("\n"):
            module.append("\n")
            offset += 1
    return Notebook(text, tuple(cells), "".join(module), tuple(unread))


def _part(whole: dict[str, Any], key: str) -> dict[str, Any]:
    part = whole.get(key)
    return part if isinstance(part, dict) else {}


def _prompt(cell: dict[str, Any], number: int) -> str:
    """Name a cell as its notebook shows it: by its prompt, or where it was never run by its place."""
    count = cell.get("execution_count")
    return f"In [{count}]" if isinstance(count, int) else f"cell {number}"


def _source_spans(text: str) -> dict[int, list[tuple[int, int]]]:
    """Return where the strings of each cell's source lie, by the cell's index; the text is valid JSON."""
    spans: dict[int, list[tuple[int, int]]] = {}
    path: list[Any] = []  # the key or the index in each object or list around; None before a key
    for match in _TOKEN.finditer(text):
        token = match.group()
        if token in "{[":
            path.append(0 if token == "[" else None)
        elif token in "}]":
            path.pop()
        elif token == ",":
            path[-1] = path[-1] + 1 if isinstance(path[-1], int) else None
        elif token != ":" and path and path[-1] is None:
            path[-1] = json.loads(token)
        elif token.startswith('"') and path[:1] == ["cells"] and path[2:3] == ["source"] and len(path) <= 4:
            spans.setdefault(path[1], []).append(match.span())
    return spans


def _cell_edits(text: str, cell: Cell, edits: list[Edit]) -> list[Edit]:
    """Turn edits of a cell's source into edits of the file: those of the strings that change."""
    pieces = cell.pieces
    contents = [piece.text for piece in pieces]
    for edit in sorted(edits, reverse=True):
        first = max(index for index, piece in enumerate(pieces) if piece.offset <= edit.start)
        last = max(index for index, piece in enumerate(pieces) if index == first or piece.offset < edit.end)
        head = pieces[first].text[: edit.start - pieces[first].offset]
        # Later edits are made already: what follows is read from the contents as they are now.
        contents[first] = head + edit.text + contents[last][edit.end - pieces[last].offset :]
        for index in range(first + 1, last + 1):
            contents[index] = ""
    changes = []
    separator = _separator(text, cell)
    ascii_only = text.isascii()
    for index, (piece, content) in enumerate(zip(pieces, contents, strict=True)):
        if content == piece.text:
            continue
        if cell.listed and not content and len(pieces) > 1:
            if any(contents[:index]):  # with the comma before it, else with the one behind
                changes.append(Edit(pieces[index - 1].end, piece.end, ""))
            else:
                changes.append(Edit(piece.start, pieces[index + 1].start if piece is not pieces[-1] else piece.end, ""))
            continue
        lines = content.splitlines(keepends=True) if cell.listed and content else [content]
        quoted = [json.dumps(line, ensure_ascii=ascii_only) for line in lines]
        changes.append(Edit(piece.start, piece.end, separator.join(quoted)))
    return changes


def _separator(text: str, cell: Cell) -> str:
    """What stands between two strings of the cell's source."""
    if len(cell.pieces) > 1:
        return text[cell.pieces[0].end : cell.pieces[1].start]
    before = text[: cell.pieces[0].start]
    blank = before[len(before.rstrip(_BLANK)) :]
    return "," + (blank or " ")
