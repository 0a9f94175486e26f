"""Methods and attributes that Keras 3 dropped and nothing replaces are reported, with what to do instead."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from parallel_compat.migrate.dotted_names import is_self
from parallel_compat.migrate.methods import WHAT
from parallel_compat.names.members import LAYER, MODEL, OPTIMIZER, members
from parallel_compat.names.table import Change

if TYPE_CHECKING:
    from collections.abc import Iterator

    from parallel_compat.migrate.file import File
    from parallel_compat.migrate.findings import Finding

RULE = "gone-members"
SAFE = True
BEFORE = """\
from keras.models import Model

model = Model(x, y)
nodes = model.container_nodes
"""
AFTER = None

# Names that nothing but Keras has: reported also where the file does not tell what the object is.
_TELLING = frozenset(
    [
        "to_yaml",
        "container_nodes",
        "metrics_tensors",
        "uses_learning_phase",
        "_collected_trainable_weights",
        "_make_train_function",
        "_make_predict_function",
        "_make_test_function",
        "inbound_nodes",
        "outbound_nodes",
        "get_output_at",
        "get_input_at",
        "get_output_shape_at",
        "get_input_shape_at",
        "_keras_history",
        "_uses_learning_phase",
        "add_update",
        "input_masks",
        "output_masks",
    ]
)


def find(file: File) -> Iterator[Finding]:
    """Find members that are gone."""
    gone = {name: [row for row in rows if row.change is Change.GONE] for name, rows in members().items()}
    for node in file.tree.attributes:
        rows = gone.get(node.attr)
        if not rows or file.names.path(node.value) is not None:
            continue
        kind = file.kinds.of(node.value)
        for row in rows:
            if kind == row.of or (kind is None and node.attr in _TELLING):
                message = f"`{row.old}` of {WHAT[row.of]} is gone. {row.note}"
                yield file.attention(RULE, node, message, hint=kind is None)
                break
    for call in file.method_calls.get("add_loss", ()):
        model = call.func.value if isinstance(call.func, ast.Attribute) else call.func
        kind = file.kinds.of(model)
        if kind in (None, MODEL) and not is_self(model):
            message = (
                "`add_loss` of a functional model is gone: compute it in the `call` of a layer of the model, by "
                "`self.add_loss(...)`."
            )
            yield file.attention(RULE, call, message, hint=kind is None)
    for call in _added_outside_of_calls(file):
        message = (
            "Keras 3 drops a loss that a layer adds outside of its `call`, without a word: say `self.add_loss(...)` "
            "there."
        )
        yield file.attention(RULE, call, message)
    for node in _shapes_of_calls(file):
        message = "Keras 3 asks for the output shape before it runs `call`, which sets this one."
        yield file.attention(RULE, node, message)
    for call in file.method_calls.get("add_metric", ()):
        assert isinstance(call.func, ast.Attribute)
        kind = file.kinds.of(call.func.value)
        if kind in (None, LAYER, MODEL):
            message = "`add_metric` is gone: give `compile` a metric, or update one of the layer's own in its `call`."
            yield file.attention(RULE, call, message, hint=kind is None)
    for class_ in file.tree.classes:
        if file.kinds.of_class(class_) == OPTIMIZER:
            for statement in class_.body:
                if isinstance(statement, ast.FunctionDef) and statement.name == "get_updates":
                    message = "Keras 3 calls no `get_updates`: an optimizer of its own overrides `update_step`."
                    yield file.attention(RULE, statement, message)


def _added_outside_of_calls(file: File) -> Iterator[ast.Call]:
    """Yield `self.add_loss(self.cost)` in a method of a layer that no method of its class calls."""
    for class_ in file.tree.classes:
        if file.kinds.of_class(class_) != LAYER:
            continue
        of_self = {node.attr for node in ast.walk(class_) if isinstance(node, ast.Attribute) and is_self(node.value)}
        for method in class_.body:
            if not isinstance(method, ast.FunctionDef) or method.name.startswith("__") or method.name in of_self:
                continue
            if method.name in ("call", "build"):
                continue
            for call in ast.walk(method):
                if (
                    isinstance(call, ast.Call)
                    and isinstance(call.func, ast.Attribute)
                    and call.func.attr == "add_loss"
                    and is_self(call.func.value)
                    and call.args
                    and isinstance(call.args[0], ast.Attribute)
                    and is_self(call.args[0].value)
                ):
                    yield call


def _shapes_of_calls(file: File) -> Iterator[ast.Attribute]:
    """Yield what `compute_output_shape` of a layer reads of `self` that its `call` alone sets."""
    for class_ in file.tree.classes:
        if file.kinds.of_class(class_) != LAYER:
            continue
        methods = {each.name: each for each in class_.body if isinstance(each, ast.FunctionDef)}
        shape, call = methods.get("compute_output_shape"), methods.get("call")
        if shape is None or call is None:
            continue
        first = [each for name, each in methods.items() if name in ("__init__", "build")]
        stored = [node for each in first for node in _of_self(each, ast.Store)]
        set_before = {node.attr for node in stored if not _is_none(file.tree.parents.get(node))}
        set_by_call = {node.attr for node in _of_self(call, ast.Store)}
        for node in _of_self(shape, ast.Load):
            if node.attr in set_by_call - set_before:
                yield node
                break


def _is_none(statement: ast.AST | None) -> bool:
    """Whether a statement is `self.result = None`, which waits for the call."""
    value = statement.value if isinstance(statement, ast.Assign) else None
    return isinstance(value, ast.Constant) and value.value is None


def _of_self(method: ast.FunctionDef, context: type[ast.expr_context]) -> Iterator[ast.Attribute]:
    for node in ast.walk(method):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, context) and is_self(node.value):
            yield node
