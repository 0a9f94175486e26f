"""Whole statements: taken out of their block, put under a `with`, their lines indented."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Sequence

from parallel_compat.migrate.edits import Edit
from parallel_compat.migrate.file import File


def block_of(file: File, statement: ast.AST) -> list[ast.stmt]:
    """Return the list of statements in which one stands."""
    above = file.tree.parents[statement]
    for name in ("body", "orelse", "finalbody"):
        block = getattr(above, name, None)
        if isinstance(block, list) and statement in block:
            return block
    return []


def statement_of(file: File, node: ast.AST) -> ast.stmt | None:
    """Return the statement that a node is part of."""
    for above in [node, *file.tree.ancestors(node)]:
        if isinstance(above, ast.stmt):
            return above
    return None


def line_start(file: File, node: ast.stmt) -> int:
    """Return the offset of the line on which a statement begins."""
    return file.source.line_starts[_first_line(node) - 1]


def indent_of(file: File, node: ast.stmt) -> str:
    """Return the blanks before a statement."""
    text = file.source.text[line_start(file, node) : file.source.start(node)]
    return text[: len(text) - len(text.lstrip(" \t"))]


def line_end(file: File, node: ast.stmt) -> int:
    """Return the offset at which the line of a statement's end ends, its line end left out."""
    assert node.end_lineno is not None
    return file.source.line_starts[node.end_lineno - 1] + len(file.source.line(node.end_lineno))


def is_alone(file: File, node: ast.stmt) -> bool:
    """Return whether a statement has its lines for itself, but for a comment."""
    text = file.source.text
    before = text[line_start(file, node) : file.source.start(node)]
    after = text[file.source.end(node) : line_end(file, node)].strip()
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        before = ""
    return not before.strip() and (not after or after.startswith("#"))


def remove_statement(file: File, node: ast.stmt) -> Edit:
    """Take a statement out; `pass` stays where it was the only one of its block."""
    if len(block_of(file, node)) == 1 and not isinstance(file.tree.parents[node], ast.Module):
        return file.replace(node, "pass")
    if is_alone(file, node):
        end = line_end(file, node)
        return Edit(line_start(file, node), _after_line_end(file.source.text, end), "")
    text, start, end = file.source.text, file.source.start(node), file.source.end(node)
    following = text[end:]
    rest = following.lstrip(" \t")
    if rest.startswith(";"):
        end += len(following) - len(rest) + 1
        end += len(text[end:]) - len(text[end:].lstrip(" \t"))
    else:
        start = len(text[:start].rstrip(" \t;"))
    return Edit(start, end, "")


def under(
    file: File,
    statements: Sequence[ast.stmt],
    before: str,
    header: str,
    *,
    replaced: ast.stmt | None = None,
    inner: ast.With | None = None,
    gone: Sequence[ast.stmt] = (),
) -> list[Edit]:
    """Put statements that follow each other under a `with`.

    Args:
        statements: they, in order; each has its lines for itself.
        before: what stands before the `with`, lines without their indentation; often empty.
        header: the line of the `with`, without its colon.
        replaced: one of the statements that is replaced by a line, or taken out.
        inner: one of the statements, a `with` of the same header: its body goes on under the new one.
        gone: statements among these that are taken out.
    """
    newline, indent = file.source.newline, indent_of(file, statements[0])
    step = "\t" if indent.startswith("\t") else "    "
    lines = [*before.splitlines(), f"{header}:"]
    inside = _lines_within_strings(file.source.text)
    assert statements[-1].end_lineno is not None
    if replaced is not None and replaced.end_lineno is not None:
        inside |= set(range(_first_line(replaced) + 1, replaced.end_lineno + 1))
    taken_out: set[int] = set()
    for one in gone:
        assert one.end_lineno is not None
        taken_out |= set(range(_first_line(one), one.end_lineno + 1))
    if inner is not None and inner.end_lineno is not None:
        taken_out |= set(range(inner.lineno, _first_line(inner.body[0])))
        inside |= set(range(_first_line(inner.body[0]), inner.end_lineno + 1))
    edits: list[Edit] = []
    for number in range(_first_line(statements[0]), statements[-1].end_lineno + 1):
        start = file.source.line_starts[number - 1]
        head = "".join(indent + line + newline for line in lines) if not edits else ""
        if number in taken_out:
            edits.append(Edit(start, file.source.line_starts[number], head))
        elif not edits or (number not in inside and file.source.line(number).strip()):
            edits.append(Edit(start, start, head + step))
    return edits


def _first_line(node: ast.stmt) -> int:
    decorators = getattr(node, "decorator_list", [])
    lines: list[int] = [node.lineno, *(decorator.lineno for decorator in decorators)]
    return min(lines)


def _after_line_end(text: str, position: int) -> int:
    if text[position : position + 2] == "\r\n":
        return position + 2
    return min(position + 1, len(text))


def _lines_within_strings(text: str) -> set[int]:
    """Return the numbers of the lines that begin inside a string."""
    lines: set[int] = set()
    begun: list[int] = []
    for token in tokenize.generate_tokens(io.StringIO(text, newline="").readline):
        name = tokenize.tok_name[token.type]
        if name.endswith("STRING_START"):
            begun.append(token.start[0])
        elif name.endswith("STRING_END"):
            lines.update(range(begun.pop() + 1, token.end[0] + 1))
        elif name == "STRING":
            lines.update(range(token.start[0] + 1, token.end[0] + 1))
    return lines
