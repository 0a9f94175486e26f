"""`if self.bias:` of a layer's weight becomes `if self.bias is not None:`.

In Keras 2 a weight was a variable of a graph, which was always true. Today its value decides, and a weight with several
values is an error.

```diff
 from keras.layers import Layer

 class Shift(Layer):
     def build(self, shape):
         self.bias = self.add_weight(name='bias', shape=shape[1:]) if self.use_bias else None

     def call(self, x):
-        return x + self.bias if self.bias else x
+        return x + self.bias if self.bias is not None else x
```
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from parallel_compat.migrate.dotted_names import is_call_of, is_of_self
from parallel_compat.migrate.edits import Edit
from parallel_compat.migrate.file import File, Findings
from parallel_compat.migrate.findings import Finding
from parallel_compat.names.members import LAYER, MODEL

# Weights that Keras's own layers make: a class may test one that it inherits.
_OF_KERAS = frozenset(("bias", "kernel", "embeddings", "gamma", "beta", "depthwise_kernel", "pointwise_kernel"))


def find(file: File) -> Findings:
    for class_ in file.classes_of(LAYER, MODEL):
        weights = _weights(class_)
        for node in ast.walk(class_):
            for tested in _tested(node):
                if is_of_self(tested) and weights.get(tested.attr, tested.attr in _OF_KERAS):
                    yield _compared(file, tested)


def _weights(class_: ast.ClassDef) -> dict[str, bool]:
    """Return the attributes that methods of a class assign, and whether each is a weight or None in all places."""
    found: dict[str, bool] = {}
    for node in ast.walk(class_):
        for target in node.targets if isinstance(node, ast.Assign) else ():
            if is_of_self(target) and isinstance(node, ast.Assign):
                found[target.attr] = found.get(target.attr, True) and _is_weight_or_none(node.value)
    return found


def _is_weight_or_none(node: ast.expr) -> bool:
    if isinstance(node, ast.IfExp):
        return _is_weight_or_none(node.body) and _is_weight_or_none(node.orelse)
    if isinstance(node, ast.Constant):
        return node.value is None
    return is_call_of(node, "add_weight", "add_variable")


def _tested(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the expressions whose truth a node tests."""
    if isinstance(node, ast.If | ast.IfExp | ast.While | ast.Assert):
        yield from _parts(node.test)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node.operand
    elif isinstance(node, ast.comprehension):
        for test in node.ifs:
            yield from _parts(test)


def _parts(test: ast.expr) -> Iterator[ast.expr]:
    if isinstance(test, ast.BoolOp):
        for value in test.values:
            yield from _parts(value)
    else:
        yield test


def _compared(file: File, node: ast.expr) -> Finding:
    text = file.source.segment(node)
    negation = file.tree.parents.get(node)
    message = f"`{text}` is a weight: `if` tested whether it exists, today it tests its values."
    if isinstance(negation, ast.UnaryOp):
        return file.found(node, message, [file.replace(negation, f"{text} is None")])
    end = file.source.end(node)
    return file.found(node, message, [Edit(end, end, " is not None")])
