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

import ast
from collections.abc import Iterator
from dataclasses import replace

from parallel_compat.migrate import argument_edits
from parallel_compat.migrate.file import File
from parallel_compat.migrate.findings import Finding, Status
from parallel_compat.names.members import LAYER, MODEL, OPTIMIZER

SAFE = True

_METHODS = ("compile", "fit", "evaluate", "predict", "train_on_batch", "test_on_batch")
# Other methods: whose, and whether nothing else has one of the name.
_OTHERS = {
    "apply_gradients": (OPTIMIZER, True),
    "save_weights": (MODEL, True),
    "load_weights": (MODEL, True),
    "save": (MODEL, False),
    "compute_mask": (LAYER, False),
}


def find(file: File) -> Iterator[Finding]:
    """Find calls of methods of models, layers and optimizers with old arguments."""
    for method, (of, telling) in _OTHERS.items():
        for call in file.method_calls.get(method, ()):
            assert isinstance(call.func, ast.Attribute)
            kind = file.kinds.of(call.func.value)
            if kind == of or (of == LAYER and kind == MODEL) or (kind is None and telling):
                yield from argument_edits.rewrite(file, call, f"{of}.{method}", method)
    for method in _METHODS:
        for call in file.method_calls.get(method, ()):
            assert isinstance(call.func, ast.Attribute)
            kind = file.kinds.of(call.func.value)
            if kind is not None and kind != MODEL:
                continue
            guess = kind is None
            for finding in argument_edits.rewrite(file, call, f"{MODEL}.{method}", method):
                if guess and finding.status is Status.REWRITTEN:
                    yield from _guessed(file, finding, call, method)
                else:
                    yield finding


def _guessed(file: File, finding: Finding, call: ast.Call, method: str) -> Iterator[Finding]:
    """Where the file does not tell that it is a model, only the old name itself can."""
    yield replace(
        finding,
        status=Status.UNSAFE,
        message=finding.message + f" (Unsafe: `{_receiver(file, call)}` is assumed to be a Keras model.)",
    )


def _receiver(file: File, call: ast.Call) -> str:
    assert isinstance(call.func, ast.Attribute)
    text = file.source.segment(call.func.value)
    return text if len(text) <= 40 and "\n" not in text else text[:37].splitlines()[0] + "..."
