"""`self.part = self.kernel[:, :n]` in a layer's `build` is computed again in `call`: it keeps the initial weights.

In Keras 2 this was an operation of the graph and followed the weights, also another layer's (`self.tied_to.kernel`).
Keras 3 runs `build` once, eagerly. What needs more than attributes of `self` is reported.

```diff
 from keras import ops
 from keras.layers import Layer


 class Tied(Layer):
     def build(self, shape):
         self.transposed = ops.transpose(self.tied_to.kernel)

     def call(self, x):
+        self.transposed = ops.transpose(self.tied_to.kernel)
         return ops.dot(x, self.transposed)
```
"""

from __future__ import annotations

import ast
import re

from parallel_compat.migrate.dotted_names import is_call_by_name, is_call_of, is_of_self
from parallel_compat.migrate.edits import AnyEdit, Edit
from parallel_compat.migrate.file import File, Findings
from parallel_compat.migrate.literals import is_none
from parallel_compat.migrate.scopes import methods_of
from parallel_compat.migrate.statements import indent_of, is_alone
from parallel_compat.names.members import LAYER

# What layers call their weights, and what is read of a weight and is no tensor that follows it.
_WEIGHTS = re.compile(r"((recurrent|depthwise|pointwise)_)?kernel|bias|embeddings|gamma|beta|(trainable_)?weights")
_OF_THE_WEIGHT = frozenset(("shape", "dtype", "name", "ndim", "get_shape"))


def find(file: File) -> Findings:
    for class_ in file.classes_of(LAYER):
        methods = methods_of(class_)
        if "build" in methods:
            yield from _computed(file, methods["build"], methods.get("call"))


def _computed(file: File, build: ast.FunctionDef, call: ast.FunctionDef | None) -> Findings:
    assignments = [node for node in ast.walk(build) if isinstance(node, ast.Assign) and len(node.targets) == 1]
    weights = {ast.unparse(node.targets[0]) for node in assignments if _is_a_weight(node.value)}
    again = (
        {ast.unparse(node) for node in ast.walk(call) if isinstance(node, ast.Assign)} if call is not None else set()
    )
    computed = []
    for node in sorted(assignments, key=lambda each: each.lineno):
        target, value = node.targets[0], node.value
        if not isinstance(target, ast.Attribute) or not isinstance(value, ast.Call | ast.Subscript | ast.BinOp):
            continue
        if ast.unparse(target) in weights or not _reads(file, value, weights):
            continue
        weights.add(ast.unparse(target))
        if ast.unparse(node) not in again:
            computed.append(node)
    whole = [_whole(file, node, build, computed) for node in computed]
    movable = [node for node in dict.fromkeys(whole) if node is not None]
    edits = _first_in(file, call, movable) if call is not None and computed and None not in whole else []
    for node in computed:
        message = (
            f"`{file.source.segment(node.targets[0])}` is computed from weights in `build`: Keras 3 does this once, "
            "with the initial weights."
        )
        yield file.found(node, message, edits) if edits else file.attention(node, f"{message} Compute it in `call`.")


def _is_a_weight(value: ast.expr) -> bool:
    """Return whether a value is a weight that the layer makes, or one of another layer."""
    return is_call_of(value, "add_weight", "add_variable") or _is_of_another(value)


def _is_of_another(node: ast.AST) -> bool:
    """Return whether a node is `self.tied_to.kernel`, `self.tied_to.weights[0]`."""
    is_item = isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute)
    of = node.value if isinstance(node, ast.Subscript) else node
    if not isinstance(of, ast.Attribute) or not is_of_self(of.value) or not _WEIGHTS.fullmatch(of.attr):
        return False
    return of.attr.endswith("weights") == is_item


def _whole(file: File, node: ast.Assign, build: ast.FunctionDef, computed: list[ast.Assign]) -> ast.stmt | None:
    """Return the statement of `build` that can stand in `call` for one that computes: that, or an `if` of such alone.

    It reads `self` and names of the module.
    """
    top: ast.AST = node
    while file.tree.parents.get(top) is not build:
        top = file.tree.parents[top]
        if not isinstance(top, ast.If):
            return None
    inner = [each for each in ast.walk(top) if isinstance(each, ast.stmt) and not isinstance(each, ast.If)]
    names = (each for each in ast.walk(top) if isinstance(each, ast.Name))
    known = all(each.id == "self" or file.tree.bindings(each)[:1] == file.tree.root.find(each.id)[:1] for each in names)
    known = known and not any(is_call_of(each, "add_weight") for each in ast.walk(top))
    again = all(each in computed or (isinstance(each, ast.Assign) and is_none(each.value)) for each in inner)
    return top if known and again and isinstance(top, ast.stmt) else None


def _first_in(file: File, call: ast.FunctionDef, statements: list[ast.stmt]) -> list[AnyEdit]:
    """Return the edit that puts statements at the beginning of `call`, behind its docstring."""
    has_docstring = ast.get_docstring(call, clean=False) is not None
    if not is_alone(file, call.body[0]) or len(call.body) == has_docstring:
        return []
    first = call.body[has_docstring]
    if any(isinstance(node, ast.If) and indent_of(file, node) != indent_of(file, first) for node in statements):
        return []
    ending = file.source.newline + indent_of(file, first)
    text = "".join(file.source.segment(node) + ending for node in statements)
    start = file.source.start(first)
    return [Edit(start, start, text)]


def _keeps(value: ast.expr) -> bool:
    """Return whether a value is a weight, or a list or dict of weights."""
    return is_call_by_name(value, "list", "tuple", "dict", "zip") or is_call_of(value, "add_weight")


def _reads(file: File, value: ast.expr, weights: set[str]) -> bool:
    """Return whether an expression computes with the numbers of a weight, also of one that it makes."""
    for node in ast.walk(value):
        if node is not value and is_call_of(node, "add_weight") and not _keeps(value):
            return True
        if isinstance(node, ast.Attribute | ast.Name) and ast.unparse(node) in weights:
            parent = file.tree.parents.get(node)
            if not (isinstance(parent, ast.Attribute) and parent.attr in _OF_THE_WEIGHT):
                return True
        of = value.func if isinstance(value, ast.Call) and isinstance(file.tree.parents.get(node), ast.Call) else None
        if of is not None and _is_of_another(node) and file.names.path(of) is not None:
            return True
    return False
