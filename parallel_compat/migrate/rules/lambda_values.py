"""`Lambda(lambda x: x[:, i])` in a loop keeps the `i` of its iteration.

Keras 2 called the function once, during its iteration of the loop. Keras 3 calls it in each pass of the model, when `i`
has its last value: every such layer would take the last slice.

```diff
 from keras.layers import Lambda
-parts = [Lambda(lambda x: x[:, i])(inputs) for i in range(3)]
+parts = [Lambda(lambda x, i=i: x[:, i])(inputs) for i in range(3)]
```
"""

from __future__ import annotations

import ast

from parallel_compat.migrate import calls
from parallel_compat.migrate.edits import Edit
from parallel_compat.migrate.file import File, Findings

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.Module)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)


def find(file: File) -> Findings:
    for call in file.calls_by_target.get("keras.layers.Lambda", ()):
        function = calls.argument(call, "function", 0)
        if not isinstance(function, ast.Lambda):
            continue
        bound = _bound_by_loops(file, call)
        given = function.args
        own = {each.arg for each in ast.walk(function) if isinstance(each, ast.arg)} | _stored(function.body)
        read = [each.id for each in ast.walk(function.body) if isinstance(each, ast.Name)]
        names = [name for name in dict.fromkeys(read) if name in bound and name not in own]
        if not names:
            continue
        values = ", ".join(f"`{name}`" for name in names)
        message = f"Keras 3 calls the function in each pass, when the loop has ended: {values}."
        if not given.args or given.vararg or given.kwonlyargs or given.kwarg:
            yield file.attention(function, message)
            continue
        last = given.args[-1] if not given.defaults else given.defaults[-1]
        end = file.source.end(last)
        text = "".join(f", {name}={name}" for name in names)
        yield file.found(function, message, [Edit(end, end, text)])


def _bound_by_loops(file: File, node: ast.AST) -> set[str]:
    """Return the names that the loops around a node bind in each iteration."""
    found: set[str] = set()
    parent = file.tree.parents.get(node)
    while parent is not None and not isinstance(parent, _SCOPES):
        if isinstance(parent, _COMPREHENSIONS):
            for generator in parent.generators:
                found |= _stored(generator.target)
        elif isinstance(parent, (ast.For, ast.AsyncFor, ast.While)):
            found |= _stored(parent)
        parent = file.tree.parents.get(parent)
    return found


def _stored(node: ast.AST) -> set[str]:
    if isinstance(node, _SCOPES):
        return set()
    if isinstance(node, ast.Name):
        return set() if isinstance(node.ctx, ast.Load) else {node.id}
    return set().union(*(_stored(child) for child in ast.iter_child_nodes(node)))
