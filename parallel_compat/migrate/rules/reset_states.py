"""`model.reset_states()` becomes a function of this package: in Keras 3 only layers have this method.

```diff
 from keras.models import load_model
+from parallel_compat.legacy.models import reset_states
 model = load_model('model.keras')
-model.reset_states()
+reset_states(model)
```
"""

from __future__ import annotations

from collections.abc import Iterator

from parallel_compat.migrate import calls, methods
from parallel_compat.migrate.file import File
from parallel_compat.migrate.findings import Finding
from parallel_compat.names.members import MODEL


def find(file: File) -> Iterator[Finding]:
    """Find calls of the method on models, and on what may be one or a metric."""
    row = methods.member(MODEL, "reset_states")
    for call in file.method_calls.get("reset_states", ()):
        no_arguments = not call.args and not call.keywords  # a recurrent layer takes states
        if no_arguments and not methods.is_other(file, calls.receiver(call), "reset_states", MODEL):
            yield from methods.to_function(file, call, row)
