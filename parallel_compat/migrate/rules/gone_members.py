"""Methods and attributes that Keras 3 removed without a replacement are reported, with advice.

```python
from keras.models import Model

model = Model(x, y)
nodes = model.container_nodes
```
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from parallel_compat.migrate import calls, methods
from parallel_compat.migrate.dotted_names import is_of_self, is_self, last_name
from parallel_compat.migrate.file import File, Findings
from parallel_compat.migrate.literals import text_of
from parallel_compat.migrate.methods import WHAT, member
from parallel_compat.migrate.rules import own_optimizers
from parallel_compat.migrate.scopes import methods_of
from parallel_compat.migrate.statements import block_of, remove_statement
from parallel_compat.names.members import CALLBACK, LAYER, MODEL, OPTIMIZER, members
from parallel_compat.names.table import Change, Member

# What a name of an object has in it where the file does not tell what it is.
_CALLED = {MODEL: ("model",), LAYER: ("layer", "model"), OPTIMIZER: ("optimizer", "optim", "opt")}
# What Keras 3 does not put into the `params` of a callback.
_PARAMS = ("batch_size", "do_validation", "metrics", "nb_epoch", "nb_sample", "samples")
# Methods that functions of this package give as they were, and Keras 3 has too.
_OF_KERAS_3 = ("predict", "save", "save_weights", "load_weights", "add_loss")
# Methods by which old optimizers did what they do.
_NOT_CALLED = (
    *("get_updates", "get_gradients", "_apply_dense", "_resource_apply_dense", "_apply_sparse"),
    *("_resource_apply_sparse", "_compute_gradients", "compute_gradients"),
)


def find(file: File) -> Findings:
    gone = {name: [row for row in rows if _is_gone(row)] for name, rows in members().items()}
    for node in file.tree.attributes:
        rows = gone.get(node.attr)
        if not rows or file.names.path(node.value) is not None or _is_appended_to(file, node):
            continue
        kind = file.kinds.of(node.value)
        is_own = own_optimizers.is_one(file, file.tree.enclosing_class(node))
        for row in rows:
            if is_own and row.of == OPTIMIZER:
                continue  # it has all that Keras 2's had
            certain = kind == row.of or (row.of == LAYER and kind == MODEL)
            if certain and row.change is Change.RENAMED:
                continue  # another rule renames it
            if is_self(node.value) and not row.known_by and kind != row.of:
                continue
            if is_self(node.value) and _is_own(file, node):
                continue
            if certain or (kind is None and (row.known_by or _is_called(file, node, row.of))):
                became = f"now `{row.new}`." if row.change is Change.RENAMED else f"gone. {row.note}"
                message = f"`{row.old}` of {WHAT[row.of]} is {became}"
                yield file.attention(node, message, hint=kind is None)
                break
    yield from _provided(file)
    yield from _metrics_of_tensors(file)
    yield from _not_called(file)
    yield from _of_params(file)
    for call in _added_outside_of_calls(file):
        message = (
            "Keras 3 silently drops a loss that a layer adds outside of its `call`: call `self.add_loss(...)` there."
        )
        yield file.attention(call, message)
    for call in _losses_of_functions(file):
        yield file.attention(call, "Keras 3 refuses a function as a loss: call `self.add_loss(...)` in `call`.")
    for class_ in file.tree.classes:
        own = [method for name, method in methods_of(class_).items() if name in _NOT_CALLED]
        is_one = file.kinds.of_class(class_) == OPTIMIZER or any("_apply_" in method.name for method in own)
        for method in own[:1] if is_one and not own_optimizers.is_one(file, class_) else ():
            message = (
                f"Keras 3 does not call `{method.name}`: a custom optimizer overrides `update_step`, and passes "
                "`learning_rate` to `super().__init__`."
            )
            yield file.attention(method, message)


def _is_gone(row: Member) -> bool:
    return row.change is Change.GONE or (row.of == OPTIMIZER and row.old == "weights")


def _is_own(file: File, node: ast.Attribute) -> bool:
    """Return whether a class sets an attribute of `self` itself, or defines it."""
    class_ = file.tree.enclosing_class(node)
    if class_ is None or not isinstance(node.ctx, ast.Load):
        return True
    return node.attr in methods_of(class_) or any(each.attr == node.attr for each in _of_self(class_, ast.Store))


def _is_called(file: File, node: ast.Attribute, of: str) -> bool:
    """Return whether an object that is not known is named as one of a kind: `model`, `self.optimizer`."""
    name = last_name(node.value).lower()
    if name == "self" or not isinstance(node.ctx, ast.Load):
        return False
    return any(word in name.split("_") or name.endswith(word) for word in _CALLED.get(of, ()))


def _provided(file: File) -> Findings:
    """Members that functions of this package give."""
    for node in file.tree.attributes:
        rows = [row for row in members().get(node.attr, ()) if row.change is Change.PROVIDED and row.known_by]
        if not rows or not isinstance(node.ctx, ast.Load):
            continue
        if file.names.path(node.value) is not None or file.kinds.has_own(node.value, node.attr):
            continue
        kind = file.kinds.of(node.value)
        if is_self(node.value) and (node.attr != "add_metric" or kind is None):
            continue
        for row in rows:
            certain = kind == row.of or (row.of == LAYER and kind == MODEL) or row.known_by == "alone"
            by_name = row.known_by == "name" or _is_called(file, node, row.of)
            if not certain and not (kind is None and by_name):
                continue
            call = file.tree.parents.get(node)
            if row.method and isinstance(call, ast.Call) and call.func is node:
                yield from methods.to_function(file, call, row, telling=certain)
            elif not row.method:
                yield from _read(file, node, row, certain=certain)
            break


def _metrics_of_tensors(file: File) -> Findings:
    """`model.metrics_names.append("ppl")` before `model.metrics_tensors.append(ppl)`: `add_metric(model, ppl)`."""
    for call in file.method_calls.get("append", ()):
        tensors = calls.receiver(call)
        statement = file.tree.parents.get(call)
        if not isinstance(tensors, ast.Attribute) or not _is_appended_to(file, tensors) or len(call.args) != 1:
            continue
        names = _appended(file, statement, tensors.value) if isinstance(statement, ast.Expr) else None
        spelled = file.reference(member(MODEL, "add_metric").new or "", call)
        if names is None or spelled is None or not isinstance(names.value, ast.Call):
            message = "`metrics_tensors` of a Keras model is gone. Pass `compile` a metric."
            yield file.attention(tensors, message)
            continue
        segment = file.source.segment
        name, value = segment(names.value.args[0]), segment(call.args[0])
        text = f"{spelled[0]}({segment(tensors.value)}, {value}, name={name})"
        edits = [file.replace(call, text), remove_statement(file, names), *spelled[1]]
        yield file.found(tensors, "A tensor that is logged is one of `add_metric` now.", edits)


def _is_appended_to(file: File, node: ast.Attribute) -> bool:
    """Return whether it is the list of `model.metrics_tensors.append(...)`."""
    method = file.tree.parents.get(node)
    return node.attr == "metrics_tensors" and isinstance(method, ast.Attribute) and method.attr == "append"


def _appended(file: File, statement: ast.stmt, model: ast.expr) -> ast.Expr | None:
    """Return the nearest `model.metrics_names.append(name)` of a block before or after a statement."""
    block = block_of(file, statement)
    place = block.index(statement)
    wanted = f"{ast.unparse(model)}.metrics_names.append("
    for each in (*block[place - 1 :: -1][: place and 1], *block[place + 1 : place + 2]):
        if isinstance(each, ast.Expr) and ast.unparse(each).startswith(wanted):
            return each
    return None


def _not_called(file: File) -> Findings:
    """Methods that functions of this package give, where they are not called: `train = model.fit_generator`."""
    for node in file.tree.attributes:
        rows = members().get(node.attr, ())
        parent = file.tree.parents.get(node)
        if node.attr in _OF_KERAS_3 or (isinstance(parent, ast.Call) and parent.func is node):
            continue
        for row in rows:
            if row.method and row.change is Change.PROVIDED and file.kinds.of(node.value) == row.of:
                message = f"`{row.old}` of {WHAT[row.of]} is now `{row.new}(object, ...)`: call that."
                yield file.attention(node, message)


def _of_params(file: File) -> Findings:
    """What callbacks read of their `params`: `self.params["metrics"]`, `self.params.get("samples")`."""
    for node in file.tree.attributes:
        if node.attr != "params" or file.kinds.of(node.value) != CALLBACK:
            continue
        parent = file.tree.parents.get(node)
        if isinstance(parent, ast.Subscript) and parent.value is node:
            key: ast.expr | None = parent.slice
        elif isinstance(parent, ast.Attribute) and parent.attr == "get":
            call = file.tree.parents.get(parent)
            key = call.args[0] if isinstance(call, ast.Call) and call.args else None
        else:
            continue
        if key is not None and (name := text_of(key)) in _PARAMS:
            message = f"`{name}` is not in the `params` of a callback any more. Pass it to the callback's constructor."
            yield file.attention(node, message)


def _read(file: File, node: ast.Attribute, row: Member, *, certain: bool) -> Findings:
    """Make a function's call of an attribute that is read."""
    assert row.new is not None
    message = f"`{row.old}` of {WHAT[row.of]} is provided by `{row.new}`."
    unsafe = not certain and methods.guessed(file, node.value, row.of)
    yield file.found(node, message, file.read_by_function(row.new, node), unsafe=unsafe)


def _added_outside_of_calls(file: File) -> Iterator[ast.Call]:
    """Yield `self.add_loss(self.cost)` in a method of a layer that no method of its class calls."""
    for class_ in file.classes_of(LAYER):
        of_self = {node.attr for node in ast.walk(class_) if is_of_self(node)}
        for name, method in methods_of(class_).items():
            if name.startswith("__") or name in of_self or name in ("call", "build"):
                continue
            for call in ast.walk(method):
                if isinstance(call, ast.Call) and is_of_self(call.func) and call.args and is_of_self(call.args[0]):
                    yield from [call] if call.func.attr == "add_loss" else []


def _losses_of_functions(file: File) -> Iterator[ast.Call]:
    """Yield `self.add_loss(lambda: ...)` in a layer."""
    for call in file.method_calls.get("add_loss", ()):
        is_own = is_self(calls.receiver(call)) and file.kinds.of(calls.receiver(call)) in (LAYER, MODEL)
        if is_own and call.args and isinstance(call.args[0], ast.Lambda):
            yield call


def _of_self(method: ast.FunctionDef | ast.ClassDef, context: type[ast.expr_context]) -> Iterator[ast.Attribute]:
    for node in ast.walk(method):
        if is_of_self(node) and isinstance(node.ctx, context):
            yield node
