"""`model.predict_classes(x)`, `predict_proba(x)` and `reset_states()` become functions of this package."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from parallel_compat.legacy.members import MODEL
from parallel_compat.migrate import methods

if TYPE_CHECKING:
    from collections.abc import Iterator

    from parallel_compat.migrate.file import File
    from parallel_compat.migrate.findings import Finding

RULE = "predict-methods"
SAFE = True
BEFORE = """\
from keras.models import load_model
model = load_model('model.keras')
labels = model.predict_classes(x)
"""
AFTER = """\
from keras.models import load_model
import parallel_compat.legacy.models
model = load_model('model.keras')
labels = parallel_compat.legacy.models.predict_classes(model, x)
"""


def find(file: File) -> Iterator[Finding]:
    """Find calls of the methods."""
    for name in ("predict_classes", "predict_proba", "reset_states"):
        row = methods.member(MODEL, name)
        for call in file.method_calls.get(name, ()):
            assert isinstance(call.func, ast.Attribute)
            if name != "predict_classes" and file.kinds.of(call.func.value) != MODEL:
                continue  # classifiers of scikit-learn have `predict_proba`, recurrent layers `reset_states`
            if not methods.is_other(file, call.func.value, name, MODEL):
                yield from methods.to_function(file, RULE, call, row)
