"""`model.trainable = True` of tf.keras also reaches layers that were frozen one by one.

In tf.keras it set the flags of all layers. Keras 3 on TensorFlow ignores the assignment if the model's flag already has
this value, and layers that were frozen one by one stay frozen. So the rule assigns the opposite value first. In Keras
2.2.4 each layer had its own flag, and such layers stayed frozen. This is reported if Keras 3 would train them.

```diff
 from tensorflow.keras.models import Sequential
 model = Sequential(layers)
 model.layers[0].trainable = False
+model.trainable = False  # Keras 3 passes on changes only
 model.trainable = True
```
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from parallel_compat.migrate.file import File
from parallel_compat.migrate.findings import Finding
from parallel_compat.names.members import MODEL

SAFE = True


def find(file: File) -> Iterator[Finding]:
    """Find models that are made trainable where single layers are frozen."""
    flags = [(parent, each) for each in file.tree.attributes if (parent := _assigned(file, each)) is not None]
    frozen = {ast.unparse(target) for node, target in flags if not _value(node)}
    for node, target in flags:
        if _value(node) and frozen - {ast.unparse(target)} and file.kinds.of(target.value) == MODEL:
            yield from _thawed(file, node, ast.unparse(target))


def _thawed(file: File, node: ast.Assign, text: str) -> Iterator[Finding]:
    if file.is_of_standalone_keras:
        message = (
            f"`{text} = True` left layers frozen that were frozen one by one. Keras 3 makes all layers inside "
            "trainable if the model was frozen before: freeze them again afterwards."
        )
        yield file.attention(node, message)
        return
    if _before(file, node) == f"{text} = False":
        return
    start = file.source.start(node)
    line = file.source.text[:start].rpartition("\n")[2]
    alone = not line.strip()
    between = f"  # Keras 3 passes on changes only{file.source.newline}{line}" if alone else "; "
    written = file.source.segment(node)
    edit = file.replace(node, f"{file.source.segment(node.targets[0])} = False{between}{written}")
    yield file.found(node, f"`{text} = True` -> also for the layers inside", [edit])


def _before(file: File, node: ast.stmt) -> str:
    """Return the statement before another one in its block."""
    parent = file.tree.parents[node]
    for block in (getattr(parent, field, None) for field in ("body", "orelse", "finalbody")):
        if isinstance(block, list) and node in block and block.index(node):
            return ast.unparse(block[block.index(node) - 1])
    return ""


def _assigned(file: File, target: ast.Attribute) -> ast.Assign | None:
    """Return the assignment of `trainable` that an attribute is the target of, where True or False is written out."""
    node = file.tree.parents.get(target)
    if target.attr != "trainable" or not isinstance(node, ast.Assign) or node.targets != [target]:
        return None
    return node if isinstance(node.value, ast.Constant) and isinstance(node.value.value, bool) else None


def _value(node: ast.Assign) -> bool:
    return isinstance(node.value, ast.Constant) and bool(node.value.value)
