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

from parallel_compat.migrate import calls, methods
from parallel_compat.migrate.dotted_names import last_name
from parallel_compat.migrate.file import File, Findings
from parallel_compat.migrate.literals import tail
from parallel_compat.names.members import MODEL

_OWN_CLASS = (
    "TensorFlow saved what `{0}` computes. Now the file has its weights alone: where `load_model` read it, build the "
    "model in code, call it on a batch, then `parallel_compat.legacy.models.load_weights(model, path)`."
)


def find(file: File) -> Findings:
    row = methods.member(MODEL, "save")
    for call, receiver in file.calls_on(MODEL, "save"):
        if file.kinds.of(receiver) is None and not last_name(receiver).lower().endswith("model"):
            continue  # nearly everything can be saved
        ending = tail(calls.argument(call, "filepath", 0))
        if ending is not None and not ending.endswith((".keras", ".h5", ".hdf5")):
            yield from methods.to_function(file, call, row)
            made_by = file.kinds.class_of(receiver)
            if made_by is not None and file.reads_models:
                yield file.attention(call, _OWN_CLASS.format(made_by.name))
