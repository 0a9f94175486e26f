"""`call` of a model class gets `training`: without it Dropout and BatchNormalization never train in Keras 3.

Keras 2 and tf.keras passed `training` to the layers of every model. Keras 3 does so only if the model's `call` takes
`training`, whether or not the call passes it on. Otherwise they silently run as at inference.

```diff
 from tensorflow.keras import Model
 from tensorflow.keras.layers import Dropout
 class Net(Model):
     def __init__(self):
         super().__init__()
         self.dropout = Dropout(0.5)
-    def call(self, x):
+    def call(self, x, training=None):
         return self.dropout(x)
```
"""

from __future__ import annotations

import ast
import re

from parallel_compat.migrate.edits import Edit
from parallel_compat.migrate.file import File, Findings
from parallel_compat.migrate.project import LIBRARIES
from parallel_compat.migrate.scopes import methods_of
from parallel_compat.names.eras import Era
from parallel_compat.names.members import MODEL

_IN_TRAINING = re.compile("dropout|batch_?norm|noise", re.IGNORECASE)


def find(file: File) -> Findings:
    """Find `call` without `training` in classes of models that may hold layers which train otherwise."""
    if file.era in (None, Era.TODAY):
        return
    for class_ in file.classes_of(MODEL):
        method = methods_of(class_).get("call")
        if method is not None and _may_hold_such_layers(file, class_):
            yield from _of_method(file, class_, method)


def _of_method(file: File, class_: ast.ClassDef, method: ast.FunctionDef) -> Findings:
    given = method.args
    named = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    if any(each.arg == "training" for each in named) or not given.args or method.decorator_list:
        return
    message = f"Keras 3 trains the layers of `{class_.name}` (Dropout, BatchNormalization) if `call` takes `training`."
    if any(_is_training(each) for each in ast.walk(method)):
        yield file.attention(method, message + " Here that name is something else: take it as an argument.")
        return
    if given.kwonlyargs:
        last, default = given.kwonlyargs[-1], given.kw_defaults[-1]
    elif given.vararg is not None:
        last, default = given.vararg, None
    else:
        last, default = given.args[-1], given.defaults[-1] if given.defaults else None
    begin = file.source.end(last)
    end = begin if default is None else file.source.end(default)
    while (text := file.source.text)[end] == ")" and text.count("(", begin, end) > text.count(")", begin, end):
        end += 1  # a default in parentheses
    yield file.found(method, message, [Edit(end, end, ", training=None")])


def _is_training(node: ast.AST) -> bool:
    return (isinstance(node, ast.Name) and node.id == "training") or (
        isinstance(node, ast.Constant) and node.value == "training"
    )


def _may_hold_such_layers(file: File, class_: ast.ClassDef) -> bool:
    """Return whether the file names such a layer, or the class makes something of another file."""
    if _IN_TRAINING.search(file.source.text):
        return True
    return any(_is_from_elsewhere(file, each.func) for each in ast.walk(class_) if isinstance(each, ast.Call))


def _is_from_elsewhere(file: File, made: ast.expr) -> bool:
    """Return whether a class of another file is called."""
    path = file.names.local_path(made)
    return path is not None and path.split(".")[0] not in LIBRARIES and path.rpartition(".")[2][:1].isupper()
