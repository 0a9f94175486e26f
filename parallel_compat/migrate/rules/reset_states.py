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

from parallel_compat.migrate import methods
from parallel_compat.migrate.file import File, Findings
from parallel_compat.names.members import MODEL


def find(file: File) -> Findings:
    """Find calls of the method on models, and on what may be one or a metric."""
    row = methods.member(MODEL, "reset_states")
    for call, _ in file.calls_on(MODEL, "reset_states"):
        if not call.args and not call.keywords:  # a recurrent layer takes states
            yield from methods.to_function(file, call, row)
