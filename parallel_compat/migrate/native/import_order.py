"""The imports of a rewritten source: one statement for each module, those of Keras in order."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from parallel_compat.migrate.dotted_names import modules_of, packages_of
from parallel_compat.migrate.edits import Edit
from parallel_compat.migrate.parsed import parse
from parallel_compat.migrate.source import Source
from parallel_compat.names.native import NUMERICS

_LENGTH = 100
_Import: TypeAlias = "ast.Import | ast.ImportFrom"


def edits(text: str) -> list[Edit]:
    """Return the edits that put the imports of Keras and of helpers in order, where they follow each other.

    >>> from parallel_compat.migrate.edits import apply
    >>> text = "from keras.layers import Dense\\nimport keras\\nfrom keras.layers import Input\\n"
    >>> print(apply(text, edits(text)), end="")
    import keras
    from keras.layers import Dense, Input
    """
    source = Source(text)
    found = []
    for group in _groups(source):
        lines = [source.segment(statement) for statement in group]
        ordered = _ordered(group, lines, source.newline)
        if ordered != lines:
            start, end = source.start(group[0]), source.end(group[-1])
            found.append(Edit(start, end, source.newline.join(ordered)))
    return found


def _groups(source: Source) -> Iterator[Sequence[_Import]]:
    """Imports on lines that follow each other, each on one line of its own and without a comment."""
    group: list[_Import] = []
    for statement in [*parse(source.text).body, None]:
        alone = (
            isinstance(statement, ast.Import | ast.ImportFrom)
            and statement.lineno == statement.end_lineno
            and source.line(statement.lineno) == source.segment(statement)
        )
        if group and not (alone and statement is not None and statement.lineno == group[-1].lineno + 1):
            yield group
            group = []
        if alone and isinstance(statement, ast.Import | ast.ImportFrom):
            group.append(statement)


def _ordered(group: Sequence[_Import], lines: list[str], newline: str) -> list[str]:
    """Return the lines in order: those of one module as one, new ones first, the helpers last."""
    merged: dict[str, tuple[_Import, list[str], str]] = {}
    for statement, line in zip(group, lines, strict=True):
        names = [_spelled(alias) for alias in statement.names]
        key = line
        if isinstance(statement, ast.ImportFrom) and _is_ours(statement) and "*" not in names:
            key = f"from {statement.module}"
        if key in merged:
            _, together, before = merged[key]
            more = [name for name in names if name not in together]
            both = sorted([*together, *more]) if more else together
            merged[key] = statement, both, _from(statement, both, newline) if more else before
        else:
            merged[key] = statement, names, line
    entries = list(merged.values())
    keras = [index for index, (statement, _, _) in enumerate(entries) if _is_of_keras(statement)]
    ranked = sorted((entries[index] for index in keras), key=lambda entry: _rank(entry[0]))
    for index, entry in zip(keras, ranked, strict=True):
        entries[index] = entry
    entries.sort(key=lambda entry: isinstance(entry[0], ast.ImportFrom) and entry[0].module == NUMERICS)
    return [line for _, _, line in entries]


def _rank(statement: _Import) -> int:
    if isinstance(statement, ast.Import):
        return 0
    return 1 if statement.module == "keras" else 2


def _is_of_keras(statement: _Import) -> bool:
    if isinstance(statement, ast.Import):
        return modules_of(statement) == ["keras"]
    return packages_of(statement) == {"keras"}


def _is_ours(statement: ast.ImportFrom) -> bool:
    return bool(packages_of(statement) & {"keras", "tensorflow", NUMERICS})


def _from(statement: _Import, names: list[str], newline: str) -> str:
    assert isinstance(statement, ast.ImportFrom)
    start = f"from {statement.module} import "
    line = start + ", ".join(names)
    if len(line) <= _LENGTH:
        return line
    return newline.join([f"{start}(", *(f"    {name}," for name in names), ")"])


def _spelled(alias: ast.alias) -> str:
    return f"{alias.name} as {alias.asname}" if alias.asname else alias.name
