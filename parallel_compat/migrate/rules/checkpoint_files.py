"""`ModelCheckpoint('model.hdf5')`: Keras 3 refuses most old file names; this package's checkpoint takes them.

Keras 3 writes whole models to `.keras` and `.h5`, weights to `.weights.h5`, and refuses other names.

```diff
-from keras.callbacks import ModelCheckpoint
+from parallel_compat.legacy.callbacks import ModelCheckpoint
 save = ModelCheckpoint('weights.{epoch:02d}.hdf5', save_weights_only=True)
```
"""

from __future__ import annotations

from parallel_compat.migrate import calls
from parallel_compat.migrate.file import File, Findings
from parallel_compat.migrate.literals import tail

_TARGET = "parallel_compat.legacy.callbacks.ModelCheckpoint"


def find(file: File) -> Findings:
    for call in file.calls_by_target.get("keras.callbacks.ModelCheckpoint", ()):
        ending = tail(file.tree.resolved(calls.argument(call, "filepath", 0)))
        weights_only = calls.constant(calls.argument(call, "save_weights_only", 4)) is True
        allowed = (".weights.h5",) if weights_only else (".keras", ".h5")
        if ending.endswith(allowed) if ending is not None else calls.keyword(call, "save_freq") is not None:
            continue
        if ending is None and not file.old:
            message = f"If the file name may not end in {allowed[0]}: `{_TARGET}` takes any name."
            yield file.found(call, message, file.replaced_by(_TARGET, call.func), unsafe=True, hint=True)
        else:
            message = f"A checkpoint to this name is provided by `{_TARGET}`; Keras 3 wants {' or '.join(allowed)}."
            otherwise = f"Use `{_TARGET}`: Keras 3 wants a name in {' or '.join(allowed)}."
            yield file.redirected(call.func, _TARGET, message, otherwise)
