"""`model.save('model.hdf')`: Keras 3 writes models to `.keras`, `.h5` and `.hdf5` files only.

The function of this package writes to any name. All names except `.keras` get HDF5, as in Keras 2.

```diff
 from keras.models import Sequential
+from parallel_compat.legacy.models import save_model
 model = Sequential()
-model.save('digits.model')
+save_model(model, 'digits.model')
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
    """Find calls of a model's `save` with a name that Keras 3 refuses."""
    row = methods.member(MODEL, "save")
    for call in file.method_calls.get("save", ()):
        assert isinstance(call.func, ast.Attribute)
        receiver = call.func.value
        known = file.kinds.of(receiver) == MODEL
        if not known and (methods.is_other(file, receiver, "save", MODEL) or not _called_model(receiver)):
            continue
        filepath = calls.keyword(call, "filepath")
        path = call.args[0] if call.args else filepath.value if filepath else None
        ending = tail(path) if path is not None else None
        if ending is not None and not ending.endswith((".keras", ".h5", ".hdf5")):
            yield from methods.to_function(file, call, row)


def _called_model(node: ast.expr) -> bool:
    """Nearly everything can be saved; what is called a model is worth a guess."""
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return name.lower().endswith("model")
