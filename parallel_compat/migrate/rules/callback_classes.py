"""Subclasses of callbacks get a base class that has what they use, such as an assignable `self.model`.

In Keras 3 `Callback.model` cannot be assigned, `ModelCheckpoint` has no `period`, `epochs_since_last_save` or
`monitor_op`, and `TensorBoard` has no `writer`. If a file of the project adds summaries by `writer`, every
`TensorBoard` of the project gets one.

```diff
-from keras.callbacks import ModelCheckpoint
+from parallel_compat.legacy.callbacks import ModelCheckpoint
 class SaveTemplate(ModelCheckpoint):
     def on_epoch_end(self, epoch, logs=None):
         self.model = self.template
         super().on_epoch_end(epoch, logs)
```
"""

from __future__ import annotations

import ast

from parallel_compat.migrate import calls, project_facts
from parallel_compat.migrate.dotted_names import is_call_of, is_of_self, is_self
from parallel_compat.migrate.file import File, Findings

_STAND_INS = {
    "keras.callbacks.Callback": "parallel_compat.legacy.callbacks.Callback",
    "keras.callbacks.ModelCheckpoint": "parallel_compat.legacy.callbacks.ModelCheckpoint",
    "keras.callbacks.TensorBoard": "parallel_compat.legacy.callbacks.TensorBoard",
}
_CALLBACKS = ("keras.callbacks.", "parallel_compat.legacy.callbacks.")
_BOARD = "keras.callbacks.TensorBoard"
_CHECKPOINT_FIELDS = frozenset(("period", "epochs_since_last_save", "monitor_op"))


def find(file: File) -> Findings:
    for class_ in file.tree.classes:
        for base in class_.bases:
            target = file.names.target(base)
            if target is None or not target.startswith(_CALLBACKS) or target in _STAND_INS.values():
                continue
            reason = _reason(class_, target)
            if reason is None:
                continue
            stand_in = _STAND_INS.get(target)
            if stand_in is not None and file.redirect(base, stand_in):
                yield file.found(base, f"`{class_.name}` {reason}: its base is now `{stand_in}`.")
            else:
                message = f"`{class_.name}` {reason}, which `{target}` of Keras 3 does not allow."
                yield file.attention(base, message + " Call `self.set_model(...)` instead.")
    boards = file.project.boards | project_facts.done_with_boards(file.source.text)
    for call in file.calls_by_target.get(_BOARD, ()) if "written" in boards else ():
        if file.redirect(call.func, _STAND_INS[_BOARD]):
            message = f"Summaries are added by its `writer`, which Keras 3's does not have: `{_STAND_INS[_BOARD]}`."
            yield file.found(call.func, message)
    for call in file.method_calls.get("add_summary", ()) if "made" not in boards else ():
        owner = calls.receiver(call)
        if isinstance(owner, ast.Attribute) and owner.attr == "writer" and not is_self(owner.value):
            message = f"Keras 3's `TensorBoard` has no `writer`: make it a `{_STAND_INS[_BOARD]}`, which has one."
            yield file.attention(call, message, hint=True)


def _reason(class_: ast.ClassDef, target: str) -> str | None:
    for node in ast.walk(class_):
        if not is_of_self(node):
            continue
        if node.attr == "model" and isinstance(node.ctx, ast.Store):
            return "assigns `self.model`"
        if node.attr in _CHECKPOINT_FIELDS and target.endswith("ModelCheckpoint"):
            return f"uses `self.{node.attr}`"
        if node.attr == "writer" and target == _BOARD and isinstance(node.ctx, ast.Load):
            return "uses `self.writer`"
    for node in ast.walk(class_):
        # super().__init__(filepath, ..., period=period)
        if not is_call_of(node, "__init__") or not target.endswith("ModelCheckpoint"):
            continue
        if len(node.args) > 6 or calls.keyword(node, "period") is not None:
            return "passes `period`"
    return None
