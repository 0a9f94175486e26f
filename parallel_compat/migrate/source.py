"""Source text as it lies on disk: bytes in, bytes out, positions in characters."""

from __future__ import annotations

import ast
import codecs
import io
import re
import tokenize
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

from parallel_compat.names import old_sources

_LINE_END = re.compile(r"\r\n|\n|\r")


# https://peps.python.org/pep-0263/
_CODING_LINE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*[-\w.]+")
_HINT = f". {old_sources.CODING_LINE}"


class Undecodable(ValueError):
    """The bytes are not text in the encoding that the file names."""


def decode(data: bytes) -> tuple[str, str, bytes]:
    """Decode Python source as Python does.

    Returns:
        The text without its byte order mark, the encoding, and the byte order mark (often empty).
    """
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        mark = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
        encoding = "utf-8" if mark else encoding
        text = data[len(mark) :].decode(encoding)
        faithful = text.encode(encoding) == data[len(mark) :]
    except (SyntaxError, UnicodeError, LookupError) as error:
        raise Undecodable(f"{error}{_HINT if _has_no_coding_line(data) else ''}") from None
    if not faithful:
        raise Undecodable(f"{encoding} does not survive a round trip")
    return text, encoding, mark


def _has_no_coding_line(data: bytes) -> bool:
    return not any(_CODING_LINE.match(line) for line in data.splitlines()[:2])


@dataclass(frozen=True)
class Source:
    """Python source with the positions of `ast` (line, column in UTF-8 bytes) as character offsets."""

    text: str

    @cached_property
    def line_starts(self) -> list[int]:
        """The offset at which each line begins."""
        return [0, *(match.end() for match in _LINE_END.finditer(self.text))]

    @cached_property
    def newline(self) -> str:
        """The line end that the text uses first."""
        found = _LINE_END.search(self.text)
        return found.group() if found else "\n"

    @cached_property
    def quote(self) -> str:
        """The quotation mark that the text uses more often."""
        return '"' if self.text.count('"') > self.text.count("'") else "'"

    def offset(self, line: int, byte_column: int) -> int:
        """Convert a position of `ast` into an offset."""
        start = self.line_starts[line - 1]
        stop = self.line_starts[line] if line < len(self.line_starts) else len(self.text)
        content = self.text[start:stop]
        if content.isascii():
            return start + byte_column
        return start + len(content.encode("utf-8")[:byte_column].decode("utf-8", "ignore"))

    def start(self, node: ast.expr | ast.stmt | ast.keyword | ast.alias) -> int:
        """Return the offset at which a node begins."""
        return self.offset(node.lineno, node.col_offset)

    def end(self, node: ast.expr | ast.stmt | ast.keyword | ast.alias | ast.arg) -> int:
        """Return the offset at which a node ends."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self.offset(node.end_lineno, node.end_col_offset)

    def segment(self, node: ast.expr | ast.stmt | ast.keyword | ast.alias) -> str:
        """Return the text of a node."""
        return self.text[self.start(node) : self.end(node)]

    def position(self, offset: int) -> tuple[int, int]:
        """Return the line and column (both from 1) of an offset."""
        line = bisect_right(self.line_starts, offset)
        return line, offset - self.line_starts[line - 1] + 1

    def before(self, offset: int) -> str:
        """Return what stands before an offset on its line: often blanks."""
        return self.text[self.line_starts[self.position(offset)[0] - 1] : offset]

    def line(self, number: int) -> str:
        """Return a line (from 1) without its end."""
        start = self.line_starts[number - 1]
        stop = self.line_starts[number] if number < len(self.line_starts) else len(self.text)
        return self.text[start:stop].rstrip("\r\n")
