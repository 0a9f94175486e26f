"""`batches.next()` becomes `next(batches)`: generators of Python 3 have no method `next`.

A class with `next` and `__iter__` gets a `__next__`.

```diff
 import keras
 def batches():
     yield x, y
-x, y = batches().next()
+x, y = next(batches())
```
"""

from __future__ import annotations

import ast

from parallel_compat.migrate import methods
from parallel_compat.migrate.edits import Edit
from parallel_compat.migrate.file import File, Findings
from parallel_compat.migrate.kinds import OTHER
from parallel_compat.migrate.scopes import methods_of
from parallel_compat.migrate.statements import indent_of


def find(file: File) -> Findings:
    """Find calls of `next` without arguments, where the file has generators of Keras."""
    iterators = [class_ for class_ in file.tree.classes if {"next", "__iter__"} <= methods_of(class_).keys()]
    for class_ in iterators:
        method = methods_of(class_)["next"]
        if "__next__" not in ast.unparse(class_):
            end, newline = file.source.end(method), file.source.newline
            edits = [Edit(end, end, f"{newline}{newline}{indent_of(file, method)}__next__ = next")]
            yield file.found(method, f"Python 3 asks `{class_.name}` for `__next__`.", edits, hint=not file.old)
    if not file.imports_keras and not iterators:
        return
    for call in file.method_calls.get("next", ()):
        func = call.func
        assert isinstance(func, ast.Attribute)
        if call.args or call.keywords or file.kinds.of(func.value) == OTHER or file.kinds.has_own(func.value, "next"):
            continue
        start = file.source.start(func)
        edits = [Edit(start, start, "next("), Edit(file.dot_of(func), file.source.end(call), ")")]
        guess = f"`{methods.short(file, func.value)}` is assumed to be an iterator."
        unsafe = False if _is_generator(file, func.value) else guess
        yield file.found(func, "`x.next()` is `next(x)` in Python 3.", edits, unsafe=unsafe)


def _is_generator(file: File, node: ast.expr) -> bool:
    """Return whether an expression is what a generator function of this file returned."""
    if isinstance(node, ast.Name):
        value = file.tree.value_of(node)
        return value is not None and not isinstance(value, ast.Name) and _is_generator(file, value)
    if not isinstance(node, ast.Call):
        return False
    definition = file.kinds.definition(node.func)
    return isinstance(definition, ast.FunctionDef) and any(
        isinstance(inner, ast.Yield | ast.YieldFrom) for inner in ast.walk(definition)
    )
