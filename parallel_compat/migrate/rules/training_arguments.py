"""Arguments of `compile`, `fit`, `evaluate` and `predict` that were renamed, moved or removed.

`nb_epoch` becomes `epochs`. `workers`, `use_multiprocessing` and `max_queue_size` are dropped; they did not change
results. A third positional argument of `compile` becomes `metrics=`, because Keras 3 has `loss_weights` there.

```diff
 from keras.models import Sequential
 model = Sequential()
-model.compile('adam', 'mse', ['accuracy'])
-model.fit(x, y, nb_epoch=3)
+model.compile('adam', 'mse', metrics=['accuracy'])
+model.fit(x, y, epochs=3)
```
"""

from __future__ import annotations

from dataclasses import replace

from parallel_compat.migrate import argument_edits, calls, methods
from parallel_compat.migrate.file import File, Findings
from parallel_compat.migrate.findings import Status
from parallel_compat.names.members import LAYER, MODEL, OPTIMIZER

_METHODS = ("compile", "fit", "evaluate", "predict", "train_on_batch", "test_on_batch")
# Other methods: whose, and whether nothing else has one of the name.
_OTHERS = {
    "apply_gradients": (OPTIMIZER, True),
    "save_weights": (MODEL, True),
    "load_weights": (MODEL, True),
    "save": (MODEL, False),
    "compute_mask": (LAYER, False),
    "reset_states": (LAYER, True),
}


def find(file: File) -> Findings:
    for method, (of, telling) in _OTHERS.items():
        for call in file.method_calls.get(method, ()):
            kind = file.kinds.of(calls.receiver(call))
            if kind == of or (of == LAYER and kind == MODEL) or (kind is None and telling):
                yield from argument_edits.rewrite(file, call, f"{of}.{method}", method)
    for method in _METHODS:
        for call, model in file.calls_on(MODEL, method):
            is_guess = file.kinds.of(model) is None
            for finding in argument_edits.rewrite(file, call, f"{MODEL}.{method}", method):
                if is_guess and finding.status is Status.REWRITTEN:
                    message = f"{finding.message} (Unsafe: {methods.guessed(file, model, MODEL)})"
                    yield replace(finding, status=Status.UNSAFE, message=message)
                else:
                    yield finding
