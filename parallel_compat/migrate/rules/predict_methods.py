"""`model.predict_classes(x)` and `model.predict_proba(x)` become functions of this package.

So does `model.predict(x, steps=..., workers=...)` of tf.keras: its generators may yield arrays, and Keras 3 takes only
tuples.

```diff
 from keras.models import load_model
+from parallel_compat.legacy.models import predict_classes
 model = load_model('model.keras')
-labels = model.predict_classes(x)
+labels = predict_classes(model, x)
```
"""

from __future__ import annotations

from collections.abc import Iterator

from parallel_compat.migrate import calls, methods
from parallel_compat.migrate.file import File
from parallel_compat.migrate.findings import Finding
from parallel_compat.names.members import MODEL

# Arguments that only a generator has a use for; with `steps`, the call is one of tf.keras.
_OF_GENERATORS = frozenset(("max_queue_size", "workers", "use_multiprocessing"))


def find(file: File) -> Iterator[Finding]:
    """Find calls of the methods."""
    row = methods.member(MODEL, "predict")
    for call in file.method_calls.get("predict", ()):
        named = {keyword.arg for keyword in call.keywords}
        is_other = methods.is_other(file, calls.receiver(call), "predict", MODEL)
        if named & _OF_GENERATORS and "steps" in named and not is_other:
            yield from methods.to_function(file, call, row, telling=True)
    for name in ("predict_classes", "predict_proba"):
        row = methods.member(MODEL, name)
        for call in file.method_calls.get(name, ()):
            if name == "predict_proba" and file.kinds.of(calls.receiver(call)) != MODEL:
                continue  # every classifier of scikit-learn has one
            if not methods.is_other(file, calls.receiver(call), name, MODEL):
                yield from methods.to_function(file, call, row)
