"""`load_model` of an `.h5` file: Keras 3 fails on compiled models of Keras 2 (`loss="mse"`) and on old layers.

`parallel_compat.legacy.models` has a `load_model` that reads these files, and a `model_from_json` for the JSON of an
old `to_json`.

```diff
-from keras.models import load_model
+from parallel_compat.legacy.models import load_model
 model = load_model('model.h5')
```
"""

from __future__ import annotations

from collections.abc import Iterator

from parallel_compat.migrate import calls
from parallel_compat.migrate.file import File
from parallel_compat.migrate.findings import Finding
from parallel_compat.migrate.literals import tail

_JSON = "parallel_compat.legacy.models.model_from_json"
_TARGET = "parallel_compat.legacy.models.load_model"


def find(file: File) -> Iterator[Finding]:
    """Find calls that load, or may load, an old file."""
    for call in file.calls_by_target.get("keras.models.load_model", ()):
        path = calls.argument(call, "filepath", 0)
        ending = tail(path) if path is not None else None
        if ending is not None and not ending.endswith((".h5", ".hdf5", ".hdf")):
            continue
        if calls.keyword(call, "safe_mode") is not None:
            continue
        if ending is None and not file.old:
            message = f"If this may be a file of Keras 2, load it with `{_TARGET}`."
            yield file.attention(call, message, hint=True)
        elif file.redirect(call.func, _TARGET):
            yield file.found(call, f"`load_model` of a file of Keras 2 is provided by `{_TARGET}`.")
        else:
            yield file.attention(call, f"Use `{_TARGET}`, which reads files of Keras 2.")
    for call in file.calls_by_target.get("keras.models.model_from_json", ()):
        if file.old and file.redirect(call.func, _JSON):
            yield file.found(call, f"`model_from_json` of what Keras 2 wrote is provided by `{_JSON}`.")
        else:
            message = f"If Keras 2 may have written this, read it with `{_JSON}`."
            yield file.attention(call, message, hint=True)
