"""Continuation lines keep their place under the bracket that they are aligned with, where edits move that bracket."""

from __future__ import annotations

import bisect
import io
import token
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from parallel_compat.migrate.edits import Edit

_BLANK = (token.NL, token.NEWLINE, token.INDENT, token.DEDENT, token.ENDMARKER)


@dataclass(slots=True)
class _Bracket:
    """An open bracket: where it is, and where what follows it on its line begins, if something does."""

    line: int
    column: int
    content: int | None = None


def realigned(text: str, edits: Sequence[Edit]) -> list[Edit]:
    """Return the edits that move continuation lines along with their brackets.

    >>> source = "x = K.sum(y,\\n          axis=1)\\n"
    >>> realigned(source, [Edit(4, 5, "ops")])
    [Edit(start=13, end=23, text='            ')]
    """
    starts = [0]
    for content in text.split("\n"):
        starts.append(starts[-1] + len(content) + 1)
    ordered = sorted(set(edits))
    by_line: dict[int, list[Edit]] = {}
    for edit in ordered:
        for line in range(_line_of(starts, edit.start), _line_of(starts, edit.end) + 1):
            by_line.setdefault(line, []).append(edit)
    moved: dict[int, int] = {}
    made = []
    try:
        for line, indent, around in _continuations(text):
            begin = starts[line]
            if text[begin : begin + indent].strip(" "):
                continue  # with tabs, columns are what an editor shows
            line_moved = moved.get(around[-1].line, 0)
            bracket = _leading(around, indent)
            own = by_line.get(line, ())
            if bracket is None:
                by = line_moved
            else:  # where the whole statement is indented, the line is as well
                indented = sum(len(edit.text) for edit in own if edit.start == edit.end == begin)
                by = _moved_by(bracket, starts, by_line.get(bracket.line, ()), line_moved) - indented
            inside = any(edit.start < begin + indent and edit.end > begin for edit in own)
            if by and not inside:
                moved[line] = max(by, -indent)
                made.append(Edit(begin, begin + indent, " " * (indent + moved[line])))
    except (tokenize.TokenError, SyntaxError):
        return []
    return made


def _line_of(starts: list[int], offset: int) -> int:
    return bisect.bisect_right(starts, offset) - 1


def _leading(around: Sequence[_Bracket], indent: int) -> _Bracket | None:
    """Return the bracket that a line is aligned with, or hangs from, right of where that one's content begins.

    None is for a line that hangs from the beginning of the one before.
    """
    innermost = around[-1]
    if indent in (innermost.column, innermost.content):
        return innermost
    for bracket in reversed(around[:-1]):
        if bracket.line == innermost.line and bracket.content is not None and bracket.content < indent:
            return bracket
    return None


def _continuations(text: str) -> Iterator[tuple[int, int, Sequence[_Bracket]]]:
    """Yield the lines that begin within brackets: their number from 0, their indent, the brackets around them."""
    stack: list[_Bracket] = []
    last = 0  # the line in which the token before ends
    for one in tokenize.generate_tokens(io.StringIO(text).readline):
        line, column = one.start[0] - 1, one.start[1]
        if one.type in _BLANK:
            continue
        if stack and line > last:
            yield line, column, stack
        elif stack and stack[-1].content is None and line == stack[-1].line and one.type != token.COMMENT:
            stack[-1].content = column
        last = one.end[0] - 1
        if one.type == token.OP and one.string in "([{":
            stack.append(_Bracket(line, column))
        elif one.type == token.OP and one.string in ")]}" and stack:
            stack.pop()


def _moved_by(bracket: _Bracket, starts: list[int], edits: Sequence[Edit], line_moved: int) -> int:
    """Return by how many columns a bracket moves; 0 where it is replaced itself."""
    start, offset = starts[bracket.line], starts[bracket.line] + bracket.column
    column = bracket.column + line_moved
    for edit in edits:
        if edit.start <= offset < edit.end or (edit.start < start and "\n" not in edit.text):
            return 0
        if edit.end <= offset:
            _, newline, tail = edit.text.rpartition("\n")
            if newline:
                column = len(tail) + offset - edit.end
            else:
                column += len(tail) - (edit.end - edit.start)
    return column - bracket.column
