"""What people type when they look for an old name: a part of it, a method, an argument, or a whole error message."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING

from parallel_compat.names import table
from parallel_compat.names.arguments import arguments
from parallel_compat.names.error_messages import errors
from parallel_compat.names.members import members

if TYPE_CHECKING:
    from collections.abc import Iterator

    from parallel_compat.names.table import Argument, Member, Path

MOST = 8  # answers to one question; more would hide the one that is meant
_ALIASES = {"K": "keras.backend", "tf": "tensorflow"}


def answers(question: str) -> list[str]:
    """Answer a question about an old name.

    >>> answers("K.int_shape")
    ['keras.backend.int_shape: provided, parallel_compat.legacy.backend.int_shape']

    Args:
        question: a dotted path under any spelling, a bare name (`np_utils`, `multi_gpu_model`), a method
            (`Model.fit_generator`), an argument (`nb_epoch`), or an error message.

    Returns:
        A line for each thing that may be meant, the exact one alone where there is one; empty if nothing fits.
    """
    for error in errors():
        if error.matches(question):
            return [f"{error.title}: {error.cause} {error.remedy}"]
    text = _unquoted(question)
    if re.search(r"\s", text):
        quoted = re.findall(r"['\"`]([\w.]+)['\"`]", text)
        return [line for name in quoted for line in answers(name)][:MOST]
    head, dot, rest = text.partition(".")
    path = f"{_ALIASES.get(head, head)}{dot}{rest}"
    exact = _exact(path)
    return [exact] if exact else list(_that_end_in(text))[:MOST]


def near(question: str) -> list[str]:
    """Return names that are spelled almost as the question is."""
    text = _unquoted(question)
    last = text.rpartition(".")[2]
    return difflib.get_close_matches(last, sorted(_last_parts()), n=3, cutoff=0.75)


def _unquoted(question: str) -> str:
    return question.strip().strip("`'\"").removesuffix("()")


def _exact(path: str) -> str | None:
    row, module = table.lookup(path), table.module(path)
    if row is not None:
        return _of_path(row)
    return f"{path}: a module, today {module}" if module else None


def _that_end_in(text: str) -> Iterator[str]:
    """Yield what ends in the text: methods, paths by what became of them, modules, arguments."""
    for members_of_name in members().values():
        for member in members_of_name:
            if f".{member.of}.{member.old}".endswith(f".{text}"):
                yield _of_member(member)
    found: dict[tuple[str, str | None], Path] = {}
    modules = set()
    for path in table.paths():
        if f".{path}".endswith(f".{text}"):
            row = table.lookup(path)
            if row is not None:  # the same thing was importable from several modules: the shortest path stands for all
                key = (row.status.value, row.target)
                found[key] = min(row, found.get(key, row), key=lambda one: len(one.path))
        parent = path.rpartition(".")[0]
        if f".{parent}".endswith(f".{text}"):
            modules.add(parent)
    yield from (_of_path(row) for row in sorted(found.values(), key=lambda row: len(row.path)))
    yield from (
        f"{module}: a module, today {table.module(module)}" for module in sorted(modules) if table.module(module)
    )
    by_meaning: dict[tuple[str, str | None, str], list[Argument]] = {}
    for rows in arguments().values():
        for argument in rows.values() if isinstance(rows, dict) else rows:
            if argument.old == text:
                by_meaning.setdefault((argument.change.value, argument.new, argument.note), []).append(argument)
    for same in by_meaning.values():
        yield _of_argument(same)


def _of_path(row: Path) -> str:
    return f"{row.path}: {row.status.value}" + (f", {row.target}" if row.target else f". {row.note}")


def _of_member(row: Member) -> str:
    call = "()" if row.method else ""
    return f"{row.of}.{row.old}{call}: {row.change.value}" + (f", {row.new}" if row.new else f". {row.note}")


def _of_argument(rows: list[Argument]) -> str:
    first = rows[0]
    of = [row.of.removeprefix("keras.") for row in rows]
    where = ", ".join(of[:3]) + (f" and {len(of) - 3} more" if len(of) > 3 else "")
    new = f", {first.new}=" if first.change.value == "renamed" else f", {first.new}" if first.new else ""
    return f"{first.old}= of {where}: {first.change.value}{new}" + (f". {first.note}" if first.note else "")


def _last_parts() -> set[str]:
    parts = {path.rpartition(".")[2] for path in table.paths()} | set(members())
    parts |= {path.split(".")[-2] for path in table.paths() if path.count(".") > 1}
    return {part for part in parts if not part.startswith("_")}
