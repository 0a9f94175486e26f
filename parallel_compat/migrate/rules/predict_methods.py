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

from parallel_compat.migrate import methods
from parallel_compat.migrate.file import File, Findings
from parallel_compat.names.members import MODEL

# Arguments that only a generator has a use for; with `steps`, the call is one of tf.keras.
_OF_GENERATORS = frozenset(("max_queue_size", "workers", "use_multiprocessing"))


def find(file: File) -> Findings:
    row = methods.member(MODEL, "predict")
    for call, _ in file.calls_on(MODEL, "predict"):
        named = {keyword.arg for keyword in call.keywords}
        if named & _OF_GENERATORS and "steps" in named:
            yield from methods.to_function(file, call, row, telling=True)
    for name in ("predict_classes", "predict_proba"):
        row = methods.member(MODEL, name)
        for call, model in file.calls_on(MODEL, name):
            if name == "predict_classes" or file.kinds.of(model) == MODEL:  # scikit-learn's have a `predict_proba`
                yield from methods.to_function(file, call, row)
