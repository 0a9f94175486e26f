"""A model that is called on pictures of another size than it was built for is called layer by layer.

An example is `model(Input((None, None, 3)))`, where the model was trained on patches of one size. Keras 3 compares the
shape of each input with the shape that the model was built with, and refuses another one.

```diff
 from keras.layers import Input
+from parallel_compat.legacy.models import called_on_any_size
 from keras.models import load_model
 model = load_model("patches.keras")
 x = Input((None, None, 3))
-y = model(x)
+y = called_on_any_size(model, x)
```
"""

from __future__ import annotations

import ast

from parallel_compat.migrate import calls
from parallel_compat.migrate.file import File, Findings
from parallel_compat.names.members import MODEL

_TARGET = "parallel_compat.legacy.models.called_on_any_size"
_INPUTS = ("keras.Input", "keras.layers.Input")


def find(file: File) -> Findings:
    if not any(_is_of_any_size(file, call) for call in file.tree.calls):
        return
    for call in file.tree.calls:
        if call.args and _is_of_any_size(file, call.args[0]) and file.kinds.of(call.func) == MODEL:
            message = "Keras 3 takes only inputs of the size that a model was built with: its layers are called."
            edits = file.replaced_by_call(_TARGET, call, call.func, call.args[0])
            if edits is not None and len(call.args) == 1 and not call.keywords:
                yield file.found(call, message, edits, hint=not file.old)


def _is_of_any_size(file: File, node: ast.expr) -> bool:
    """Return whether an expression is an `Input` with two or more sizes that are None, or a name for one."""
    if isinstance(node, ast.Name):
        values = [binding.value for binding in file.tree.bindings(node)]
        return any(
            each is not None and not isinstance(each, ast.Name) and _is_of_any_size(file, each) for each in values
        )
    if not isinstance(node, ast.Call) or file.names.target(node.func) not in _INPUTS:
        return False
    shape = calls.constant(calls.argument(node, "shape", 0))
    return isinstance(shape, tuple | list) and len(shape) > 2 and list(shape).count(None) > 1
