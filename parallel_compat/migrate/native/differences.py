"""What native code computes otherwise is said once, beside the place, with the figure and the choice.

A `MirroredStrategy` gives other results than `multi_gpu_model` for batches that the replicas do not divide, losses of
the whole batch, clipped gradients, masks, `BatchNormalization` and single batches. Nothing of it is changed silently:
change the code, or keep the parallel model (`--keep parallel`).
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from parallel_compat.migrate import native, project
from parallel_compat.migrate.kinds import LIBRARIES
from parallel_compat.migrate.source import Undecodable, decode
from parallel_compat.names.native import NOTES, PARALLEL_MODELS
from parallel_compat.names.native_differences import DIFFERENCES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from parallel_compat.migrate.file import File
    from parallel_compat.migrate.findings import Finding

RULE = native.DIFFERENCES
SAFE = True
BEFORE = """\
from keras.utils import multi_gpu_model
model = multi_gpu_model(build(), gpus=2)
model.compile('sgd', 'mse')
model.fit(x, y, batch_size=50)
"""
AFTER = None


def find(file: File) -> Iterator[Finding]:
    """Find what is computed otherwise: by a strategy than by a parallel model, from a file of Keras 2 than then."""
    for call in file.tree.calls:
        path = file.names.path(call.func) or ""
        if path in PARALLEL_MODELS and path not in file.keeps:
            texts = _texts(file)
            for difference in DIFFERENCES:
                if any(difference.pattern.search(text) for text in texts):
                    yield file.attention(RULE, _place(file, call, difference.method), difference.text)
        elif path in NOTES:
            yield file.attention(RULE, call, NOTES[path])


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


def _texts(file: File) -> list[str]:
    """The source, and those of the project that it imports."""
    texts = [file.source.text]
    path = file.kinds.path
    for statement in file.tree.imports if path is not None else ():
        if not isinstance(statement, ast.ImportFrom) or path is None:
            continue
        if not statement.level and (statement.module or "").partition(".")[0] in LIBRARIES:
            continue
        found = project.module_of(path, "." * statement.level + f"{statement.module or ''}.x")
        if found is not None:
            try:
                with open(found[0], "rb") as stream:
                    texts.append(decode(stream.read())[0])
            except (OSError, Undecodable):
                continue
    return texts
