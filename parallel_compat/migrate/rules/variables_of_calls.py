"""`tf.Variable(0.)` in a layer's `call` or in a loss is reported.

In Keras 2 the graph created it once. Keras 3 traces such functions several times, and TensorFlow refuses a variable
that is created in each trace. Make it a weight of the layer (`self.add_weight` in `build`), or create it outside.

```python
import tensorflow as tf
from keras.layers import Layer
class Seen(Layer):
    def call(self, x):
        seen = tf.Variable(0.)
        seen.assign_add(1.)
        return x * seen
```
"""

from __future__ import annotations

import ast

from parallel_compat.migrate.file import File
from parallel_compat.migrate.findings import Findings
from parallel_compat.migrate.scopes import FunctionNode

_MAKING = ("tensorflow.Variable", "tensorflow.compat.v1.Variable")
_OF_LOSSES = ["y_true", "y_pred"]


def find(file: File) -> Findings:
    """Find such variables, in code of graphs."""
    if file.era is None or not file.era.has_graphs:
        return
    for call in file.tree.calls:
        if file.names.path(call.func) not in _MAKING:
            continue
        functions = [above for above in file.tree.ancestors(call) if isinstance(above, ast.FunctionDef)]
        if any(_is_traced(file, function) for function in functions):
            message = (
                "A variable is made in code that Keras 3 traces again and again. Make it in `build`, "
                "by `self.add_weight`, or outside the loss."
            )
            yield file.attention(call, message, hint=not file.old)


def _is_traced(file: File, function: FunctionNode) -> bool:
    if [each.arg for each in function.args.args][-2:] == _OF_LOSSES:
        return True
    class_ = file.tree.parents[function]
    if not isinstance(class_, ast.ClassDef) or getattr(function, "name", "") != "call":
        return False
    targets = [file.names.target(base) or "" for base in class_.bases]
    return any(each.startswith("keras.layers.") or each == "keras.Model" for each in targets)
