"""`model.build(shape)` of a subclassed model becomes a function that creates its weights.

In tf.keras `build` called the model on inputs of this shape. In Keras 3 it creates no weights, so counting, saving or
loading them fails. If the file does not show the model's class, nothing changes.

```diff
 import tensorflow as tf
+from parallel_compat.legacy.models import build
 class Net(tf.keras.Model):
     def call(self, x):
         return self.dense(x)
 net = Net()
-net.build((None, 28))
+build(net, (None, 28))
```
"""

from __future__ import annotations

from parallel_compat.migrate import calls, methods
from parallel_compat.migrate.file import File, Findings
from parallel_compat.migrate.scopes import methods_of
from parallel_compat.names.members import MODEL
from parallel_compat.names.table import Change, Member

_ROW = Member(
    MODEL,
    "build",
    Change.PROVIDED,
    "parallel_compat.legacy.models.build",
    method=True,
    note="In Keras 3 it creates no weights of a subclassed model.",
)


def find(file: File) -> Findings:
    """Find calls of the method on models whose class has a `call` and no `build` of its own."""
    for call in file.method_calls.get("build", ()):
        model = calls.receiver(call)
        if file.kinds.of(model) != MODEL or len(call.args) + len(call.keywords) != 1:
            continue
        class_ = file.kinds.class_of(model)
        names = methods_of(class_) if class_ is not None else ()
        if "call" in names and "build" not in names:
            yield from methods.to_function(file, call, _ROW)
