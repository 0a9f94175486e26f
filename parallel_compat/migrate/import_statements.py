"""Editing import statements: another module, another name, or a line of its own for what went elsewhere."""

from __future__ import annotations

import ast
import os
import re
from collections import Counter
from collections.abc import Collection

from parallel_compat.migrate.edits import Edit, Item, items_between, remove_items
from parallel_compat.migrate.file import File
from parallel_compat.migrate.statements import is_alone, line_end, line_start, remove_statement

_FROM = re.compile(r"from(?:\s|\\\r?\n)+(?P<module>[\w.]+)")


def move_from(
    file: File, statement: ast.ImportFrom, targets: dict[ast.alias, str], gone: Collection[ast.alias] = ()
) -> list[Edit]:
    """Have names of a `from` import come from elsewhere, under the names they have in the source; `gone` ones go.

    >>> from parallel_compat.migrate.edits import apply; from parallel_compat.migrate.file import File
    >>> file = File("from keras.optimizers import SGD, adam")
    >>> statement = file.tree.imports[0]
    >>> apply(file.source.text, move_from(file, statement, {statement.names[1]: "keras.optimizers.Adam"}))
    'from keras.optimizers import SGD, Adam as adam'
    """
    assert statement.module is not None
    homes = {
        alias: targets[alias].rpartition(".")[0] if alias in targets else statement.module for alias in statement.names
    }
    staying = [alias for alias in statement.names if alias not in targets and alias not in gone]
    counted = Counter(home for alias, home in homes.items() if home and alias not in gone)
    kept = statement.module if staying else (counted.most_common(1)[0][0] if counted else "")
    edits = []
    if kept != statement.module and kept:
        edits.append(from_other_module(file, statement, kept))
    leaving = {index for index, alias in enumerate(statement.names) if alias in gone}
    lines: dict[str, list[str]] = {}
    for index, alias in enumerate(statement.names):
        if alias not in targets:
            continue
        name = targets[alias].rpartition(".")[2]
        bound = alias.asname or alias.name
        spelled = name if name == bound else f"{name} as {bound}"
        if homes[alias] == kept and kept:
            if name != alias.name or (alias.asname is not None and name == bound):
                edits.append(Edit(file.source.start(alias), file.source.end(alias), spelled))
        else:
            leaving.add(index)
            lines.setdefault(homes[alias], []).append(spelled)
    if not kept:
        text = _joined(file, statement, [f"import {name}" for name in lines[""]])
        return [Edit(file.source.start(statement), file.source.end(statement), text)]
    if leaving:
        edits += remove_items(file.source.text, _alias_items(file, statement), leaving)
        for home, names in lines.items():
            if home:
                edits.append(file.insert_statement(statement, f"from {home} import {', '.join(names)}"))
            else:
                edits += [file.insert_statement(statement, f"import {name}") for name in names]
    return edits


def from_other_module(file: File, statement: ast.ImportFrom, module: str) -> Edit:
    """Have a `from` import, of names or of a star, come from another module."""
    start = file.source.start(statement)
    match = _FROM.match(file.source.text, start)
    assert match is not None
    return Edit(match.start("module"), match.end("module"), module)


def move_import(file: File, alias: ast.alias, module: str) -> list[Edit]:
    """Have `import a.b.c` or `import a.b.c as d` import another module."""
    start, text = file.source.start(alias), file.source.segment(alias)
    spelled = text.split(" as ")[0].rstrip() if alias.asname else text
    return [Edit(start, start + len(spelled), module)]


def _alias_items(file: File, statement: ast.Import | ast.ImportFrom) -> tuple[Item, ...]:
    return items_between(file.source.text, file.source.start(statement.names[0]), file.source.end(statement))


def _joined(file: File, statement: ast.ImportFrom, statements: list[str]) -> str:
    indent = file.source.before(file.source.start(statement))
    return ("; " if indent.strip() else file.source.newline + indent).join(statements)


def remove_aliases(file: File, statement: ast.Import | ast.ImportFrom, gone: list[ast.alias]) -> list[Edit]:
    """Take names out of an import, or the whole statement where none remains; `pass` keeps a block from being empty."""
    if len(gone) < len(statement.names):
        chosen = {index for index, alias in enumerate(statement.names) if alias in gone}
        return remove_items(file.source.text, _alias_items(file, statement), chosen)
    return [remove_statement(file, statement)]


def remove_gone(file: File, statement: ast.Import | ast.ImportFrom, gone: list[ast.alias]) -> list[Edit]:
    """As `remove_aliases`, where an import of this package may be written behind the line in the same round."""
    if len(gone) == len(statement.names) and statement in file.tree.module.body and is_alone(file, statement):
        start = line_start(file, statement)
        return [Edit(max(start - len(file.source.newline), 0), line_end(file, statement), "")]
    return remove_aliases(file, statement, gone)


def is_passed_on(file: File, name: str) -> bool:
    """Whether another file of the project imports a name from this one."""
    if file.kinds.path is None:
        return False
    folder, base = os.path.split(os.path.abspath(file.kinds.path))
    stem = os.path.basename(folder) if base == "__init__.py" else base.removesuffix(".py")
    passed_on = file.project.passed_on
    if f"{stem}.{name}" in passed_on:
        return True
    return f"{stem}.*" in passed_on and any(one.endswith(f".{name}") for one in passed_on)


def is_unused(file: File, statement: ast.Import | ast.ImportFrom, alias: ast.alias) -> bool:
    """Return whether nothing reads an imported name, here or in another file that imports it from here."""
    name = alias.asname or alias.name
    if "." in name or name == "*" or (file.kinds.path or "").endswith("__init__.py"):
        return False
    if any(isinstance(above, ast.Try) for above in file.tree.ancestors(statement)):
        return False  # whether it can be imported decides something
    is_read = any(node.id == name and isinstance(node.ctx, ast.Load) for node in file.tree.names)
    return not is_read and not is_passed_on(file, name) and f'"{name}"' not in file.source.text.replace("'", '"')
