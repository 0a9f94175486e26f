"""Optimizers that compute other steps in Keras 3 are imported from `legacy_numerics.py`, with the steps of Keras 2.

Keras 3 adds the `epsilon` of `RMSprop` and `Adagrad` under the root, and `Nadam` has another momentum. If a batch
looks up one row of an `Embedding` several times, Keras 3 squares each part of its gradient separately. This concerns
all optimizers except `SGD`.

```diff
-from keras.optimizers import RMSprop
-optimizer = RMSprop(lr=0.001)
+from legacy_numerics import RMSprop
+optimizer = RMSprop(learning_rate=0.001)
```
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from parallel_compat.migrate import calls
from parallel_compat.migrate.file import File, Findings
from parallel_compat.migrate.native.differences import texts_around
from parallel_compat.migrate.native.spelling import replaced
from parallel_compat.names.defaults import of_era
from parallel_compat.names.eras import Era

_REASONS = {
    "RMSprop": "Keras 3 adds `epsilon` under the root",
    "Adagrad": "Keras 3 adds `epsilon` under the root",
    "Nadam": "Keras 3 has another momentum",
}
_OF_EMBEDDINGS = "Keras 3 squares each part of the gradient of an `Embedding` row separately"
_WITH_EMBEDDINGS = ("Adam", "Adamax", "Adadelta")
_EMBEDDING = re.compile(r"\bEmbedding\(")
# They moved the rows that were looked up alone, in tf.keras.
_BY_ROW = ("Nadam", "Adamax", "Adadelta")


def find(file: File) -> Findings:
    """Find optimizers that step otherwise, in a source that was written for an older Keras."""
    if not file.old or file.era in (None, Era.TODAY):
        return
    reasons = dict(_REASONS)
    embeddings = any(_EMBEDDING.search(text) for text in texts_around(file))
    if embeddings:
        reasons = {**dict.fromkeys(_WITH_EMBEDDINGS, _OF_EMBEDDINGS), **reasons}
    for call in file.tree.calls:  # which Keras 2.2.4 did not have, and tf.keras computed as Keras 3
        if (file.names.target(call.func) or "") == "keras.optimizers.RMSprop" and _has_more(call):
            reasons.pop("RMSprop", None)
    nodes: list[ast.Name | ast.Attribute] = [*file.tree.attributes, *file.tree.names]
    for node in nodes:
        name = (file.names.target(node) or "").removeprefix("keras.optimizers.")
        if name in reasons and isinstance(node.ctx, ast.Load):
            by_row = embeddings and name in _BY_ROW and not file.is_of_standalone_keras
            yield from _class(file, node, name, reasons[name], by_row=by_row)
    yield from _named(file, {name.lower(): name for name in reasons}, reasons)
    compiled_with = list(_compiled_with(file))
    for string in file.tree.strings:
        kind = next((each for each in _REASONS if each in reasons and each.lower() == string.value), "")
        if kind and string not in compiled_with and not _is_a_key(file, string):
            message = f"If this names an optimizer: {reasons[kind]}; `legacy_numerics.{kind}()` makes the old steps."
            yield file.attention(string, message)


def _has_more(call: ast.Call) -> bool:
    return any(calls.keyword(call, name) is not None for name in ("momentum", "centered"))


def _class(file: File, node: ast.Name | ast.Attribute, name: str, reason: str, *, by_row: bool) -> Findings:
    if isinstance(file.tree.parents[node], ast.Attribute | ast.ClassDef):
        return  # `Adam.from_config`, a class made of it
    if by_row:
        message = f"`{name}`: {reason}, and updates all rows of an `Embedding`, not only those looked up."
        yield file.attention(node, message)
        return
    unsafe = file.era is Era.TF_KERAS_2_2 and "so did `tf.keras` since TensorFlow 2.11."
    message = f"`{name}` comes from `legacy_numerics.py`: {reason}."
    bound = not unsafe and isinstance(node, ast.Name) and node.id == name
    if bound and file.redirect(node, f"legacy_numerics.{name}"):
        yield file.found(node, message)
        return
    edits = replaced(file, node, f"legacy_numerics.{name}")
    said = f"{message} (Unsafe: {unsafe})" if unsafe else message
    yield file.found(node, message, edits, unsafe=unsafe, otherwise=f"{said} The name `{name}` is taken here.")


def _is_a_key(file: File, string: ast.Constant) -> bool:
    above = file.tree.parents[string]
    return isinstance(above, ast.Subscript | ast.Compare | ast.Expr) or (
        isinstance(above, ast.Dict) and string in above.keys
    )


def _compiled_with(file: File) -> Iterator[ast.expr]:
    for call in file.method_calls.get("compile", ()):
        optimizer = calls.argument(call, "optimizer", 0)
        if optimizer is not None:
            yield optimizer


def _named(file: File, names: dict[str, str], reasons: dict[str, str]) -> Findings:
    """`compile('rmsprop')`."""
    for node in _compiled_with(file):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or node.value.lower() not in names:
            continue
        name = names[node.value.lower()]
        era = file.era
        if era is None or of_era(f"keras.optimizers.{name}", era):
            continue  # its defaults are written out first
        edits = replaced(file, node, f"legacy_numerics.{name}()") if file.is_of_standalone_keras else None
        message = f"`{name}` comes from `legacy_numerics.py`: {reasons[name]}."
        otherwise = f"{message} Write `legacy_numerics.{name}()` for the old results."
        yield file.found(node, message, edits, otherwise=otherwise)
