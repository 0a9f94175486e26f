"""`model.save_weights('weights.h5')`: Keras 3 writes weights only to names that end in `.weights.h5`.

The function of this package writes to any name, in the layout of Keras 2.

```diff
 from keras.models import Sequential
+from parallel_compat.legacy.models import save_weights
 model = Sequential()
-model.save_weights('weights.h5')
+save_weights(model, 'weights.h5')
```
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from parallel_compat.migrate import calls, methods
from parallel_compat.migrate.file import File
from parallel_compat.migrate.findings import Finding
from parallel_compat.migrate.literals import tail
from parallel_compat.names.members import MODEL

SAFE = True


def find(file: File) -> Iterator[Finding]:
    """Find calls of `save_weights` with a name that Keras 3 refuses."""
    row = methods.member(MODEL, "save_weights")
    for call in file.method_calls.get("save_weights", ()):
        assert isinstance(call.func, ast.Attribute)
        if methods.is_other(file, call.func.value, "save_weights", MODEL):
            continue
        filepath = calls.keyword(call, "filepath")
        path = call.args[0] if call.args else filepath.value if filepath else None
        if path is None or isinstance(path, ast.Starred):
            continue
        ending = tail(path)
        if ending is not None and ending.endswith(".weights.h5"):
            continue
        for finding in methods.to_function(file, call, row):
            if ending is None:
                # Whatever the name is, the function writes it; but newer code may well know what it does.
                yield file.found(call.func, finding.message, finding.edits, status=finding.status, hint=True)
            else:
                yield finding
