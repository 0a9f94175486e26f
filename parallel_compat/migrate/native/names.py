"""Names of this package that plain Keras also has are imported from Keras; the others are reported.

Imports of this package that are no longer used are removed.

```diff
-from parallel_compat.legacy.models import load_model
+from legacy_numerics import load_model
 model = load_model('model.h5')
```
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from parallel_compat.migrate.file import File, Findings
from parallel_compat.migrate.import_statements import is_passed_on, remove_aliases
from parallel_compat.migrate.native.spelling import replaced, spelled_home
from parallel_compat.migrate.rules import imports
from parallel_compat.names import table
from parallel_compat.names.native import NUMERICS, OF_OTHER_RULES, QUESTIONS, functions, renamed

_OURS = "parallel_compat."
_INPUT_TENSOR = "parallel_compat.legacy.layers.input_tensor"  # a function among classes


def find(file: File) -> Findings:
    left: list[ast.Name | ast.Attribute] = []
    for node in _uses(file):
        path = file.names.path(node) or ""
        target = renamed().get(path)
        if target is None:
            left.append(node)
        elif target.startswith(NUMERICS) and not (isinstance(node, ast.Name) and node.id == target.rpartition(".")[2]):
            edits = replaced(file, node, target)
            if edits is None:
                left.append(node)
            else:
                yield file.found(node, f"`{target.rpartition('.')[2]}` is in `legacy_numerics.py`.", edits)
        elif file.redirect(node, spelled_home(file, target)):
            message = f"`{path.rpartition('.')[2]}` is now `{target}`."
            yield file.found(node, message)
        else:
            left.append(node)
    for finding in imports.find_redirected(file):
        if finding.edits:
            yield finding
    called = {id(call.func) for call in file.tree.calls}
    for node in left:
        path = file.names.path(node) or ""
        if id(node) in called and path.startswith(OF_OTHER_RULES) and path != _INPUT_TENSOR:
            continue  # they say what is to be done
        if path not in functions() and path not in file.keeps and not _is_gone(path):
            note = QUESTIONS.get(path, "Keras 3 has no equivalent: write it yourself, or keep this package for it.")
            yield file.attention(node, f"`{path}` is of this package. {note}")
    yield from _unused_imports(file)


def _is_gone(path: str) -> bool:
    """Whether Keras 3 has no counterpart of a name, which the rule of imports says."""
    entry = table.lookup(path.replace("parallel_compat.legacy.", "keras."))
    return entry is not None and entry.status is table.Status.GONE


def _uses(file: File) -> Iterator[ast.Name | ast.Attribute]:
    """The longest parts of names that are of this package, where they are read."""
    nodes: list[ast.Name | ast.Attribute] = [*file.tree.attributes, *file.tree.names]
    for node in nodes:
        path = file.names.path(node)
        if path is None or not path.startswith(_OURS) or not isinstance(node.ctx, ast.Load):
            continue
        above = file.tree.parents.get(node)
        if isinstance(above, ast.Attribute) and above.value is node:
            longer = file.names.path(above) or ""
            if path not in renamed() and (longer.startswith(_OURS)):
                continue
        yield node


def _unused_imports(file: File) -> Findings:
    nodes: list[ast.Name | ast.Attribute] = [*file.tree.attributes, *file.tree.names]
    used = {file.names.path(node) for node in nodes if isinstance(node.ctx, ast.Load)}
    names = {name.id for name in file.tree.names if isinstance(name.ctx, ast.Load)}
    for statement in file.tree.imports:
        if isinstance(statement, ast.ImportFrom):
            if not (statement.module or "").startswith("parallel_compat") or statement in file.tree.stars:
                continue
            gone = [alias for alias in statement.names if (alias.asname or alias.name) not in names]
            for alias in statement.names:
                name = alias.asname or alias.name
                if alias in gone and is_passed_on(file, name):
                    gone.remove(alias)
                    message = (
                        f"Other files import `{name}` of this package from here: import what they need of Keras there."
                    )
                    yield file.attention(alias, message)
                elif alias not in gone and not _is_known(f"{statement.module}.{alias.name}", used):
                    message = f"`{name}` of this package is imported, and bound elsewhere as well: it stays."
                    yield file.attention(alias, message)
        else:
            gone = []
            for alias in statement.names:
                if not alias.name.startswith("parallel_compat"):
                    continue
                if alias.name in QUESTIONS:  # imported for what it does
                    yield file.attention(alias, f"`{alias.name}` is of this package. {QUESTIONS[alias.name]}")
                    continue
                bound = alias.asname or "parallel_compat"
                prefix = alias.name
                if (
                    bound not in names
                    or (not alias.asname and not _is_known(prefix, used))
                    or (alias.name == "parallel_compat" and not _used_itself(file))
                ):
                    gone.append(alias)
        if gone:
            edits = remove_aliases(file, statement, gone)
            yield file.found(statement, "This import of this package is not used any more.", edits)


def _is_known(path: str, used: set[str | None]) -> bool:
    """Whether something in the file is known to be a name, or below it."""
    return any(one is not None and (one + ".").startswith(path + ".") for one in used)


def _used_itself(file: File) -> bool:
    """Whether something right below `parallel_compat` is used: `import parallel_compat` alone brings that."""
    for node in file.tree.attributes:
        path = file.names.path(node)
        if path and path.count(".") == 1 and path.startswith(_OURS) and path != "parallel_compat.legacy":
            return True
    return False
