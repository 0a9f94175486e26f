"""What people type when they look for an old name: a part of it, a method, an argument, or a whole error message."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from parallel_compat.names import table
from parallel_compat.names.arguments import arguments
from parallel_compat.names.error_messages import errors
from parallel_compat.names.identifiers import identifiers
from parallel_compat.names.members import members
from parallel_compat.names.table import Argument, Member, Path

MOST = 8  # answers to one question; more would hide the one that is meant
_ALIASES = {"K": "keras.backend", "tf": "tensorflow"}
# How tracebacks spell modules of Keras and TensorFlow that are imported under shorter names.
_SPELLED = re.compile(r"^(tensorflow\._api\.v\d\.|(?=keras\.api\.)keras\.api\.(_v2\.keras\.|_tf_keras\.keras\.)?)")
# What Python says of a name that is missing, with and without the quotes that a shell takes away; and an import itself.
_NAME = r"['\"`‘]?([\w.]+)\b['\"`’]?"
_OF_A_MODULE = (
    rf"cannot import name {_NAME} from (?:partially initialized module )?{_NAME}",
    rf"module {_NAME} has no attribute {_NAME}",
    r"^from ([\w.]+) import (\w+)$",
)
_ALONE = (
    rf"No module named {_NAME}",
    rf"cannot import name {_NAME}",
    rf"object has no attribute {_NAME}",
    rf"unexpected keyword argument {_NAME}",
    rf"Argument\(s\) not recognized: \{{{_NAME}",
    r"^import ([\w.]+)$",
)


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
    text = _unquoted(question)
    if not text:
        return []
    if not re.search(r"\s", text):
        return _of_name(text) or _of_error(text)
    found = _of_message(text) + _of_error(text)
    if not found:
        # Quoted names, and words that look like names of code: fit_generator, CuDNNLSTM, keras.layers.merge.
        names = re.findall(r"['\"`]([\w.]+)['\"`]", text) or re.findall(r"\b\w*[a-z0-9](?:[_.]\w|[A-Z])[\w.]*\w", text)
        found = [line for name in names if not name.endswith("Error") for line in _of_name(name)]
    return list(dict.fromkeys(found))[:MOST]


def is_message(text: str) -> bool:
    """Return whether a text is an error message or an import, rather than several names.

    >>> is_message("from keras.utils import multi_gpu_model"), is_message("np_utils K.int_shape")
    (True, False)
    """
    return bool(_of_message(text) or _of_error(text))


def search_term(message: str) -> list[str]:
    """Return the names in an error message that are looked up in the tables.

    >>> search_term("ValueError: something else"), search_term("'Tower' object has no attribute 'split_batch'")
    ([], ['split_batch', 'Tower'])
    """
    text = _unquoted(message)
    found = [name for pattern in (*_OF_A_MODULE, *_ALONE) for name in _groups(pattern, text)]
    return list(dict.fromkeys([*found, *re.findall(r"['\"`]([\w.]+)['\"`]", text)]))


def _groups(pattern: str, text: str) -> tuple[str, ...]:
    match = re.search(pattern, text)
    return match.groups() if match else ()


def near(question: str) -> list[str]:
    """Return names that are spelled almost as the question is."""
    text = _unquoted(question)
    last = text.rpartition(".")[2]
    return difflib.get_close_matches(last, sorted(_last_parts()), n=3, cutoff=0.75)


def _unquoted(question: str) -> str:
    text = question.strip()
    quote = text[:1]
    if quote in ("'", '"', "`") and len(text) > 1 and text.endswith(quote) and quote not in text[1:-1]:
        text = text[1:-1]
    return text.removesuffix("()")


def _of_error(text: str) -> list[str]:
    """Answer from the page of errors: the part of the message that is known, and what helps."""
    for error in errors():
        known = error.matches(text)
        if known is not None:
            return [f"{known}: {error.cause} {error.remedy}"]
    return []


def _of_message(text: str) -> list[str]:
    """Answer what Python says of a missing name, from the tables of names."""
    for pattern in _OF_A_MODULE:
        match = re.search(pattern, text)
        if match:
            name, module = match.groups() if pattern.startswith("cannot") else match.groups()[::-1]
            exact = _exact(f"{_SPELLED.sub('', module)}.{name}".replace("..", "."))
            return [exact] if exact else [] if "tensorflow" in module else _of_name(name)
    for pattern in _ALONE:
        match = re.search(pattern, text)
        if match:
            found = _of_name(match[1])
            called = re.search(r"(\w+)(?:\.__init__)?\(\) got an unexpected", text)
            if called is None:
                return found
            found = [line for line in found if re.search(rf"\b{called[1]}\b", line)] or found
            return sorted(found, key=lambda line: not line.startswith(f"{match[1]}= "))  # an argument was refused
    return []


def _of_name(text: str) -> list[str]:
    """Answer what a name is today: the exact one, else what ends in it."""
    head, dot, rest = text.partition(".")
    if head == "model":  # of a variable, as most scripts call it
        head = "Model"
    path = f"{_ALIASES.get(head, head)}{dot}{rest}"
    exact = _exact(path)
    if exact and table.lookup(path) is None:  # a module: what of it is elsewhere than the rest
        rows = [table.lookup(f"{path}.{name}") for name in table.names_of(path)]
        own = [_of_path(row) for row in rows if row and re.fullmatch(r"parallel_compat\.\w+", row.target or "")]
        return [*own, exact]
    return [exact] if exact else list(_with_suffix(f"{head}{dot}{rest}"))[:MOST]


def _exact(path: str) -> str | None:
    row, module = table.lookup(path), table.module(path)
    if row is not None:
        return _of_path(row)
    return f"{path}: a module, today {module}" if module else None


def _with_suffix(text: str) -> Iterator[str]:
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
    for identifier in (row for rows in identifiers().values() for row in rows.values()):
        if identifier.old == text:
            yield f"{identifier.old!r} as a {identifier.kind}: today {identifier.new!r}"


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
