"""`model.load_weights('weights.ckpt')`: Keras 3 reads weights from `.h5`, `.hdf5` and `.keras` files only.

The function of this package reads a file of any name, in the layout of Keras 2 or 3. Keras 2 counted layer names from
1, Keras 3 from 0. With `by_name=True` the function loads `dense_1` of Keras 2 into the layer that Keras 3 calls
`dense`. Keras 3 itself would load it into the next layer.

```diff
 from keras.models import Sequential
+from parallel_compat.legacy.models import load_weights
 model = Sequential()
-model.load_weights('weights')
+load_weights(model, 'weights')
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
    """Find calls of `load_weights` with a name that Keras 3 refuses or nobody knows, and those by names of layers."""
    row = methods.member(MODEL, "load_weights")
    for call, _ in file.calls_on(MODEL, "load_weights"):
        path = calls.argument(call, "filepath", 0)
        ending = tail(path)
        if _is_by_name(call) and (ending is None or not ending.endswith((".weights.h5", ".keras", ".weights.json"))):
            yield from methods.to_function(file, call, row, telling=True)
        elif ending is not None and not ending.endswith((".h5", ".hdf5", ".keras", ".weights.json")):
            yield from methods.to_function(file, call, row)
        elif ending is None and path is not None and not isinstance(path, ast.Starred):
            # Whatever the name is, the function reads it; but newer code may well know what it does.
            for finding in methods.to_function(file, call, row):
                yield replace(finding, hint=True)


def _is_by_name(call: ast.Call) -> bool:
    given = calls.argument(call, "by_name")
    return given is not None and not (isinstance(given, ast.Constant) and not given.value)
