"""Layers inside a frozen model are reported if Keras 3 trains them differently.

In Keras 2 a frozen model that is called as a layer trained nothing, even if a layer inside it was trainable. Keras 3
decides for each weight. In Keras 2.2.4 `model.trainable = False` did not change the flags of the model's layers, so a
model built on its outputs trained them.

```python
from tensorflow.keras.applications import VGG16
from tensorflow.keras.layers import Dense
from tensorflow.keras.models import Sequential

base = VGG16(include_top=False, pooling="avg")
base.trainable = False
base.layers[-2].trainable = True
model = Sequential([base, Dense(3)])
```
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from parallel_compat.migrate import calls
from parallel_compat.migrate.dotted_names import is_call_by_name, is_call_of, names_in
from parallel_compat.migrate.file import File, Findings
from parallel_compat.names.members import MODEL


def find(file: File) -> Findings:
    flags = [each for each in file.tree.attributes if assigned(file, each) is not None]
    for target in flags:
        if not is_set(file, target, to=False) or _is_thawed_again(file, target, flags):
            continue
        yield from _thawed(file, target, flags)
        if file.is_of_standalone_keras and file.kinds.of(target.value) == MODEL:
            yield from _built_on(file, target, flags)


def _thawed(file: File, frozen: ast.Attribute, flags: list[ast.Attribute]) -> Findings:
    """Find layers that are thawed in a frozen model that is called, or handed on, as a whole."""
    name = ast.unparse(frozen.value)
    thaws = [
        each
        for each in _after(file, frozen, flags)
        if not is_set(file, each, to=False) and _holder(file, each.value) == name
    ]
    if thaws and _stands_as_a_whole(file, frozen.value):
        message = (
            f"`{name}` is frozen: called as a layer it trained nothing. "
            "Keras 3 trains its trainable layers: remove this line for the old results."
        )
        for each in thaws:
            yield file.attention(each, message)


def _built_on(file: File, frozen: ast.Attribute, flags: list[ast.Attribute]) -> Findings:
    """Find a model of Keras 2.2.4 that is frozen as a whole alone, where its outputs or layers go into another one."""
    name = ast.unparse(frozen.value)
    if any(_holder(file, each.value) == name and not is_set(file, each, to=True) for each in flags):
        return
    outputs = (each.value for each in file.tree.attributes if each.attr in ("output", "outputs"))
    added = (given for call in file.method_calls.get("add", ()) for given in call.args)
    if any(name in (ast.unparse(each), _holder(file, each)) for each in outputs) or any(
        _holder(file, each) == name for each in added
    ):
        message = (
            f"`{name}.trainable = False` did not change its layers: Keras 2.2.4 trained them in a model that is "
            "built on its outputs or of its layers. Keras 3 freezes them: remove this line for the old results."
        )
        yield file.attention(frozen, message)


def _holder(file: File, node: ast.expr) -> str | None:
    """Return the model whose layer an expression is: `base.layers[3]`, or `layer` of `for layer in base.layers`."""
    if isinstance(node, ast.Name):
        for above in file.tree.ancestors(node):
            if isinstance(above, ast.For) and node.id in names_in(above.target):
                return _holder(file, above.iter)
        value = file.tree.value_of(node)
        return _holder(file, value) if value is not None else None
    if isinstance(node, ast.Subscript):
        return _holder(file, node.value)
    if is_call_by_name(node, "reversed", "enumerate", "list") and node.args:
        return _holder(file, node.args[0])
    if is_call_of(node, "get_layer"):
        return ast.unparse(calls.receiver(node))
    if isinstance(node, ast.Attribute) and node.attr == "layers":
        return ast.unparse(node.value)
    return None


def _stands_as_a_whole(file: File, model: ast.expr) -> bool:
    """Return whether a model stands anywhere but before a dot: it is called, given to a function or held by a list."""
    name = ast.unparse(model)
    return any(
        isinstance(node, ast.Name | ast.Attribute)
        and isinstance(node.ctx, ast.Load)
        and not isinstance(file.tree.parents[node], ast.Attribute)
        and ast.unparse(node) == name
        for node in ast.walk(file.tree.module)
    )


def _is_thawed_again(file: File, frozen: ast.Attribute, flags: list[ast.Attribute]) -> bool:
    name = ast.unparse(frozen)
    return any(ast.unparse(each) == name and not is_set(file, each, to=False) for each in _after(file, frozen, flags))


def _after(file: File, flag: ast.Attribute, flags: list[ast.Attribute]) -> Iterator[ast.Attribute]:
    """Yield the flags that a function, or the module, sets after one of its own."""
    function, start = file.tree.enclosing_function(flag), file.source.start(flag)
    for each in flags:
        if file.source.start(each) > start and file.tree.enclosing_function(each) is function:
            yield each


def assigned(file: File, target: ast.Attribute) -> ast.Assign | None:
    """Return the assignment whose target is a `trainable`, None for other attributes."""
    node = file.tree.parents.get(target)
    is_flag = target.attr == "trainable" and isinstance(node, ast.Assign) and node.targets == [target]
    return node if is_flag and isinstance(node, ast.Assign) else None


def is_set(file: File, target: ast.Attribute, *, to: bool) -> bool:
    """Return whether an attribute is a `trainable` to which True or False is assigned."""
    node = assigned(file, target)
    return node is not None and isinstance(node.value, ast.Constant) and node.value.value is to
