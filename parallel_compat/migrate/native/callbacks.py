"""Checkpoints of the template become `ModelCheckpoint`s of the one model.

Arguments that Keras 3's class takes are kept. A checkpoint with a `period`, or with a file name that Keras 3 refuses,
comes from `legacy_numerics.py`. A callback that assigns `self.model` calls `self.set_model` instead.

```diff
-from parallel_compat import ParallelModelCheckpoint
-save = ParallelModelCheckpoint(model, 'best.h5', monitor='val_loss', save_best_only=True)
+from keras.callbacks import ModelCheckpoint
+save = ModelCheckpoint('best.h5', monitor='val_loss', save_best_only=True)
```
"""

from __future__ import annotations

import ast

from parallel_compat.migrate import calls
from parallel_compat.migrate.edits import AnyEdit
from parallel_compat.migrate.file import File, Findings
from parallel_compat.migrate.literals import tail
from parallel_compat.migrate.native.spelling import spell, spelled_home
from parallel_compat.names.members import CALLBACK, CHECKPOINT

# Where the model stands in the arguments.
_CHECKPOINTS = {
    "parallel_compat.ParallelModelCheckpoint": 0,
    "parallel_compat.legacy.callbacks.AltModelCheckpoint": 1,
    "parallel_compat.legacy.callbacks.ModelCheckpoint": None,
}
_NAMES = ("filepath", "monitor", "verbose", "save_best_only", "save_weights_only", "mode", "period")
_OF_TODAY = ("save_freq", "initial_value_threshold")


def find(file: File) -> Findings:
    for call in file.tree.calls:
        path = file.names.path(call.func) or ""
        if path in _CHECKPOINTS:
            yield from _checkpoint(file, call, _CHECKPOINTS[path], path.rpartition(".")[2])
    for node in file.tree.attributes:
        if node.attr == "model" and isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name):
            yield from _assigned(file, node)


def _checkpoint(file: File, call: ast.Call, position: int | None, name: str) -> Findings:
    if calls.has_stars(call):
        yield file.attention(call, f"`{name}` with unknown arguments: name them.")
        return
    edits: list[AnyEdit] = []
    rest: list[ast.expr] = list(call.args)
    if position is not None:
        word = calls.keyword(call, "model") or calls.keyword(call, "alternate_model")
        model: ast.expr | ast.keyword | None = word or (rest.pop(position) if len(rest) > position else None)
        if model is None:
            yield file.attention(call, f"`{name}` without a model.")
            return
        edits += calls.remove(file, call, model)
    values = {**dict(zip(_NAMES, rest, strict=False)), **{one.arg: one.value for one in call.keywords if one.arg}}
    inherit = calls.keyword(call, "inherit_optimizer")
    if inherit is not None:
        edits += calls.remove(file, call, inherit)
    ending = tail(values.get("filepath"))
    weights = calls.constant(values.get("save_weights_only")) not in (..., False)
    suffixes = (".weights.h5",) if weights else (".keras", ".h5")
    plain = ending is not None and ending.endswith(suffixes) and "period" not in values
    if any(one.arg in _OF_TODAY for one in call.keywords) and not plain:
        yield file.attention(call, f"`{name}`: Keras 3 takes only names that end in {' or '.join(suffixes)}.")
        return
    target = "keras.callbacks.ModelCheckpoint" if plain else "legacy_numerics.ModelCheckpoint"
    if isinstance(call.func, ast.Name) and call.func.id == "ModelCheckpoint":
        if not file.redirect(call.func, spelled_home(file, target)):
            return
    else:
        spelled = _spelled(file, target, call)
        if spelled is None:
            yield file.attention(call, f"`{name}` is now `{target}`.")
            return
        edits += [file.replace(call.func, spelled[0]), *spelled[1]]
    yield file.found(call, f"`{name}` is now `{target}`.", edits)


def _spelled(file: File, target: str, call: ast.Call) -> tuple[str, tuple[AnyEdit, ...]] | None:
    """Spell a class by its own name, which an import brings, where that is free."""
    name = target.rpartition(".")[2]
    if target.startswith("legacy_numerics"):
        return spell(file, target, call)
    bindings = file.tree.root.find(name)
    home = spelled_home(file, target)
    if bindings and {file.names.path_of_binding(one) for one in bindings} == {home}:
        return name, ()
    if not bindings:
        return name, (file.import_after(f"from {home.rpartition('.')[0]} import {name}"),)
    return spell(file, target, call)


def _assigned(file: File, node: ast.Attribute) -> Findings:
    class_ = file.tree.enclosing_class(node)
    assignment = file.tree.parents.get(node)
    if class_ is None or not isinstance(node.value, ast.Name) or node.value.id != "self":
        return
    if file.kinds.of_class(class_) not in (CALLBACK, CHECKPOINT) or not isinstance(assignment, ast.Assign):
        return
    if len(assignment.targets) != 1:
        yield file.attention(node, "Keras 3 sets a callback's model by `self.set_model(model)`.")
        return
    value = file.source.segment(assignment.value)
    edit = file.replace(assignment, f"self.set_model({value})")
    yield file.found(node, "Keras 3 sets a callback's model by `set_model`.", [edit])
