"""How a name of today is spelled in a source, and the import that it needs."""

from __future__ import annotations

import ast
import re

from parallel_compat.migrate.dotted_names import modules_of, packages_of
from parallel_compat.migrate.edits import AnyEdit, Edit
from parallel_compat.migrate.file import File
from parallel_compat.names import table

# How an expression of `names/native.tsv` begins, the module that it means, and the import that brings it.
_HOMES = {
    "ops": ("keras.ops", "from keras import ops"),
    "tf": ("tensorflow", "import tensorflow as tf"),
    "keras": ("keras", "import keras"),
    "legacy_numerics": ("legacy_numerics", ""),
}
_BEGINNING = re.compile(r"(?<![\w.{])(ops|tf|keras|legacy_numerics)\.(\w+)")


def spell(file: File, expression: str, at: ast.AST) -> tuple[str, tuple[Edit, ...]] | None:
    """Spell an expression of `names/native.tsv` in a source.

    >>> import ast; from parallel_compat.migrate.file import File
    >>> file = File("import keras\\nimport numpy as np\\n")
    >>> spell(file, "ops.mean", file.tree.module.body[0])[0]
    'ops.mean'

    Returns the text and the edits that import what it needs; None where a name is taken by something else.
    """
    imports: list[Edit] = []
    taken = False

    def spelled(match: re.Match[str]) -> str:
        nonlocal taken
        short, name = match.groups()
        path, statement = _HOMES[short]
        if short in ("ops", "keras") and _is_of_tensorflow(file):
            statement = {"ops": "from tensorflow.keras import ops", "keras": "from tensorflow import keras"}[short]
        found = _bound(file, f"{path}.{name}" if short == "legacy_numerics" else path, at)
        if short == "legacy_numerics":
            if found is None and not _is_free(file, name, at):
                taken = True
            if found is None:
                imports.append(import_numerics(file, name))
            return found or name
        if found is None and short == "keras" and _is_of_tensorflow(file) and _bound(file, "tensorflow", at):
            found = f"{_bound(file, 'tensorflow', at)}.keras"
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


def spelled_home(file: File, target: str) -> str:
    """Return a path of Keras as a source spells it: under `tensorflow.keras` if it imports Keras from there."""
    return f"tensorflow.{target}" if target.startswith("keras.") and _is_of_tensorflow(file) else target


def retarget(file: File, func: ast.expr, target: str) -> list[AnyEdit] | None:
    """Have what is called be `target`: by its import where it is an imported name, else where it stands.

    Returns the edits beside those of the import; None where it cannot be done.
    """
    bindings = file.tree.bindings(func)
    if bindings and all(isinstance(binding.statement, ast.ImportFrom) for binding in bindings):
        return [] if file.redirect(func, spelled_home(file, target)) else None
    return replaced(file, func, target)


def replaced(file: File, node: ast.expr, expression: str) -> list[AnyEdit] | None:
    """Return the edits that write an expression of `names/native.py` for a node; None where a name is taken."""
    spelled = spell(file, expression, node)
    return None if spelled is None else [file.replace(node, spelled[0]), *spelled[1]]


def _is_of_tensorflow(file: File) -> bool:
    """Whether the source knows Keras as a part of TensorFlow alone, now or before it was rewritten."""
    if file.era is not None and file.era.is_tf_keras:
        return True
    roots = {table.root_of(module) for module in _modules(file)}
    return "keras" not in roots and bool(roots & {"tensorflow.keras"} or _uses_tf_keras(file))


def _modules(file: File) -> list[str]:
    modules: list[str] = []
    for statement in file.tree.imports:
        modules += modules_of(statement)
        if isinstance(statement, ast.ImportFrom) and modules_of(statement):
            modules += [f"{statement.module}.{alias.name}" for alias in statement.names]
    return modules


def _uses_tf_keras(file: File) -> bool:
    return any(node.attr == "keras" and file.names.path(node) == "tensorflow.keras" for node in file.tree.attributes)


def _bound(file: File, path: str, at: ast.AST) -> str | None:
    """Return the name that means a module or object everywhere in the file."""
    names = {name for each in (path, f"tensorflow.{path}") for name, _ in file.names_of(each, at)}
    return next((name for name in file.tree.root.bindings if name in names), None)


def _is_free(file: File, name: str, at: ast.AST) -> bool:
    scopes = (file.tree.scopes.get(above) for above in [at, *file.tree.ancestors(at)])
    nearest = next((scope for scope in scopes if scope is not None), None)
    if nearest is not None and nearest.find(name):
        return False
    return not file.tree.root.find(name) and file.names.star_path(name) is None


def import_numerics(file: File, name: str) -> Edit:
    """Return the edit that imports a helper: after the imports that begin with the first one of Keras or TensorFlow."""
    anchor: ast.stmt | None = None
    for statement in file.tree.module.body:
        is_import = isinstance(statement, ast.Import | ast.ImportFrom)
        if is_import and (anchor is not None or packages_of(statement) & {"keras", "tensorflow", "parallel_compat"}):
            anchor = statement
        elif anchor is not None and not isinstance(statement, ast.Try | ast.If):
            break
    text = f"from legacy_numerics import {name}"
    return file.insert_statement(anchor, text) if anchor is not None else file.import_after(text)
