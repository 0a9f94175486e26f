"""`tf.logical_and(training, self.trainable)` in a layer's `call` becomes `training and self.trainable`.

Frozen layers were often written so, most often a BatchNormalization. tf.keras read the value of the operation. Keras 3
uses the tensor as a Python bool, which a `tf.function` refuses. In Keras 3 `training` is True, False or None.

```diff
 import tensorflow as tf

 class BatchNormalization(tf.keras.layers.BatchNormalization):
     def call(self, x, training=False):
         if training is None:
-            training = tf.constant(False)
-        training = tf.logical_and(training, self.trainable)
+            training = False
+        training = bool(training and self.trainable)
         return super().call(x, training)
```
"""

from __future__ import annotations

import ast

from parallel_compat.migrate.dotted_names import is_self
from parallel_compat.migrate.file import File, Findings
from parallel_compat.migrate.findings import Finding
from parallel_compat.migrate.scopes import methods_of
from parallel_compat.names.members import LAYER

_FUNCTIONS = {"tensorflow.logical_and": "and", "tensorflow.logical_or": "or", "tensorflow.constant": ""}


def find(file: File) -> Findings:
    for class_ in file.classes_of(LAYER):
        if (function := methods_of(class_).get("call")) is not None:
            yield from _of_call(file, function)


def _of_call(file: File, function: ast.FunctionDef) -> Findings:
    arguments = (*function.args.args, *function.args.kwonlyargs)
    if not any(argument.arg == "training" for argument in arguments):
        return
    stores = [node for node in ast.walk(function) if isinstance(node, ast.Name) and node.id == "training"]
    values = [_assigned(file, node) for node in stores if isinstance(node.ctx, ast.Store)]
    if any(value is None or not _is_flag(file, value) for value in values):
        return  # it may be a tensor that hangs on data
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and _operator(file, node) and _is_flag(file, node):
            yield _found(file, node)
    for value in values:
        if isinstance(value, ast.Call) and _operator(file, value) == "":
            yield _found(file, value)


def _assigned(file: File, name: ast.Name) -> ast.expr | None:
    statement = file.tree.parents.get(name)
    return statement.value if isinstance(statement, ast.Assign) and statement.targets == [name] else None


def _operator(file: File, call: ast.Call) -> str | None:
    """Return how Python writes what a call of TensorFlow's does to flags: "" for the flag itself, None if unknown."""
    path = (file.names.path(call.func) or "").replace("tensorflow.math.", "tensorflow.")
    return None if call.keywords else _FUNCTIONS.get(path)


def _is_flag(file: File, node: ast.expr) -> bool:
    """Return whether an expression is `training`, whether the layer is trainable, or put together of such."""
    if isinstance(node, ast.Call):
        operator = _operator(file, node)
        count = 1 if operator == "" else 2
        return operator is not None and len(node.args) == count and all(_is_flag(file, each) for each in node.args)
    if isinstance(node, ast.Attribute):
        return node.attr == "trainable" and is_self(node.value)
    if isinstance(node, ast.Constant):
        return isinstance(node.value, bool)
    return isinstance(node, ast.Name) and node.id == "training"


def _found(file: File, call: ast.Call) -> Finding:
    text = _python(file, call)
    message = f"`{file.source.segment(call)}` is `{text}`: Keras 3 uses it as a bool, not as a tensor."
    return file.found(call, message, [file.replace(call, text)])


def _python(file: File, node: ast.expr) -> str:
    if not isinstance(node, ast.Call):
        return file.source.segment(node)
    operator = _operator(file, node)
    parts = [_python(file, argument) for argument in node.args]
    return f"bool({f' {operator} '.join(parts)})" if operator else parts[0]
