"""A function in a `Lambda` layer is registered, so that a saved model can be loaded again.

Keras 2 wrote the bytecode of the function into the file. Keras 3 writes its name, and finds only registered functions
by name. Nested functions are always registered, others only if the project loads or clones models.

```diff
 import keras

 def net(x, size):
+    @keras.utils.register_keras_serializable()
     def halve(tensor):
         return tensor / 2
     return keras.layers.Lambda(halve)(x)
```
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from parallel_compat.migrate import calls
from parallel_compat.migrate.edits import Edit
from parallel_compat.migrate.file import File, Findings

# Of the two names of Keras the one that `tf.keras` has as well.
_TARGET = "keras.utils.register_keras_serializable"


def find(file: File) -> Findings:
    for function in dict.fromkeys(_functions(file)):
        if not isinstance(function, ast.FunctionDef) or function.decorator_list:
            continue
        spelled = file.reference(_TARGET, function)
        start = file.source.start(function)
        indent = file.source.before(start)
        if spelled is None or indent.strip():
            continue
        message = f"Keras 3 finds `{function.name}` by its name when it reads a file of the model."
        edits = [Edit(start, start, f"@{spelled[0]}(){file.source.newline}{indent}"), *spelled[1]]
        yield file.found(function, message, edits, hint=not file.old)


def _functions(file: File) -> Iterator[ast.AST | None]:
    """Yield the nested functions of Lambda layers, and those of the module where the project reads models."""
    for call in file.calls_by_target.get("keras.layers.Lambda", ()):
        for position, name in enumerate(("function", "output_shape", "mask")):
            given = calls.argument(call, name, position)
            function = file.kinds.definition(given) if given is not None else None
            if function is not None and (file.reads_models or file.tree.parents.get(function) is not file.tree.module):
                yield function
    for name in file.project.lambda_functions if file.reads_models else ():  # another file has the layer
        bindings = file.tree.root.bindings.get(name, ())
        yield bindings[0].node if len(bindings) == 1 else None
