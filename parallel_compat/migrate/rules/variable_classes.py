"""`isinstance(weight, tf.Variable)` also accepts Keras's variables, because weights of layers are such variables.

In tf.keras a weight was a `tf.Variable`. In Keras 3 it contains one. So code that selects weights by `isinstance`, to
regularize, prune or restore them, finds none.

`self.scale = tf.Variable(1.0)` in a layer, model or metric of tf.keras becomes a variable of Keras. Keras 3 does not
train, save or reset other variables.

```diff
 import tensorflow as tf
-kernels = [each for each in layer.weights if isinstance(each, tf.Variable)]
+kernels = [each for each in layer.weights if isinstance(each, (tf.Variable, tf.keras.Variable))]
```
"""

from __future__ import annotations

import ast
import re

from parallel_compat.migrate.dotted_names import is_call_by_name, is_of_self
from parallel_compat.migrate.edits import Edit
from parallel_compat.migrate.file import File, Findings
from parallel_compat.names.members import LAYER, METRIC, MODEL

_OF_TENSORFLOW = ("tensorflow.Variable", "tensorflow.compat.v1.Variable")
_OF_KERAS = ("keras.Variable", "tensorflow.keras.Variable")
_MADE_BY_KERAS = re.compile(r"(?:tensorflow\.|parallel_compat\.legacy\.)?(?:keras\.)?backend\.(?:variable|zeros|ones)")
_HELD = "parallel_compat.legacy.variables.held_variable"
# What variables of TensorFlow have and Keras's have not.
_OF_TENSORFLOW_ALONE = re.compile(r"read_value|value|scatter_\w+|initialized_value|initializer|handle|eval|sparse_read")


def find(file: File) -> Findings:
    yield from _held(file)
    for call in file.tree.calls:
        if not is_call_by_name(call, "isinstance") or len(call.args) != 2:
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


def _held(file: File) -> Findings:
    """Find variables of TensorFlow that become attributes of layers, models and metrics."""
    if file.era is None or not file.era.is_tf_keras:
        return
    for call in file.tree.calls:
        path = file.names.path(call.func) or ""
        if not (path in _OF_TENSORFLOW or _MADE_BY_KERAS.fullmatch(path)):
            continue
        class_, attribute = file.tree.enclosing_class(call), _attribute(file, call)
        if class_ is None or attribute is None or not _tracks(file, class_):
            continue
        message = f"Keras 3 sees no variable of TensorFlow: `self.{attribute}` would not be trained or saved."
        edits = file.wrapped_in_call(_HELD, call)
        if edits is None or _is_used_as_one(file, class_, attribute):
            yield file.attention(call, f"{message} Make it by `self.add_weight`.", hint=not file.old)
            continue
        start = file.source.start(call)
        edits = [Edit(start, start, each.text + "lambda: ") if each.end == start else each for each in edits]
        yield file.found(call, message, edits, hint=not file.old)


def _attribute(file: File, call: ast.Call) -> str | None:
    """Return the attribute of `self` that a variable is assigned to, or appended to, also within a list."""
    node: ast.AST = call
    for above in file.tree.ancestors(call):
        if isinstance(above, ast.Assign):
            return next((each.attr for each in above.targets if is_of_self(each)), None)
        if isinstance(above, ast.Call):
            if not isinstance(above.func, ast.Attribute) or above.func.attr != "append" or node not in above.args:
                return None
            appended = above.func.value
            return appended.attr if is_of_self(appended) else None
        if not isinstance(above, ast.List | ast.Tuple | ast.Dict | ast.ListComp | ast.IfExp):
            return None
        node = above
    return None


def _tracks(file: File, class_: ast.ClassDef) -> bool:
    """Return whether the objects of a class track their variables."""
    return METRIC in file.bases_of(class_) or file.kinds.of_class(class_) in (LAYER, MODEL)


def _is_used_as_one(file: File, class_: ast.ClassDef, attribute: str) -> bool:
    """Return whether a class does with an attribute what only a variable of TensorFlow can."""
    for node in ast.walk(class_):
        if not is_of_self(node) or node.attr != attribute:
            continue
        above = file.tree.parents.get(node)
        item = file.tree.parents.get(above) if isinstance(above, ast.Subscript) else None
        if isinstance(above, ast.Attribute) and _OF_TENSORFLOW_ALONE.fullmatch(above.attr):
            return True
        if isinstance(item, ast.Attribute) and item.attr.startswith("assign") and isinstance(above, ast.Subscript):
            return True
    return False
