"""`self.compiled_loss(...)` and `self.compiled_metrics.update_state(...)` in a `train_step` become functions.

Keras 3 still has both. But its `compiled_loss` does not log the loss, and its `compiled_metrics` passes the
predictions to the metric that logs it: `loss` in the history is silently the mean of the predictions.

```diff
 from tensorflow import keras
+from parallel_compat.legacy.models import compiled_loss, update_compiled_metrics
 class Net(keras.Model):
     def test_step(self, data):
         x, y = data
         predictions = self(x, training=False)
-        self.compiled_loss(y, predictions, regularization_losses=self.losses)
-        self.compiled_metrics.update_state(y, predictions)
+        compiled_loss(self, y, predictions, regularization_losses=self.losses)
+        update_compiled_metrics(self, y, predictions)
         return {m.name: m.result() for m in self.metrics}
```
"""

from __future__ import annotations

import ast

from parallel_compat.migrate import calls
from parallel_compat.migrate.edits import Edit
from parallel_compat.migrate.file import File, Findings
from parallel_compat.names.members import MODEL

_MODELS = "parallel_compat.legacy.models"


def find(file: File) -> Findings:
    for call in file.method_calls.get("compiled_loss", ()):
        yield from _of_model(file, call, calls.receiver(call), f"{_MODELS}.compiled_loss")
    for call in file.method_calls.get("update_state", ()):
        of = calls.receiver(call)
        if isinstance(of, ast.Attribute) and of.attr == "compiled_metrics":
            yield from _of_model(file, call, of.value, f"{_MODELS}.update_compiled_metrics")


def _of_model(file: File, call: ast.Call, model: ast.expr, function: str) -> Findings:
    spelled = file.reference(function, call) if file.kinds.of(model) == MODEL and call.args else None
    if spelled is None:
        return
    after = file.opening(call) + 1
    edits = [
        file.replace(call.func, spelled[0]),
        Edit(after, after, f"{file.source.segment(model)}, "),
        *spelled[1],
    ]
    message = f"`{function}` logs what this did: in Keras 3 `loss` would be the mean of the predictions."
    yield file.found(call, message, edits)
