"""Lists of numbers that are passed as training data become arrays.

Keras 2 made one array of `[1] * n + [0] * n`. Keras 3 takes each number as the data of a separate output. tf.keras of
TensorFlow 2 also made one array of `[[1, 2], [3, 4]]`, which before was a list of several inputs.

```diff
 import numpy as np
 from keras.models import Sequential
 model = Sequential()
-model.train_on_batch(x, [1] * 16 + [0] * 16)
+model.train_on_batch(x, np.array([1] * 16 + [0] * 16))
```
"""

from __future__ import annotations

import ast

from parallel_compat.migrate import calls
from parallel_compat.migrate.edits import Edit
from parallel_compat.migrate.file import File, Findings
from parallel_compat.migrate.findings import Finding
from parallel_compat.names.eras import Era
from parallel_compat.names.members import MODEL

# The arguments that are data, and how many of them by position.
_DATA = {"fit": 2, "evaluate": 2, "predict": 1, "train_on_batch": 2, "test_on_batch": 2, "predict_on_batch": 1}


def find(file: File) -> Findings:
    for method, count in _DATA.items():
        for call, model in file.calls_on(MODEL, method):
            if calls.has_star(call):
                continue
            is_model = file.kinds.of(model) == MODEL
            given = [*call.args[:count], *(each.value for each in call.keywords if each.arg in ("x", "y"))]
            for value in given:
                behind = file.tree.resolved(value) or value
                if _is_of_numbers(behind, nested=True):
                    is_one = file.era is Era.TF_KERAS_2_2 or _is_of_numbers(behind, nested=False)
                    certain = is_one and (is_model or method.endswith("_on_batch"))
                    yield _made_an_array(file, value, certain=certain, hint=not is_model)


def _is_of_numbers(node: ast.expr, *, nested: bool) -> bool:
    if isinstance(node, ast.BinOp):
        sides = [_is_of_numbers(side, nested=nested) for side in (node.left, node.right)]
        return any(sides) if isinstance(node.op, ast.Mult) else isinstance(node.op, ast.Add) and all(sides)
    items = [node.elt] if isinstance(node, ast.ListComp) else node.elts if isinstance(node, ast.List) else []
    return bool(items) and all(_is_number(each) or (nested and _is_of_numbers(each, nested=True)) for each in items)


def _is_number(node: ast.expr) -> bool:
    return type(calls.constant(node)) in (int, float)


def _made_an_array(file: File, node: ast.expr, *, certain: bool, hint: bool) -> Finding:
    message = "Keras 3 takes a list for several inputs or outputs: a list of numbers is one array."
    spelled = _array(file, node)
    if spelled is None:
        return file.attention(node, message)
    edits = [*file.around(node, f"{spelled[0]}(", ")"), *spelled[1]]
    guess = "it is assumed to be data of a Keras model with one input."
    return file.found(node, message, edits, unsafe=not certain and guess, hint=hint and not certain)


def _array(file: File, node: ast.expr) -> tuple[str, tuple[Edit, ...]] | None:
    """Spell `numpy.array` as the source imports numpy; else with an import of it."""
    for name, bindings in file.tree.root.bindings.items():
        if len(bindings) == 1 and file.names.path_of_binding(bindings[0]) == "numpy":
            return None if file.shadows(name, bindings[0], node) else (f"{name}.array", ())
    return file.reference("numpy.array", node)
