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

from parallel_compat.migrate.file import File, Findings
from parallel_compat.migrate.rules.frozen_models import assigned, is_set
from parallel_compat.migrate.statements import block_of
from parallel_compat.names.members import MODEL


def find(file: File) -> Findings:
    frozen = {ast.unparse(each) for each in file.tree.attributes if is_set(file, each, to=False)}
    for target in file.tree.attributes if frozen else ():
        node = assigned(file, target) if is_set(file, target, to=True) else None
        if node is not None and frozen - {ast.unparse(target)} and file.kinds.of(target.value) == MODEL:
            yield from _thawed(file, node, ast.unparse(target))


def _thawed(file: File, node: ast.Assign, text: str) -> Findings:
    if file.is_of_standalone_keras:
        message = (
            f"`{text} = True` left layers frozen that were frozen one by one. Keras 3 makes all layers inside "
            "trainable if the model was frozen before: freeze them again afterwards."
        )
        yield file.attention(node, message)
        return
    block = block_of(file, node)
    before = block[: block.index(node)] if node in block else []
    if before and ast.unparse(before[-1]) == f"{text} = False":
        return
    line = file.source.before(file.source.start(node))
    alone = not line.strip()
    between = f"  # Keras 3 passes on changes only{file.source.newline}{line}" if alone else "; "
    written = file.source.segment(node)
    edit = file.replace(node, f"{file.source.segment(node.targets[0])} = False{between}{written}")
    yield file.found(node, f"`{text} = True` -> also for the layers inside", [edit])
