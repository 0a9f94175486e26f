"""`isinstance(weight, tf.Variable)` also accepts Keras's variables, because weights of layers are such variables.

Weights of tf.keras were variables of TensorFlow. Those of Keras 3 contain one. Code that selects weights in this way,
to regularize, prune or restore them, finds none.

```diff
 import tensorflow as tf
-kernels = [each for each in layer.weights if isinstance(each, tf.Variable)]
+kernels = [each for each in layer.weights if isinstance(each, (tf.Variable, tf.keras.Variable))]
```
"""

from __future__ import annotations

import ast

from parallel_compat.migrate.file import File
from parallel_compat.migrate.findings import Findings

_OF_TENSORFLOW = ("tensorflow.Variable", "tensorflow.compat.v1.Variable")
_OF_KERAS = ("keras.Variable", "tensorflow.keras.Variable")


def find(file: File) -> Findings:
    """Find such questions."""
    for call in file.tree.calls:
        if not isinstance(call.func, ast.Name) or call.func.id != "isinstance" or len(call.args) != 2:
            continue
        classes = call.args[1].elts if isinstance(call.args[1], ast.Tuple) else [call.args[1]]
        paths = [file.names.path(each) for each in classes]
        if any(path in _OF_KERAS for path in paths):
            continue
        for each, path in zip(classes, paths, strict=True):
            if path not in _OF_TENSORFLOW:
                continue
            spelled = file.reference(_OF_KERAS[1], each)
            if spelled is not None:
                text = f"{file.source.segment(each)}, {spelled[0]}"
                if not isinstance(call.args[1], ast.Tuple):
                    text = f"({text})"
                message = "The weights of Keras 3's layers are variables of Keras."
                yield file.found(each, message, [file.replace(each, text), *spelled[1]], hint=not file.old)
            break
