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
from dataclasses import replace

from parallel_compat.migrate import calls, methods
from parallel_compat.migrate.file import File, Findings
from parallel_compat.migrate.literals import tail
from parallel_compat.names.members import MODEL


def find(file: File) -> Findings:
    row = methods.member(MODEL, "save_weights")
    for call, _ in file.calls_on(MODEL, "save_weights"):
        path = calls.argument(call, "filepath", 0)
        if path is None or isinstance(path, ast.Starred):
            continue
        ending = tail(path)
        if ending is not None and ending.endswith(".weights.h5"):
            continue
        for finding in methods.to_function(file, call, row):
            # Whatever the name is, the function writes it; but newer code may well know what it does.
            yield replace(finding, hint=True) if ending is None else finding
