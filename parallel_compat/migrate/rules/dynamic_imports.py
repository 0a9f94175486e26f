"""Imports by string (`__import__`, `importlib.import_module`) of moved or removed modules are reported.

```python
import importlib

import keras

utils = importlib.import_module("keras.utils.np_utils")
```
"""

from __future__ import annotations

import ast

from parallel_compat.migrate.file import File, Findings
from parallel_compat.migrate.literals import text_of
from parallel_compat.migrate.module_homes import is_legacy_module, what_became
from parallel_compat.names import table


def find(file: File) -> Findings:
    """Find imports by string, and attributes read by string from a module of Keras."""
    for call in file.tree.calls:
        name = call.func.id if isinstance(call.func, ast.Name) else ""
        path = file.names.path(call.func)
        if name == "__import__" or path == "importlib.import_module":
            text = text_of(next(iter(call.args), None))
            if text is not None and is_legacy_module(text):
                yield file.attention(call, f"`{text}` is imported by string: {what_became(text)}")
        elif name in ("getattr", "hasattr") and len(call.args) > 1:
            module = file.names.path(call.args[0])
            text = text_of(call.args[1])
            entry = table.lookup(f"{module}.{text}") if module is not None and text is not None else None
            if entry is not None and entry.status is not table.Status.SAME:
                what = f"now `{entry.target}`." if entry.target else f"gone. {entry.note}"
                yield file.attention(call, f"`{module}.{text}` is read by string; it is {what}")
