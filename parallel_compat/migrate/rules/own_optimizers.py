"""An optimizer of a user's own that has `get_updates` gets its base class from this package.

Keras 2 asked `get_updates(loss, params)` for the updates of a step; Keras 3 does not. The base of this package asks it,
with the gradients of Keras 3, and carries the updates out: first all reads, then all writes. Optimizers of Keras that
it is made of, or derived from, are those of Keras 2.2.4 there.

```diff
-from keras.optimizers import Optimizer
+from parallel_compat.legacy.graph_optimizers import Optimizer
 class Plain(Optimizer):
     def get_updates(self, loss, params):
         return [K.update_sub(p, 0.1 * g) for p, g in zip(params, self.get_gradients(loss, params))]
```
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from parallel_compat.migrate.file import File, Findings
from parallel_compat.migrate.scopes import methods_of

_HOME = "parallel_compat.legacy.graph_optimizers"
_HOMES = ("keras.optimizers", "parallel_compat.legacy.optimizers")
_KINDS = ("Adadelta", "Adagrad", "Adam", "Adamax", "Nadam", "Optimizer", "RMSprop", "SGD")
_FUNCTIONS = ("deserialize", "get")
_OF_GRAPHS = ("tensorflow.control_dependencies", "tensorflow.compat.v1.control_dependencies", "tensorflow.group")


def find(file: File) -> Findings:
    for class_ in file.tree.classes:
        if "get_updates" not in methods_of(class_):
            continue
        for base in class_.bases:
            name = _of_keras(file, base)
            if name == "Optimizer":
                message = f"Keras 3 does not call `get_updates` of `{class_.name}`."
                yield file.redirected(base, f"{_HOME}.{name}", message, f"{message} Derive from `{_HOME}.{name}`.")
            elif name in _KINDS:
                yield from _replaced(file, base, name)
        if is_one(file, class_):
            yield from _in(file, class_)


def is_one(file: File, class_: ast.ClassDef | None) -> bool:
    """Return whether a class has, or gets, a base of this package that asks `get_updates`."""
    if class_ is None:
        return False
    asked = "get_updates" in methods_of(class_)
    return any(
        (file.names.target(base) or "").startswith(_HOME) or (asked and _of_keras(file, base) in _KINDS)
        for base in class_.bases
    )


def _of_keras(file: File, node: ast.expr) -> str:
    package, _, name = (file.names.target(node) or "").rpartition(".")
    return name if package in _HOMES else ""


def _replaced(file: File, node: ast.expr, name: str) -> Findings:
    edits = file.replaced_by(f"{_HOME}.{name}", node)
    if edits is not None:
        yield file.found(node, f"An optimizer with `get_updates` is made of `{_HOME}.{name}`.", edits)


def _in(file: File, class_: ast.ClassDef) -> Findings:
    for call in (each for each in ast.walk(class_) if isinstance(each, ast.Call)):
        name = _of_keras(file, call.func)
        if name != "Optimizer" and name in (*_KINDS, *_FUNCTIONS):
            yield from _replaced(file, call.func, name)
    for node in _not_carried_out(file, methods_of(class_)["get_updates"]):
        message = (
            "Each update of `get_updates` is carried out after all is read: write `K.update(variable, value)` for an "
            "assignment of TensorFlow, and compute from new values what is to be computed from these."
        )
        yield file.attention(node, message)
    debiased = "parallel_compat.legacy.backend.moving_average_update"
    for call in (each for each in ast.walk(class_) if isinstance(each, ast.Call) and file.is_of_standalone_keras):
        if file.names.target(call.func) == debiased:
            message = "In Keras 2.2.4 this average was divided by 1 - momentum ** steps; since 2.3 it is not."
            yield file.attention(call, message)


def _not_carried_out(file: File, method: ast.FunctionDef) -> Iterator[ast.expr]:
    for node in ast.walk(method):
        if not isinstance(node, ast.Call):
            continue
        path = file.names.path(node.func) or ""
        is_method = isinstance(node.func, ast.Attribute) and node.func.attr in ("assign", "assign_add", "assign_sub")
        if path in _OF_GRAPHS or (is_method and (not path or path.startswith("tensorflow"))):
            yield node
