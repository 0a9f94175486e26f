"""`self.part = self.kernel[:, :n]` in a layer's `build` is reported: it keeps the initial weights.

In Keras 2 this was an operation of the graph and followed the weights. Keras 3 runs `build` once, eagerly.

```python
from keras.layers import Layer


class Part(Layer):
    def build(self, shape):
        self.kernel = self.add_weight(name="kernel", shape=(3, 4))
        self.part = self.kernel[:, :2]
```
"""

from __future__ import annotations

import ast

from parallel_compat.migrate.file import File
from parallel_compat.migrate.findings import Findings
from parallel_compat.migrate.scopes import methods_of
from parallel_compat.names.members import LAYER

_MAKING = ("add_weight", "add_variable")
# What is read of a weight and is no tensor that follows it.
_OF_THE_WEIGHT = frozenset(("shape", "dtype", "name", "ndim", "get_shape"))


def find(file: File) -> Findings:
    """Find attributes that `build` computes of weights."""
    for class_ in file.classes_of(LAYER):
        if (build := methods_of(class_).get("build")) is not None:
            yield from _computed(file, build)


def _computed(file: File, build: ast.FunctionDef) -> Findings:
    assignments = [node for node in ast.walk(build) if isinstance(node, ast.Assign) and len(node.targets) == 1]
    weights = {
        ast.unparse(node.targets[0])
        for node in assignments
        if isinstance(node.value, ast.Call)
        and isinstance(node.value.func, ast.Attribute)
        and node.value.func.attr in _MAKING
    }
    for node in sorted(assignments, key=lambda each: each.lineno):
        target, value = node.targets[0], node.value
        if not isinstance(target, ast.Attribute) or not isinstance(value, ast.Call | ast.Subscript | ast.BinOp):
            continue
        if ast.unparse(target) not in weights and _reads(file, value, weights):
            text = file.source.segment(target)
            message = (
                f"`{text}` is computed from weights in `build`: Keras 3 does this once, with the initial weights. "
                "Compute it in `call`."
            )
            yield file.attention(node, message)
            weights.add(ast.unparse(target))


def _reads(file: File, value: ast.expr, weights: set[str]) -> bool:
    """Return whether an expression computes with the numbers of a weight."""
    for node in ast.walk(value):
        if isinstance(node, ast.Attribute | ast.Name) and ast.unparse(node) in weights:
            parent = file.tree.parents.get(node)
            if not (isinstance(parent, ast.Attribute) and parent.attr in _OF_THE_WEIGHT):
                return True
    return False
