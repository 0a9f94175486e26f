"""`x.get_shape()` and `x._keras_shape` become `x.shape`, without a following `.as_list()`, `.ndims` or `.value`.

A `KerasTensor` has none of them. Its `shape` is a tuple, and so are the shapes that `build` gets. A method that only
`tf.TensorShape` has is called on one: `tf.TensorShape(shape).num_elements()`.

```diff
 from keras.layers import Input
 x = Input((3,))
-width = x._keras_shape[-1]
-shape = x.get_shape().as_list()
+width = x.shape[-1]
+shape = list(x.shape)
```
"""

from __future__ import annotations

import ast

from parallel_compat.migrate import methods
from parallel_compat.migrate.dotted_names import is_call_of, is_self
from parallel_compat.migrate.edits import Edit
from parallel_compat.migrate.file import File, Findings
from parallel_compat.migrate.literals import parts_of
from parallel_compat.names.members import LAYER, TENSOR

_SIZES = ("state_size", "output_size")
# What a `tf.TensorShape` has, and no tuple.
_OF_SHAPES = (
    *("concatenate", "num_elements", "is_fully_defined", "is_compatible_with", "merge_with", "dims"),
    *("with_rank", "with_rank_at_least", "with_rank_at_most", "assert_has_rank", "assert_is_compatible_with"),
)


def find(file: File) -> Findings:
    for call in file.method_calls.get("get_shape", ()):
        if isinstance(call.func, ast.Attribute) and not call.args and not call.keywords:
            yield from _shape(file, call.func, call, "get_shape()")
    for node in file.tree.attributes:
        if node.attr == "shape" and _value(file, node) is not None:
            yield from _shape(file, node, node, "shape")
        if node.attr == "_keras_shape" and isinstance(node.ctx, ast.Load):
            yield from _shape(file, node, node, "_keras_shape")
        if node.attr == "value" and isinstance(node.ctx, ast.Load) and _is_dimension(file, node.value):
            yield from _dimension(file, node)
        if node.attr in ("ndims", "rank") and isinstance(node.ctx, ast.Load) and _is_of_layer(file, node.value):
            yield from _called_with(file, node, node.value, node, "len")
        if node.attr in _SIZES and isinstance(node.ctx, ast.Store) and is_self(node.value):
            statement = file.tree.parents.get(node)
            yield from _size(file, statement.value if isinstance(statement, ast.Assign) else None)
        if node.attr in _OF_SHAPES and (_is_part(file, node.value) or _is_of_symbol(file, node.value)):
            edits = file.wrapped_in_call("tensorflow.TensorShape", node.value)
            if edits is not None:
                yield file.found(node, f"A shape is a tuple now, which has no `{node.attr}`.", edits)
    for call in file.method_calls.get("as_list", ()):
        if isinstance(call.func, ast.Attribute) and not call.args and _is_of_layer(file, call.func.value):
            yield from _called_with(file, call.func, call.func.value, call, "list")


def _size(file: File, value: ast.expr | None) -> Findings:
    """`self.state_size = tf.TensorShape([units])` of a cell: an integer, or a list of them."""
    for each in (value, *parts_of(value)):
        if not isinstance(each, ast.Call) or file.names.path(each.func) != "tensorflow.TensorShape":
            continue
        sizes = parts_of(each.args[0]) if each.args else []
        message = "Keras 3 takes the size of a cell's state or output as an integer."
        if len(sizes) == 1 and not isinstance(sizes[0], ast.Starred):
            yield file.found(each, message, [file.replace(each, file.source.segment(sizes[0]))])
        else:
            yield file.attention(each, message)


def _is_part(file: File, shape: ast.expr) -> bool:
    """Return whether it is the shape that a layer is given, or a part of it: `shape[1:]`, `shapes[0]`."""
    while isinstance(shape, ast.Subscript):
        shape = shape.value
    return isinstance(shape, ast.Name) and _is_given(file, shape)


def _is_of_symbol(file: File, shape: ast.expr) -> bool:
    return isinstance(shape, ast.Attribute) and shape.attr == "shape" and file.kinds.of(shape.value) == TENSOR


def _is_of_layer(file: File, shape: ast.expr) -> bool:
    """Return whether a shape may be a tuple today: of a tensor, that a layer is built for, or that it computes."""
    if isinstance(shape, ast.Name):
        return _is_given(file, shape)
    if isinstance(shape, ast.Call):
        return is_call_of(shape, "compute_output_shape")
    return isinstance(shape, ast.Attribute) and shape.attr == "shape" and file.kinds.of(shape.value) in (None, TENSOR)


def _called_with(file: File, node: ast.Attribute, shape: ast.expr, whole: ast.expr, function: str) -> Findings:
    """`shape.as_list()` is `list(shape)`, which means the same for the tuples of Keras and the shapes of TensorFlow."""
    start, end = file.source.start(shape), file.source.end(shape)
    edits = [Edit(start, start, f"{function}("), Edit(end, file.source.end(whole), ")")]
    yield file.found(node, f"A shape is a tuple now: `{node.attr}` is `{function}(...)`.", edits)


def _shape(file: File, attribute: ast.Attribute, whole: ast.expr, name: str) -> Findings:
    kind = file.kinds.of(attribute.value)
    if kind not in (None, TENSOR):
        return
    start, dot, end = file.source.start(attribute), file.dot_of(attribute), file.source.end(whole)
    as_list, value = _as_list(file, whole), _value(file, whole)
    if value is not None:
        # A dimension was an object with a `value`; now it is a number.
        edits = [Edit(dot, end, ".shape"), Edit(file.source.end(value.value), file.source.end(value), "")]
        message = f"`{name}[...].value` is now `shape[...]`."
    elif as_list is not None:
        edits = [Edit(start, start, "list("), Edit(dot, file.source.end(as_list), ".shape)")]
        message = f"`{name}.as_list()` is now `list(x.shape)`."
    else:
        edits = [Edit(dot, end, ".shape")]
        message = f"`{name}` is now `shape`."
    # `_keras_shape` was an attribute of Keras's tensors alone; `get_shape` may belong to anything.
    is_guess = kind is None and name != "_keras_shape"
    unsafe = is_guess and methods.guessed(file, attribute.value, TENSOR)
    yield file.found(attribute, message, edits, unsafe=unsafe)


def _dimension(file: File, node: ast.Attribute) -> Findings:
    """`.value` of what came out of a shape through a variable: `height.value`, `shape[1].value`."""
    end = file.source.end(node)
    message = "A dimension was an object with a `value`; now it is a number."
    yield file.found(node, message, [Edit(file.source.end(node.value), end, "")])


def _is_dimension(file: File, node: ast.expr) -> bool:
    """Return whether an expression is an item of a shape, also one that went through a variable or a loop."""
    if isinstance(node, ast.Subscript):
        return not is_call_of(node.value, "get_shape") and _is_item(file, node)
    if not isinstance(node, ast.Name):
        return False
    value = file.tree.value_of(node)
    if isinstance(value, ast.Subscript):
        return _is_item(file, value)
    for above in file.tree.ancestors(node):
        if isinstance(above, ast.ListComp | ast.GeneratorExp | ast.SetComp):
            return any(
                isinstance(part.target, ast.Name) and part.target.id == node.id and _is_shape(file, part.iter)
                for part in above.generators
            )
    return False


def _is_item(file: File, node: ast.Subscript) -> bool:
    of = node.value
    if isinstance(of, ast.Subscript) and isinstance(of.value, ast.Name):
        return _is_given(file, of.value)  # the shapes of several inputs
    return _is_shape(file, of)


def _is_shape(file: File, node: ast.expr | None) -> bool:
    if isinstance(node, ast.Name):
        return _is_given(file, node) or _is_shape(file, file.tree.value_of(node))
    if isinstance(node, ast.Attribute):
        of_tensor = node.attr == "shape" and file.kinds.of(node.value) == TENSOR
        # Where the item is read at once, the whole of it has been found already.
        return of_tensor and _value(file, node) is None
    is_made = isinstance(node, ast.Call) and file.names.path(node.func) == "tensorflow.TensorShape"
    return is_made or is_call_of(node, "get_shape")


def _is_given(file: File, name: ast.Name) -> bool:
    """Return whether a name is the shape that a layer's `build` or `compute_output_shape` is given."""
    method, class_ = file.tree.enclosing_function(name), file.tree.enclosing_class(name)
    return (
        isinstance(method, ast.FunctionDef)
        and method.name in ("build", "compute_output_shape")
        and [argument.arg for argument in method.args.args][1:2] == [name.id]
        and file.tree.value_of(name) is None
        and class_ is not None
        and file.kinds.of_class(class_) == LAYER
    )


def _as_list(file: File, node: ast.expr) -> ast.Call | None:
    above = file.tree.parents.get(node)
    if isinstance(above, ast.Attribute) and above.attr == "as_list":
        call = file.tree.parents.get(above)
        if isinstance(call, ast.Call) and call.func is above and not call.args:
            return call
    return None


def _value(file: File, node: ast.expr) -> ast.Attribute | None:
    above = file.tree.parents.get(node)
    if isinstance(above, ast.Subscript) and above.value is node:
        value = file.tree.parents.get(above)
        if isinstance(value, ast.Attribute) and value.attr == "value":
            return value
    return None
