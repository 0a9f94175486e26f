"""How a name of today is spelled in a source, and the import that it needs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ast

    from parallel_compat.migrate.edits import Edit
    from parallel_compat.migrate.file import File

# How an expression of `names/native.py` begins, the module that it means, and the import that brings it.
_HOMES = {
    "ops": ("keras.ops", "from keras import ops"),
    "tf": ("tensorflow", "import tensorflow as tf"),
    "keras": ("keras", "import keras"),
    "legacy_numerics": ("legacy_numerics", ""),
}
_BEGINNING = re.compile(r"(?<![\w.{])(ops|tf|keras|legacy_numerics)\.(\w+)")


def spell(file: File, expression: str, at: ast.AST) -> tuple[str, tuple[Edit, ...]] | None:
    """Spell an expression of `names/native.py` in a source.

    >>> import ast; from parallel_compat.migrate.file import File
    >>> file = File("import keras\\nimport numpy as np\\n")
    >>> spell(file, "ops.mean", file.tree.module.body[0])[0]
    'ops.mean'

    Args:
        file: the source.
        expression: the expression.
        at: where it will stand.

    Returns:
        The text and the edits that import what it needs; None where a name is taken by something else.
    """
    imports: list[Edit] = []
    taken = False

    def spelled(match: re.Match[str]) -> str:
        nonlocal taken
        short, name = match.groups()
        path, statement = _HOMES[short]
        found = _bound(file, f"{path}.{name}" if short == "legacy_numerics" else path, at)
        if short == "legacy_numerics":
            if found is None and not _is_free(file, name, at):
                taken = True
            if found is None:
                imports.append(import_numerics(file, name))
            return found or name
        if found is None and _is_free(file, short, at):
            imports.append(file.import_after(statement))
            found = short
        if found is None and short == "ops":
            keras = _bound(file, "keras", at)
            found = f"{keras}.ops" if keras else None
        taken = taken or found is None
        return f"{found}.{name}"

    text = _BEGINNING.sub(spelled, expression)
    return None if taken else (text, tuple(imports))


def _bound(file: File, path: str, at: ast.AST) -> str | None:
    """Return the name that means a module or object everywhere in the file."""
    for name, bindings in file.tree.root.bindings.items():
        if (
            len(bindings) == 1
            and bindings[0].statement is not None
            and bindings[0] not in file.redirects
            and file.names.path_of_binding(bindings[0]) in (path, f"tensorflow.{path}")
            and file.tree.parents[bindings[0].statement] is file.tree.module
            and not file.shadows(name, bindings[0], at)
        ):
            return name
    return None


def _is_free(file: File, name: str, at: ast.AST) -> bool:
    for above in [at, *file.tree.ancestors(at)]:
        scope = file.tree.scopes.get(above)
        if scope is not None and scope.find(name):
            return False
    return not file.tree.root.find(name) and file.names.star_path(name) is None


def import_numerics(file: File, name: str) -> Edit:
    """Return the edit that imports a helper: after the last import at the top of the module."""
    import ast

    last = None
    for statement in file.tree.module.body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            last = statement
    text = f"from legacy_numerics import {name}"
    return file.insert_statement(last, text) if last is not None else file.import_after(text)
