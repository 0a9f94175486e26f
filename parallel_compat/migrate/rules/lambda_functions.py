"""A nested function in a `Lambda` layer is registered, so that a saved model can be loaded again.

Keras 2 wrote the bytecode of the function into the file. Keras 3 writes its name, and finds by that name only functions
of a module or registered ones.

```diff
 import keras

 def net(x, size):
+    @keras.saving.register_keras_serializable()
     def halve(tensor):
         return tensor / 2
     return keras.layers.Lambda(halve)(x)
```
"""

from __future__ import annotations

import ast

from parallel_compat.migrate import calls
from parallel_compat.migrate.edits import Edit
from parallel_compat.migrate.file import File
from parallel_compat.migrate.findings import Findings

_TARGET = "keras.saving.register_keras_serializable"


def find(file: File) -> Findings:
    """Find such functions."""
    seen: set[ast.AST] = set()
    for call in file.calls_by_target.get("keras.layers.Lambda", ()):
        given = calls.argument(call, "function", 0)
        function = file.kinds.definition(given) if given is not None else None
        if not isinstance(function, ast.FunctionDef) or function in seen or function.decorator_list:
            continue
        if not any(isinstance(above, ast.FunctionDef) for above in file.tree.ancestors(function)):
            continue
        seen.add(function)
        spelled = file.reference(_TARGET, function)
        start = file.source.start(function)
        indent = file.source.before(start)
        if spelled is None or indent.strip():
            continue
        message = f"Keras 3 finds `{function.name}` by its name when it reads a file of the model."
        edits = [Edit(start, start, f"@{spelled[0]}(){file.source.newline}{indent}"), *spelled[1]]
        yield file.found(function, message, edits, hint=not file.old)
