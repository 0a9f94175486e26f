"""Hand-written `make_parallel` and `to_multi_gpu` (one tower per `tf.device('/gpu:N')`) become `multi_gpu_model`.

Under Keras 3 such towers run one after the other, each with the whole batch on the first device, or fail.

```diff
 from keras.models import Model
+from parallel_compat import multi_gpu_model
 from multi_gpu import make_parallel
-model = make_parallel(model, 4)
+model = multi_gpu_model(model, 4)
```
"""

from __future__ import annotations

import ast

from parallel_compat.migrate.dotted_names import is_call_of, last_name
from parallel_compat.migrate.file import File, Findings
from parallel_compat.migrate.rules.wrapper_classes import TARGET, replaced

_NAMES = ("make_parallel", "to_multi_gpu")


def find(file: File) -> Findings:
    if not any(word in file.source.text for word in ("device", *_NAMES)):
        return
    towers = set()
    for function in file.tree.functions:
        if isinstance(function, ast.FunctionDef) and _makes_towers(function):
            towers.add(function)
            message = f"`{function.name}` builds one tower per device by hand; call `{TARGET}` instead."
            yield file.attention(function, message)
    for call in file.tree.calls:
        name = last_name(call.func)
        definition = file.kinds.definition(call.func)
        imported = name in _NAMES and isinstance(definition, ast.alias)
        if definition in towers or imported or (name in _NAMES and file.names.path(call.func) is not None):
            yield from replaced(file, call, name)


def _makes_towers(function: ast.FunctionDef) -> bool:
    if function.name in _NAMES:
        return True
    return any(
        is_call_of(item.context_expr, "device")
        and item.context_expr.args
        and not isinstance(item.context_expr.args[0], ast.Constant)
        for loop in ast.walk(function)
        if isinstance(loop, ast.For)
        for node in ast.walk(loop)
        if isinstance(node, ast.With)
        for item in node.items
    )
