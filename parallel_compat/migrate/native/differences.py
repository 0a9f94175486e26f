"""What native code computes differently is reported once, with figures and the choices.

A `MirroredStrategy` gives other results than `multi_gpu_model` for batches that the replicas do not divide, losses of
the whole batch, clipped gradients, masks, `BatchNormalization` and single batches. None of these changes silently:
change the code, or keep the parallel model (`--keep parallel`).

```python
from keras.utils import multi_gpu_model

model = multi_gpu_model(build(), gpus=2)
model.compile("sgd", "mse")
model.fit(x, y, batch_size=50)
```
"""

from __future__ import annotations

import ast
import re

from parallel_compat.migrate import calls, native, project
from parallel_compat.migrate.file import File, Findings
from parallel_compat.migrate.findings import Finding, Status
from parallel_compat.migrate.source import Undecodable, decode
from parallel_compat.names.eras import Era
from parallel_compat.names.native import NOTES, PARALLEL_MODELS
from parallel_compat.names.native_differences import DIFFERENCES, OWN_LOSS
from parallel_compat.names.results import RESULTS, TODAY

# A loss of several outputs, or a metric that is a function.
_ONE_NUMBER = r"loss_weights|metrics\s*=\s*\[(?:[^\]]*,)?\s*[a-z_]\w*\s*[,\]]"


def find(file: File) -> Findings:
    """Find what is computed otherwise: by a strategy than by a parallel model, from a file of Keras 2 than then."""
    for call in file.tree.calls:
        path = file.names.path(call.func) or ""
        if path in PARALLEL_MODELS and path not in file.keeps:
            texts = texts_around(file)
            for difference in DIFFERENCES:
                own = difference.pattern is OWN_LOSS and _has_own_loss(file)
                if own or any(difference.pattern.search(text) for text in texts):
                    yield file.attention(_place(file, call, difference.method), difference.text)
        elif path in NOTES:
            yield file.attention(call, NOTES[path])


def of_keras_2(file: File) -> Findings:
    """Find what Keras 3 computes differently from the source's era: once each."""
    era = file.era or Era.KERAS_2_2_4
    if not file.old or era is Era.TODAY:
        return
    for result in RESULTS:
        if era not in result.eras:
            continue
        words = _ONE_NUMBER if result is RESULTS[0] else result.words
        match = re.search(words, file.source.text) if TODAY in (result.migrate, result.migrate[-len(TODAY) :]) else None
        if match is not None and not file.ignored(native.DIFFERENCES, match.start()):
            message = f"{result.what}: Keras 2: {result.keras_2}. Keras 3: {result.keras_3}."
            yield Finding(native.DIFFERENCES, match.start(), Status.ATTENTION, message)


def _has_own_loss(file: File) -> bool:
    """Whether a model is compiled with a loss that is a function of the project's."""
    for call in file.method_calls.get("compile", ()):
        loss = calls.argument(call, "loss", 1)
        for node in ast.walk(loss) if loss is not None else ():
            if isinstance(node, ast.Name) and not (file.names.path(node) or "").startswith(("keras", "tensorflow")):
                return True
    return False


def _place(file: File, call: ast.Call, methods: tuple[str, ...]) -> ast.expr:
    """The first call of a method that the difference is about, after the model is made; else the model's own place."""
    for method in methods:
        for other in file.method_calls.get(method, ()):
            if other.lineno >= call.lineno:
                return other
        for other in file.tree.calls:
            if (file.names.path(other.func) or "") == f"parallel_compat.{method}" and other.lineno >= call.lineno:
                return other
    return call


def texts_around(file: File) -> list[str]:
    """Return the source, and those of the project that it imports."""
    texts = [file.source.text]
    path = file.kinds.path
    for statement in file.tree.imports if path is not None else ():
        if not isinstance(statement, ast.ImportFrom) or path is None:
            continue
        found = project.module_of(path, "." * statement.level + f"{statement.module or ''}.x")
        if found is not None:
            try:
                with open(found[0], "rb") as stream:
                    texts.append(decode(stream.read())[0])
            except (OSError, Undecodable):
                continue
    return texts
