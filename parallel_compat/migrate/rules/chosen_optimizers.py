"""Optimizers that are chosen at run time (by name, from a dict, one of two) still take `lr` and `decay`.

The source does not show which class `getattr(optimizers, name)` gives. The classes of
`parallel_compat.legacy.optimizers` take the old arguments.

```diff
 from keras import optimizers
-kinds = {'adam': optimizers.Adam, 'sgd': optimizers.SGD}
+from parallel_compat.legacy.optimizers import Adam, SGD
+import parallel_compat.legacy.optimizers
+kinds = {'adam': Adam, 'sgd': SGD}
 kind = kinds[name]
 first = kind(lr=0.1)
-second = getattr(optimizers, class_name)(lr=0.1, decay=1e-6)
+second = getattr(parallel_compat.legacy.optimizers, class_name)(lr=0.1, decay=1e-6)
```
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from parallel_compat.migrate import calls
from parallel_compat.migrate.dotted_names import is_call_by_name, is_call_of
from parallel_compat.migrate.file import File, Findings

_OF_KERAS = "keras.optimizers"
_STAND_INS = "parallel_compat.legacy.optimizers"
_OLD = frozenset(("lr", "decay"))


def find(file: File) -> Findings:
    seen: set[ast.expr] = set()
    for call in file.tree.calls:
        if not any(keyword.arg in _OLD for keyword in call.keywords) or file.names.target(call.func) is not None:
            continue
        for node in _choices(file, call.func):
            target = file.names.target(node) or ""
            if node in seen:
                continue
            seen.add(node)
            if target == _OF_KERAS and (edits := file.replaced_by(_STAND_INS, node)) is not None:
                message = f"The class is not known here: those of `{_STAND_INS}` take `lr` and `decay`."
                yield file.found(node, message, edits)
            elif target.startswith(f"{_OF_KERAS}."):
                name = target.rpartition(".")[2]
                if file.redirect(node, f"{_STAND_INS}.{name}"):
                    yield file.found(node, f"The optimizer that is chosen here (`{name}`) gets `lr` or `decay`.")


def _choices(file: File, node: ast.expr) -> Iterator[ast.expr]:
    """Yield what a called expression may be: classes, or for `getattr` the module that has them."""
    if isinstance(node, ast.IfExp):
        yield from (node.body, node.orelse)
    elif isinstance(node, ast.Dict):
        yield from node.values
    elif isinstance(node, ast.Name):
        value = file.tree.value_of(node)
        if isinstance(value, ast.IfExp | ast.Subscript | ast.Call):
            yield from _choices(file, value)
    elif isinstance(node, ast.Subscript):
        yield from _items(file, node.value)
    elif is_call_by_name(node, "getattr"):
        yield from node.args[:1]
    elif is_call_of(node, "get"):
        yield from _items(file, calls.receiver(node))


def _items(file: File, node: ast.expr) -> Iterator[ast.expr]:
    found = file.tree.resolved(node)
    if isinstance(found, ast.Dict):
        yield from _choices(file, found)
