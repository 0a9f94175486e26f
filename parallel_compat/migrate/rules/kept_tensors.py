"""`self.alpha = tf.constant(self.alpha)` in a traced function is removed: the number works without it.

In Keras 2 the graph was built once. Today such a function is traced several times, and a tensor of one trace cannot be
used in the next: "Expected any non-tensor type, but got a tensor instead", or "out of scope".

```diff
 import keras
 import tensorflow as tf

 class Loss:
     def compute(self, y_true, y_pred):
-        self.alpha = tf.constant(self.alpha)
         return self.alpha * keras.losses.mean_absolute_error(y_true, y_pred)
```
"""

from __future__ import annotations

import ast

from parallel_compat.migrate.file import File, Findings
from parallel_compat.migrate.statements import remove_statement

_MAKING = ("tensorflow.constant", "tensorflow.convert_to_tensor", "keras.backend.constant", "keras.backend.variable")
_ONCE = ("__init__", "build")


def find(file: File) -> Findings:
    for node in file.tree.attributes:
        statement = file.tree.parents.get(node)
        if not isinstance(node.ctx, ast.Store) or not isinstance(statement, ast.Assign) or len(statement.targets) > 1:
            continue
        value = statement.value
        function = file.tree.parents.get(statement)
        if (
            isinstance(value, ast.Call)
            and len(value.args) == 1
            and ast.dump(value.args[0]) == ast.dump(ast.Attribute(node.value, node.attr, ast.Load()))
            and (file.names.path(value.func) or "").replace("tensorflow.keras.", "keras.") in _MAKING
            and isinstance(function, ast.FunctionDef)
            and function.name not in _ONCE
            and len(function.body) > 1
        ):
            text = file.source.segment(node)
            message = f"`{text}` keeps the tensor of one trace for the next."
            yield file.found(
                statement, message, [remove_statement(file, statement)], unsafe="has it the dtype of the number?"
            )
