"""The line by which a rewritten source says what it was written for, and what was asked for.

A rewritten source looks newer than it is: `learning_rate=`, `history["accuracy"]` and `tf.compat.v1.logging` are what
newer code has. The line keeps the era and the age of the source, so that a later run finds what the first one would
have found. It keeps `--unsafe` and `--to native` too: what was asked for once holds in each later run, so that the
order of runs does not matter.
"""

from __future__ import annotations

import ast
import re
from typing import NamedTuple

from parallel_compat.migrate.edits import Edit
from parallel_compat.migrate.scopes import Tree
from parallel_compat.migrate.source import Source
from parallel_compat.names.eras import Era
from parallel_compat.names.project_files import MIGRATED

_ERAS = "|".join(re.escape(era.value) for era in Era if era is not Era.TODAY)
UNSAFE, NATIVE, KEEP = "--unsafe", "--to native", "--keep parallel"
_ASKED = "".join(rf"(?: {flag})?" for flag in (UNSAFE, NATIVE, KEEP))
_LINE = re.compile(rf"^{MIGRATED}(?: from (?P<era>{_ERAS}))?(?: with(?P<asked>{_ASKED}))?(?=[ \t]*\r?$)", re.MULTILINE)


class Remembered(NamedTuple):
    """What the line says."""

    era: Era | None  # whose Keras the source was written for; None if that is not known
    asked: tuple[str, ...] = ()  # which of the options that change what is written were given


def read(source: str) -> Remembered | None:
    """Return what a source remembers, None where `migrate` has not rewritten it.

    >>> read("# parallel-compat: migrated from keras-2.2.4 with --unsafe\\nimport keras\\n").asked
    ('--unsafe',)
    """
    match = _LINE.search(source)
    if match is None:
        return None
    asked = tuple(flag for flag in (UNSAFE, NATIVE, KEEP) if flag in (match["asked"] or ""))
    return Remembered(Era(match["era"]) if match["era"] else None, asked)


def line(source: Source, tree: Tree, era: Era | None, asked: tuple[str, ...]) -> Edit | None:
    """Return the edit that writes the line before the first import, or changes it; None if it says this already."""
    if (match := _LINE.search(source.text)) is not None:
        text = match[0].partition(" with")[0] + _with(asked)
        return Edit(*match.span(), text) if text != match[0] else None
    body = [node for node in tree.module.body if not _comes_first(node)]
    imports = [node for node in body if isinstance(node, ast.Import | ast.ImportFrom)]
    first = next(iter((*imports, *body)), None)
    if first is None:
        return None
    start = source.line_starts[source.position(source.start(_first_of(first)))[0] - 1]
    text = f"{MIGRATED} from {era.value}" if era is not None else MIGRATED
    return Edit(start, start, text + _with(asked) + source.newline)


def _with(asked: tuple[str, ...]) -> str:
    return " ".join((" with", *asked)) if asked else ""


def _first_of(node: ast.stmt) -> ast.stmt | ast.expr:
    """Return a statement, or its first decorator."""
    decorated = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.decorator_list
    return decorated[0] if decorated else node


def _comes_first(node: ast.stmt) -> bool:
    """Return whether nothing but its like may stand before a statement: a docstring, `from __future__ import ...`."""
    if isinstance(node, ast.ImportFrom) and node.module == "__future__":
        return True
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
