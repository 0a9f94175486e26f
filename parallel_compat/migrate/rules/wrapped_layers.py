"""A custom layer in `TimeDistributed` gets a `compute_output_shape` if it has none.

Without one Keras 2 assumed that the output has the input's shape, and tf.keras called the layer to find out. Keras 3
raises an error.

```diff
-from keras.layers import TimeDistributed
-from keras.layers.core import Layer
+from parallel_compat.legacy.time_distributed import TimeDistributed
+from keras.layers import Layer
 class Scale(Layer):
     def call(self, x):
         return 2 * x
+
+    def compute_output_shape(self, input_shape):
+        return input_shape
 x = TimeDistributed(Scale())(x)
```
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from parallel_compat.migrate import project_facts
from parallel_compat.migrate.edits import Edit
from parallel_compat.migrate.file import File, Findings
from parallel_compat.migrate.scopes import methods_of
from parallel_compat.names.members import LAYER


def find(file: File) -> Findings:
    """Find such classes, also where another file of the project wraps them."""
    wrapped = file.project.wrapped_layers.union(project_facts.WRAPPED_LAYERS.findall(file.source.text))
    for class_ in file.tree.classes:
        methods = methods_of(class_)
        if class_.name not in wrapped or "call" not in methods or "compute_output_shape" in methods:
            continue
        if LAYER not in file.bases_of(class_):
            continue
        message = f"`TimeDistributed` needs the output shape of `{class_.name}`, which Keras 2 did not."
        edits = list(_method(file, class_))
        yield file.found(class_, message, edits, hint=not file.old)


def _method(file: File, class_: ast.ClassDef) -> Iterator[Edit]:
    source = file.source
    outer, indent = (source.before(source.start(node)) for node in (class_, class_.body[-1]))
    shape = "input_shape"
    if not file.is_of_standalone_keras:
        operation, tensor = (file.reference(f"keras.{name}", class_) for name in ("Operation", "KerasTensor"))
        if operation is not None and tensor is not None:
            yield from operation[1]
            shape = f"{operation[0]}.compute_output_spec(self, {tensor[0]}(input_shape)).shape"
    inner = indent + indent.removeprefix(outer)
    added = f"def compute_output_shape(self, input_shape):{source.newline}{inner}return {shape}"
    edit = file.insert_statement(class_.body[-1], added)
    yield replace(edit, text=source.newline + edit.text)
