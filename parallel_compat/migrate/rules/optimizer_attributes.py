"""`optimizer.lr` becomes `optimizer.learning_rate`; `K.get_value` and `K.set_value` on it keep working.

In Keras 2 `model.optimizer` of an uncompiled model was None (`if not model.optimizer`). In Keras 3 the attribute does
not exist.

```diff
 from keras.callbacks import Callback
 class Rate(Callback):
     def on_epoch_end(self, epoch, logs=None):
-        print(self.model.optimizer.lr)
+        print(self.model.optimizer.learning_rate)
```
"""

from __future__ import annotations

import ast

from parallel_compat.migrate import calls, methods
from parallel_compat.migrate.dotted_names import is_call_by_name, is_self, last_name
from parallel_compat.migrate.edits import Edit
from parallel_compat.migrate.file import File, Findings
from parallel_compat.migrate.rules import own_optimizers
from parallel_compat.names.members import MODEL, OPTIMIZER


def find(file: File) -> Findings:
    yield from _named(file)
    for node in file.tree.attributes:
        if node.attr == "optimizer" and _is_read(file, node) and file.kinds.of(node.value) == MODEL:
            quote = file.source.quote
            text = f"getattr({file.source.segment(node.value)}, {quote}optimizer{quote}, None)"
            message = "A model that is not compiled has no attribute `optimizer` any more."
            yield file.found(node, message, [file.replace(node, text)], hint=not file.old)
        above = file.tree.parents[node]
        if node.attr in ("lr", "learning_rate") and isinstance(above, ast.Call) and above.func is node:
            yield from _schedule(file, node)
            continue
        if node.attr not in ("lr", "weights"):
            continue
        if is_self(node.value) or own_optimizers.is_one(file, file.tree.enclosing_class(node)):
            continue  # an optimizer of their own keeps its attributes
        if not _may_be_one(file, node.value) or (node.attr != "lr" and file.kinds.of(node.value) is None):
            continue
        row = methods.member(OPTIMIZER, node.attr)
        assert row.new is not None
        end = file.source.end(node)
        message = f"`{row.old}` of an optimizer is now `{row.new}`."
        if isinstance(node.ctx, ast.Store) and file.is_of_standalone_keras:
            message += " In Keras 2.2.4 an assignment had no effect after training began; now it has."
        yield file.found(node, message, [Edit(end - len(row.old), end, row.new)], unsafe=_guess(file, node.value))


def _named(file: File) -> Findings:
    """Find `hasattr(model.optimizer, 'lr')`, and `getattr` and `setattr` of it."""
    for call in file.tree.calls:
        is_one = is_call_by_name(call, "getattr", "hasattr", "setattr") and len(call.args) > 1
        if not is_one or calls.constant(call.args[1]) != "lr" or not _may_be_one(file, call.args[0]):
            continue
        message = "`lr` of an optimizer is now `learning_rate`."
        edit = file.replace(call.args[1], file.source.segment(call.args[1]).replace("lr", "learning_rate"))
        yield file.found(call.args[1], message, [edit], unsafe=_guess(file, call.args[0]))


def _schedule(file: File, node: ast.Attribute) -> Findings:
    """`optimizer.lr(step)`: tf.keras gave the schedule there, Keras 3 gives the number of the step that it is at."""
    if not _may_be_one(file, node.value):
        return
    quote = file.source.quote
    target = "parallel_compat.legacy.optimizer_methods.get_hyper"
    edits = file.read_by_function(target, node, f", {quote}learning_rate{quote}")
    if edits is not None:
        message = "A learning rate that was passed as a schedule reads as a number today."
        yield file.found(node, message, edits, unsafe=_guess(file, node.value))


def _is_read(file: File, node: ast.Attribute) -> bool:
    """Return whether the code tests if there is one: `if model.optimizer`, `model.optimizer is None`."""
    above = file.tree.parents[node]
    if isinstance(above, ast.Compare):
        return isinstance(above.ops[0], ast.Is | ast.IsNot) and calls.constant(above.comparators[0]) is None
    if isinstance(above, ast.If | ast.IfExp | ast.Assert):
        return above.test is node
    return isinstance(above, ast.UnaryOp) and isinstance(above.op, ast.Not)


def _may_be_one(file: File, node: ast.expr) -> bool:
    """Return whether it is an optimizer, or its name says so: `optimizer`, `model.optimizer`, `self.opt`, `sgd`."""
    kind, name = file.kinds.of(node), last_name(node).lower()
    return kind == OPTIMIZER or (kind is None and ("optim" in name or name in ("opt", "sgd", "adam", "rmsprop")))


def _guess(file: File, node: ast.expr) -> str | bool:
    return file.kinds.of(node) is None and methods.guessed(file, node, OPTIMIZER)
