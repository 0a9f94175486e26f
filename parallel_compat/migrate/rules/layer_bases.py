"""A subclass of a Keras layer whose `call` returns something else gets its base class from this package.

Keras 3 computes the output shape of some layers (`Embedding`) with the method of the base class, and ignores `call`.
If `compute_output_shape` returns a list, Keras 3 reads it as the shapes of several outputs, even if `call` returns one
tensor. The layers of `parallel_compat.legacy.layers` find the shape by calling the layer.

```diff
 from keras.layers import Embedding
+import parallel_compat.legacy.layers

-class WithTable(Embedding):
+class WithTable(parallel_compat.legacy.layers.Embedding):
     def compute_output_shape(self, shape):
         return [super().compute_output_shape(shape), (self.input_dim, self.output_dim)]

     def call(self, x):
         return [super().call(x), self.embeddings]
```
"""

from __future__ import annotations

import ast

from parallel_compat.migrate.file import File
from parallel_compat.migrate.findings import Findings
from parallel_compat.migrate.scopes import methods_of

# Layers of Keras 2 that say themselves what their `call` gives, also for a subclass with another `call`.
SAYING_WHAT_THEY_GIVE = frozenset(("Attention", "Embedding", "Flatten", "Permute", "Reshape"))


def find(file: File) -> Findings:
    for class_ in file.tree.classes:
        if "call" not in methods_of(class_):
            continue
        for base in class_.bases:
            path = file.names.path(base) or ""
            target = file.names.target(base) or ""
            if not target.startswith("keras.layers.") or path.startswith("parallel_compat."):
                continue
            name = target.rpartition(".")[2]
            edits = file.replaced_by(f"parallel_compat.legacy.layers.{name}", base)
            if edits is None:
                continue
            if name in SAYING_WHAT_THEY_GIVE:
                message = f"`{class_.name}` returns something else than `{name}`, whose output shape Keras 3 uses."
                yield file.found(base, message, edits, hint=not file.old)
            elif _lists_one_shape(class_):
                message = f"`compute_output_shape` of `{class_.name}` returns a list, and `call` one tensor."
                yield file.found(base, message, edits, hint=not file.old)


def _lists_one_shape(class_: ast.ClassDef) -> bool:
    """Return whether `compute_output_shape` returns a list of shapes, and `call` one tensor.

    The list is one of a single shape, or what is given for several inputs, which `call` unpacks.
    """
    call, shape = (methods_of(class_).get(name) for name in ("call", "compute_output_shape"))
    if call is None or shape is None or len(call.args.args) < 2 or len(shape.args.args) < 2:
        return False
    given, results = _returned(shape), _returned(call)
    if not given or any(isinstance(each, ast.List | ast.Tuple) for each in results):
        return False
    if all(isinstance(each, ast.List) and len(each.elts) == 1 and _is_shape(each.elts[0]) for each in given):
        return True
    inputs = call.args.args[1].arg
    unpacks = any(
        isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Tuple | ast.List)
        and isinstance(node.value, ast.Name)
        and node.value.id == inputs
        for node in ast.walk(call)
    )
    return unpacks and all(isinstance(each, ast.Name) and each.id == shape.args.args[1].arg for each in given)


def _is_shape(node: ast.expr) -> bool:
    """Return whether an item of a list is a shape, not a size: `(shapes[0][0], 3)`, `tuple(shape)`."""
    return isinstance(node, ast.Tuple | ast.List | ast.Call | ast.BinOp)


def _returned(function: ast.FunctionDef) -> list[ast.expr]:
    returns = (node for node in ast.walk(function) if isinstance(node, ast.Return))
    return [node.value for node in returns if node.value is not None]
