"""The line by which a rewritten source says what it was written for.

A rewritten source looks newer than it is: `learning_rate=`, `history["accuracy"]` and `tf.compat.v1.logging` are what
newer code has. The line keeps the era and the age of the source, so that a later run, with whatever options, finds
what the first one would have found.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import NamedTuple

from parallel_compat.migrate.edits import Edit
from parallel_compat.migrate.scopes import Tree
from parallel_compat.migrate.source import Source
from parallel_compat.names.eras import Era

_BEGINNING = "# parallel-compat: migrated"
_ERAS = "|".join(re.escape(era.value) for era in Era if era is not Era.TODAY)
_LINE = re.compile(rf"^{_BEGINNING}(?: from (?P<era>{_ERAS}))?[ \t]*\r?$", re.MULTILINE)


class Remembered(NamedTuple):
    """What the line says.

    Attributes:
        era: whose Keras the source was written for; None if that is not known.
    """

    era: Era | None


def read(source: str) -> Remembered | None:
    """Return what a source remembers, None where `migrate` has not rewritten it.

    >>> read("# parallel-compat: migrated from keras-2.2.4\\nimport keras\\n").era.value
    'keras-2.2.4'
    """
    match = _LINE.search(source)
    return Remembered(Era(match["era"]) if match["era"] else None) if match else None


def line(source: Source, tree: Tree, era: Era | None, others: Sequence[Edit]) -> Edit | None:
    """Return the edit that writes the line before the first import, within none of the others; None if it is there."""
    if read(source.text) is not None:
        return None
    body = [node for node in tree.module.body if not _comes_first(node)]
    imports = [node for node in body if isinstance(node, ast.Import | ast.ImportFrom)]
    starts = [source.start(_first_of(node)) for node in (*imports, *body)]
    start = next((one for one in starts if not any(edit.start < one < edit.end for edit in others)), None)
    if start is None:
        return None
    start = source.line_starts[source.position(start)[0] - 1]
    text = f"{_BEGINNING} from {era.value}" if era is not None else _BEGINNING
    return Edit(start, start, text + source.newline)


def _first_of(node: ast.stmt) -> ast.stmt | ast.expr:
    """Return a statement, or its first decorator."""
    decorated = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.decorator_list
    return decorated[0] if decorated else node


def _comes_first(node: ast.stmt) -> bool:
    """Return whether nothing but its like may stand before a statement: a docstring, `from __future__ import ...`."""
    if isinstance(node, ast.ImportFrom) and node.module == "__future__":
        return True
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
