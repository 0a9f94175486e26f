"""`model.predict_classes(x)` and `model.predict_proba(x)` become functions of this package."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from parallel_compat.migrate import methods
from parallel_compat.names.members import MODEL

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
    """Find calls of the two methods."""
    for name in ("predict_classes", "predict_proba"):
        row = methods.member(MODEL, name)
        for call in file.method_calls.get(name, ()):
            assert isinstance(call.func, ast.Attribute)
            if name == "predict_proba" and file.kinds.of(call.func.value) != MODEL:
                continue  # every classifier of scikit-learn has one
            if not methods.is_other(file, call.func.value, name, MODEL):
                yield from methods.to_function(file, RULE, call, row)
