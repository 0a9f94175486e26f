"""A custom layer with arguments but without `get_config` gets the `get_config` that it had in Keras 2.

Keras 2 saved a model with such a layer, without the arguments. Keras 3 raises NotImplementedError if an argument is not
a plain value, such as a regularizer: at the first checkpoint, after an epoch of training.

```diff
-from keras.engine.topology import Layer
+from keras.layers import Layer

 class Margin(Layer):
     def __init__(self, margin, regularizer=None, **kwargs):
         super(Margin, self).__init__(**kwargs)
         self.margin, self.regularizer = margin, regularizer
+
+    def get_config(self):
+        return super().get_config()
```
"""

from __future__ import annotations

import ast

from parallel_compat.migrate.edits import Edit
from parallel_compat.migrate.file import File, Findings
from parallel_compat.migrate.scopes import methods_of
from parallel_compat.migrate.statements import indent_of
from parallel_compat.names.eras import Era
from parallel_compat.names.members import LAYER


def find(file: File) -> Findings:
    """Find such classes; tf.keras refused to save them as well."""
    if file.era not in (Era.KERAS_2_2_4, Era.KERAS_2_3):
        return
    for class_ in file.tree.classes:
        methods = methods_of(class_)
        takes = methods.get("__init__")
        if takes is None or "get_config" in methods or not _takes_arguments(takes):
            continue
        if file.bases_of(class_) != [LAYER]:
            continue
        last = file.source.end(class_.body[-1])
        line_end = file.source.text.find("\n", last)
        line_end = len(file.source.text) if line_end < 0 else line_end
        if file.source.text[line_end - 1] == "\r":
            line_end -= 1
        indent = indent_of(file, takes)
        new = file.source.newline
        inner = indent_of(file, takes.body[0]).removeprefix(indent)
        text = f"{new}{new}{indent}def get_config(self):{new}{indent}{inner}return super().get_config()"
        message = f"`{class_.name}` has no `get_config`: Keras 3 saves no model with it."
        yield file.found(takes, message, [Edit(line_end, line_end, text)])


def _takes_arguments(method: ast.FunctionDef) -> bool:
    given = method.args
    return (
        len(given.posonlyargs) + len(given.args) + len(given.kwonlyargs) > 1 and method.lineno < method.body[0].lineno
    )
