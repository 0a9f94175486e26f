"""`legacy_numerics.py`: the helpers that a project needs, copied into it once."""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files

from parallel_compat.migrate import project
from parallel_compat.migrate.dotted_names import names_in
from parallel_compat.migrate.findings import FileStatus, Place, Report, Status
from parallel_compat.names.native import NUMERICS

NAME = f"{NUMERICS}.py"
_HEADER = '''"""What Keras 1 and 2 computed and Keras 3 has no spelling of; each says where it comes from.

Written by `parallel-compat migrate --to native`. It is part of this project from now on, and needs nothing but Keras.
"""
'''
_TAKEN = (
    "`legacy_numerics.py` is there already, and not written by `migrate`: give it another name, and run this again."
)
_ON_STDIN = "This needs helpers in `legacy_numerics.py`, which is written where `migrate` is given files."


def is_ours(text: str) -> bool:
    """Return whether a text is one that `source` made."""
    return text.startswith(_HEADER.partition("\n")[0])


def needed(text: str) -> frozenset[str]:
    """Return the helpers that a source imports."""
    names: set[str] = set()
    if NUMERICS in text:
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom) and node.module == NUMERICS and node.level == 0:
                names.update(alias.name for alias in node.names)
    return frozenset(names)


def source(names: Iterable[str]) -> str:
    """Return the file with these helpers, what they use of each other, and the imports of both."""
    text, definitions, imports = _original()
    chosen: set[str] = set()
    waiting = [name for name in names if name in definitions]
    while waiting:
        name = waiting.pop()
        if name not in chosen:
            chosen.add(name)
            waiting += [used for used in names_in(definitions[name]) if used in definitions]
    used = {name for one in chosen for name in names_in(definitions[one])}
    lines = text.splitlines()
    statements = [bound for bound in imports if bound[1] & used]
    plain = [ast.unparse(one) for one, _ in statements if _is_standard(one)]
    others = [ast.unparse(one) for one, _ in statements if not _is_standard(one)]
    head = "\n\n".join("\n".join(group) for group in (plain, others) if group)
    bodies = [_segment(lines, definitions[name]) for name in definitions if name in chosen]
    return "\n\n\n".join([f"{_HEADER}\n{head}", *bodies]) + "\n"


def reports(rewritten: Sequence[Report]) -> list[Report]:
    """Return the reports of the files of helpers that rewritten files need."""
    wanted: dict[str, set[str]] = {}
    absolute = False
    for one in rewritten:
        if one.helpers:
            absolute = absolute or os.path.isabs(one.path)
            wanted.setdefault(home(one.path), set()).update(one.helpers)
    found = []
    for folder, chosen in sorted(wanted.items()):
        path = os.path.normpath(os.path.join(folder if absolute else os.path.relpath(folder), NAME))
        before = ""
        if os.path.exists(path):
            with open(path, encoding="utf-8", errors="replace") as stream:
                before = stream.read()
            if not is_ours(before):
                place = Place(path, 1, 1, "native-names", Status.ATTENTION, _TAKEN)
                found.append(Report(path, FileStatus.UNCHANGED, places=(place,), before=before, after=before))
                continue
            chosen |= _defined(before)
        after = source(chosen)
        status = FileStatus.CHANGED if after != before else FileStatus.UNCHANGED
        found.append(Report(path, status, before=before, after=after, data=after.encode("utf-8")))
    return found


def on_stdin(text: str) -> tuple[Place, ...]:
    """Return what is to be said of a source that has no place."""
    return (Place("-", 1, 1, "native-names", Status.ATTENTION, _ON_STDIN),) if needed(text) else ()


def home(path: str) -> str:
    """Return the folder from which a file's modules are imported: above its package, or where its imports are found."""
    folder = os.path.dirname(os.path.abspath(path))
    if path.endswith(".ipynb"):
        return folder
    while os.path.exists(os.path.join(folder, "__init__.py")):
        folder = os.path.dirname(folder)
    for dotted in _absolute_imports(path):
        found = project.module_of(path, f"{dotted}.x")
        if found is not None:
            root = found[0].removesuffix(".py").removesuffix(f"{os.sep}__init__")
            return root[: -len(dotted) - 1]
    return folder


def _absolute_imports(path: str) -> list[str]:
    try:
        with open(path, "rb") as stream:
            tree = ast.parse(stream.read())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return []
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and not node.level]
    return [node.module for node in nodes if node.module and node.module != NUMERICS]


@cache
def _original() -> tuple[str, dict[str, ast.stmt], list[tuple[ast.Import | ast.ImportFrom, set[str]]]]:
    text = (files(__package__) / NAME).read_text("utf-8")
    definitions: dict[str, ast.stmt] = {}
    imports: list[tuple[ast.Import | ast.ImportFrom, set[str]]] = []
    for statement in ast.parse(text).body:
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            definitions[statement.name] = statement
        elif isinstance(statement, ast.Import | ast.ImportFrom):
            bound = {alias.asname or alias.name.partition(".")[0] for alias in statement.names}
            imports.append((statement, bound))
    return text, definitions, imports


def _is_standard(statement: ast.Import | ast.ImportFrom) -> bool:
    module = statement.module if isinstance(statement, ast.ImportFrom) else statement.names[0].name
    return (module or "").partition(".")[0] in sys.stdlib_module_names


def _segment(lines: list[str], statement: ast.stmt) -> str:
    first = min([statement.lineno, *(one.lineno for one in getattr(statement, "decorator_list", []))])
    return "\n".join(lines[first - 1 : statement.end_lineno])


def _defined(text: str) -> set[str]:
    try:
        body = ast.parse(text).body
    except SyntaxError:
        return set()
    return {one.name for one in body if isinstance(one, ast.FunctionDef | ast.ClassDef)}
