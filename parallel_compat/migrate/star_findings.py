"""Star imports of old modules, and the names that nothing but such a star brings."""

from __future__ import annotations

import ast
from collections.abc import Callable

from parallel_compat.migrate.dotted_names import from_module
from parallel_compat.migrate.file import File, Findings
from parallel_compat.migrate.import_statements import from_other_module
from parallel_compat.migrate.module_homes import BACKEND, MERGE, gone, home_of_module, is_alive, moved
from parallel_compat.migrate.statements import remove_statement
from parallel_compat.names import table


def of_statement(file: File, statement: ast.ImportFrom, skips: Callable[[int], bool]) -> Findings:
    """Yield what there is of one star import."""
    module = from_module(statement)
    if module is None or not table.names_of(module) or skips(file.source.start(statement)):
        return
    home = _home(module)
    if home is None:
        yield file.attention(statement, f"The module `{module}` is gone.")
    elif home != module:
        is_there = _same_before(file, statement) is not None
        edits = [remove_statement(file, statement)] if is_there else [from_other_module(file, statement, home)]
        yield file.found(statement, moved(module, home, None), edits)


def of_names(file: File, skips: Callable[[int], bool]) -> Findings:
    """Yield what there is of names that only an old star import brought, and that the star of today does not bring."""
    if not file.tree.stars:
        return
    seen = set()
    # By name: what is imported for one use of it counts for all.
    redirects = {node.id: to for node, to in file.use_redirects.items() if isinstance(node, ast.Name)}
    brought = {_home(from_module(star) or "") for star in file.tree.stars}
    for node in file.tree.names:
        if not isinstance(node.ctx, ast.Load) or node not in file.tree.scopes:
            continue
        if file.tree.scopes[node].find(node.id):
            continue
        path = file.names.star_path(node.id)
        if path is not None:
            yield from _of_chain(file, node, path, skips)
        if node.id in seen:
            continue
        if path is None and node.id == "K" and file.tree.stars:
            path = _backend_of_star(file)
        if path is None:
            continue
        seen.add(node.id)
        if node.id not in redirects and skips(file.source.start(node)):
            continue
        entry = table.lookup(path)
        if table.canonical(path) == "keras.layers.merge" and _is_called(file, node):
            entry = MERGE
        target = redirects.get(node.id) or (entry.target if entry else None)
        if path.endswith(".backend"):
            target = BACKEND
        if target is None:
            if entry is not None:
                yield file.attention(node, gone(entry))
            continue
        home = _home(path.rpartition(".")[0])
        if target == f"{home}.{node.id}":
            continue
        if home == BACKEND and target.startswith("keras.backend."):
            continue
        name = target.rpartition(".")[2]
        spelled = name if name == node.id else f"{name} as {node.id}"
        statement = next(star for star in reversed(file.tree.stars) if _brings(star, path))
        statement = _same_before(file, statement) or statement
        package = target.rpartition(".")[0]
        if name == node.id and package in brought:
            continue
        added = f"from {package} import {spelled}" if package else f"import {spelled}"
        message = moved(path, target, entry)
        yield file.found(node, message, [file.insert_statement(statement, added)])


def _of_chain(file: File, root: ast.Name, base: str, skips: Callable[[int], bool]) -> Findings:
    """Yield what there is of a dotted name whose first part is a module that a star brought: `layers.core.Dense`."""
    node: ast.AST = root
    while isinstance(node := file.tree.parents[node], ast.Attribute):
        path = file.names.path(node)
        entry = table.lookup(path) if path is not None else None
        if entry is None or entry.status is table.Status.SAME or base.endswith(".backend"):
            continue
        if skips(file.source.start(node)):
            return
        if entry.target is None:
            yield file.attention(node, gone(entry))
            return
        near = entry.target.startswith(base + ".")
        here = root.id + entry.target[len(base) :]
        edits = [file.replace(node, here)] if near else file.replaced_by(entry.target, node)
        if edits is not None:
            yield file.found(node, moved(entry.path, entry.target, entry), edits)
        return


def _is_called(file: File, node: ast.Name) -> bool:
    above = file.tree.parents[node]
    return isinstance(above, ast.Call) and above.func is node


def _home(module: str) -> str | None:
    """Return the module whose star brings today what a module's star brought."""
    if table.canonical(module) in ("keras.backend", "keras.backend.tensorflow_backend"):
        return BACKEND
    return module if is_alive(module) else home_of_module(module)


def _same_before(file: File, statement: ast.ImportFrom) -> ast.ImportFrom | None:
    """Return the star that brings all that this one would once it has its home of today: it is not written twice.

    There is none if something between them that is not of Keras binds a name of this one's.
    """
    module = from_module(statement) or ""
    home = _home(module)
    if home == module or file.tree.parents[statement] is not file.tree.module:
        return None
    first = next((star for star in file.tree.stars if _home(from_module(star) or "") == home), statement)
    if first is statement or file.tree.parents[first] is not file.tree.module:
        return None
    start, end = file.source.start(first), file.source.start(statement)
    for name in table.names_of(module):
        for binding in file.tree.root.bindings.get(name, ()):
            node = binding.statement or binding.node
            between = isinstance(node, ast.expr | ast.stmt) and start < file.source.start(node) < end
            if between and table.root_of(file.names.path_of_binding(binding) or "") is None:
                return None
    return first


def _backend_of_star(file: File) -> str | None:
    """Keras 2's own modules imported the backend as `K`, and their stars handed it on."""
    for statement in file.tree.stars:
        module = from_module(statement) or ""
        if table.names_of(module) and table.root_of(module):
            return f"{table.root_of(module)}.backend"
    return None


def _brings(statement: ast.ImportFrom, path: str) -> bool:
    module = from_module(statement) or ""
    if path.endswith(".backend"):
        return bool(table.names_of(module))
    return path.rpartition(".")[0] == module
