"""A subclass of a Keras layer whose `call` returns something else gets its base class from this package.

Keras 3 computes the output shape of some layers (`Embedding`) with the method of the base class, and ignores `call`.
And it takes what `compute_output_shape` returns for the shape. tf.keras called the layer instead, and Keras 2 noticed a
wrong shape only where it was used. The layers of `parallel_compat.legacy.layers` find the shape by calling the layer. A
list of one tensor that `call` returns becomes the tensor, as Keras 2 made it.

```diff
 from keras.layers import Embedding
+import parallel_compat.legacy.layers

-class WithTable(Embedding):
+class WithTable(parallel_compat.legacy.layers.Embedding):
     def compute_output_shape(self, shape):
         return [super().compute_output_shape(shape), (self.input_dim, self.output_dim)]

     def call(self, x):
         return [super().call(x), self.embeddings]
```
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import TypeGuard

from parallel_compat.migrate.dotted_names import is_of_self
from parallel_compat.migrate.file import File, Findings
from parallel_compat.migrate.literals import is_none
from parallel_compat.migrate.scopes import methods_of

# Layers of Keras 2 that say themselves what their `call` gives, also for a subclass with another `call`.
SAYING_WHAT_THEY_GIVE = frozenset(("Attention", "Embedding", "Flatten", "Permute", "Reshape"))


def find(file: File) -> Findings:
    for class_ in file.tree.classes:
        if "call" not in methods_of(class_):
            continue
        for base in class_.bases:
            path = file.names.path(base) or ""
            target = file.names.target(base) or ""
            if not target.startswith("keras.layers."):
                continue
            if file.is_of_standalone_keras:
                yield from _single(file, class_)
            name = target.rpartition(".")[2]
            if not path.startswith("parallel_compat.") and (message := _message(file, class_, name)):
                edits = file.replaced_by(f"parallel_compat.legacy.layers.{name}", base)
                if edits is not None:
                    yield file.found(base, message, edits, hint=not file.old)


def _message(file: File, class_: ast.ClassDef, name: str) -> str | None:
    if name in SAYING_WHAT_THEY_GIVE:
        return f"`{class_.name}` returns something else than `{name}`, whose output shape Keras 3 uses."
    methods = methods_of(class_)
    if "compute_output_shape" not in methods:
        return None
    if _lists_one_shape(class_):
        return f"`compute_output_shape` of `{class_.name}` returns a list, and `call` one tensor."
    if _takes_a_shape_for_a_size(methods["call"], methods["compute_output_shape"]):
        return f"`compute_output_shape` of `{class_.name}` takes the shape of the first input for a size."
    if _reads_what_call_sets(methods):
        return f"Keras 3 asks `{class_.name}` for its output shape before it runs `call`, which sets what that reads."
    if file.era is not None and not file.is_of_standalone_keras and "_keras_shape" not in ast.dump(class_):
        return f"tf.keras did not use `compute_output_shape` of `{class_.name}` in models, but called the layer."
    return None


def _single(file: File, class_: ast.ClassDef) -> Findings:
    """`return [x]` in `call`: Keras 2 made the tensor of it."""
    call = methods_of(class_)["call"]
    results = [each for each in _returned(call) if file.tree.enclosing_function(each) is call]
    for each in results:
        if isinstance(each, ast.List) and len(each.elts) == 1 and not isinstance(each.elts[0], ast.Starred):
            message = f"`call` of `{class_.name}` returns a list of one tensor, of which Keras 2 took the tensor."
            yield file.found(each, message, [file.replace(each, file.source.segment(each.elts[0]))])


def _takes_a_shape_for_a_size(call: ast.FunctionDef, shape: ast.FunctionDef) -> bool:
    """Return whether `call` takes several inputs, and the shape is `(input_shape[0], 3)` as of one."""
    if len(call.args.args) < 2 or len(shape.args.args) < 2:
        return False
    names, shapes = {call.args.args[1].arg}, shape.args.args[1].arg
    used: set[object] = set()
    for node in ast.walk(call):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and node.value.id in names:
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        index = _index(node)
        if index is not None and index[0] in names:
            used.add(index[1])
    of_one = [each for each in _returned(shape) if isinstance(each, ast.Tuple) and each.elts]
    return len(used) > 2 and bool(of_one) and all(_index(each.elts[0]) == (shapes, 0) for each in of_one)


def _reads_what_call_sets(methods: Mapping[str, ast.FunctionDef]) -> bool:
    """Return whether `compute_output_shape` reads of `self` what `call` alone sets."""
    first = [node for name in ("__init__", "build") if name in methods for node in ast.walk(methods[name])]
    nothing = {id(node.targets[0]) for node in first if isinstance(node, ast.Assign) and is_none(node.value)}
    before = {node.attr for node in first if _stores(node) and id(node) not in nothing}
    by_call = {node.attr for node in ast.walk(methods["call"]) if _stores(node)} - before
    read = (node for node in ast.walk(methods["compute_output_shape"]) if is_of_self(node))
    return any(node.attr in by_call for node in read)


def _stores(node: ast.AST) -> TypeGuard[ast.Attribute]:
    return is_of_self(node) and isinstance(node.ctx, ast.Store)


def _index(node: ast.AST) -> tuple[str, object] | None:
    """Return the name and the number of `x[3]`."""
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and isinstance(node.slice, ast.Constant):
        return (node.value.id, node.slice.value) if isinstance(node.slice.value, int) else None
    return None


def _lists_one_shape(class_: ast.ClassDef) -> bool:
    """Return whether `compute_output_shape` returns a list of shapes, and `call` one tensor.

    The list is one of a single shape, or what is given for several inputs, which `call` unpacks.
    """
    call, shape = (methods_of(class_).get(name) for name in ("call", "compute_output_shape"))
    if call is None or shape is None or len(call.args.args) < 2 or len(shape.args.args) < 2:
        return False
    given, results = _returned(shape), _returned(call)
    if not given or any(isinstance(each, ast.List | ast.Tuple) for each in results):
        return False
    if all(isinstance(each, ast.List) and len(each.elts) == 1 and _is_shape(each.elts[0]) for each in given):
        return True
    inputs = call.args.args[1].arg
    unpacks = any(
        isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Tuple | ast.List)
        and isinstance(node.value, ast.Name)
        and node.value.id == inputs
        for node in ast.walk(call)
    )
    return unpacks and all(isinstance(each, ast.Name) and each.id == shape.args.args[1].arg for each in given)


def _is_shape(node: ast.expr) -> bool:
    """Return whether an item of a list is a shape, not a size: `(shapes[0][0], 3)`, `tuple(shape)`."""
    return isinstance(node, ast.Tuple | ast.List | ast.Call | ast.BinOp)


def _returned(function: ast.FunctionDef) -> list[ast.expr]:
    returns = (node for node in ast.walk(function) if isinstance(node, ast.Return))
    return [node.value for node in returns if node.value is not None]
