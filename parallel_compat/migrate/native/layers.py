"""Layers with `batch_input_shape=` get `input_shape=` instead.

A layer no longer takes a fixed batch size; `keras.Input` does.

```diff
 from keras.layers import Dense
-layer = Dense(3, batch_input_shape=(None, 8))
+layer = Dense(3, input_shape=(8,))
```
"""

from __future__ import annotations

import ast

from parallel_compat.migrate import argument_edits, calls
from parallel_compat.migrate.edits import Edit
from parallel_compat.migrate.file import File, Findings
from parallel_compat.migrate.native.spelling import retarget
from parallel_compat.names.native import CLASSES, functions
from parallel_compat.names.table import Change

_LAYERS = "parallel_compat.legacy.layers."


def find(file: File) -> Findings:
    found: dict[str, list[tuple[ast.Call, str | None, list[str]]]] = {}
    for call in file.tree.calls:
        path = file.names.path(call.func) or ""
        name = path.removeprefix(_LAYERS)
        if path.startswith(_LAYERS) and name[:1].isupper() and path not in CLASSES and path not in functions():
            found.setdefault(path, []).append((call, *_arguments(file, call, name)))
    for path, uses in found.items():
        # One name is of one place: where one call stays, all do.
        stays = any(inner is None or others for _, inner, others in uses)
        for call, inner, others in uses:
            name = path.removeprefix(_LAYERS)
            moved = None if stays else retarget(file, call.func, f"keras.layers.{name}")
            shape = calls.keyword(call, "batch_input_shape")
            if moved is None or shape is None:
                said = ", ".join(f"`{one}`" for one in (others or ["batch_input_shape"]))
                message = f"`{name}` with {said} has no equivalent: pass the shape to `keras.Input`."
                yield file.attention(call, message)
                continue
            edit = Edit(file.source.start(shape), file.source.end(shape), f"input_shape={inner}")
            yield file.found(shape, f"`batch_input_shape` of `{name}` is now `input_shape`.", [edit, *moved])


def _arguments(file: File, call: ast.Call, name: str) -> tuple[str | None, list[str]]:
    """Return the shape of a sample where it is known, and the arguments that Keras 3 has no place for."""
    rows = argument_edits.rows_of(f"keras.layers.{name}")
    shape = calls.keyword(call, "batch_input_shape")
    others = [
        keyword.arg
        for keyword in call.keywords
        if keyword.arg in rows and rows[keyword.arg].change is Change.PROVIDED and keyword is not shape
    ]
    known = shape is not None and not calls.has_stars(call)
    return (_inner_shape(file, shape.value) if known and shape is not None else None), others


def _inner_shape(file: File, shape: ast.expr) -> str | None:
    """Return the shape of a sample, where that of a batch leaves the number of samples open."""
    if not isinstance(shape, ast.Tuple | ast.List) or not shape.elts:
        return None
    first, rest = shape.elts[0], shape.elts[1:]
    if not (isinstance(first, ast.Constant) and first.value is None):
        return None
    return "(" + ", ".join(file.source.segment(size) for size in rest) + ("," if len(rest) == 1 else "") + ")"
