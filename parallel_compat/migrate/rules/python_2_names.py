"""Names of Python 2 become those of Python 3, in sources that both read: `xrange`, `d.has_key(k)`, `d.iteritems()`.

If Python 3 cannot read a source, `--python2` rewrites it first. Objects of the project's classes that define these
methods are left alone. All other objects are assumed to be dicts.

```diff
 import keras
-for i in xrange(3):
+for i in range(3):
     print(i)
```
"""

from __future__ import annotations

import ast

from parallel_compat.migrate import methods
from parallel_compat.migrate.file import File, Findings
from parallel_compat.names.old_sources import METHODS_OF_PYTHON_2, NAMES_OF_PYTHON_2

# Methods of dicts that have another name.
_METHODS = {
    old: now.removeprefix("d.").removesuffix("()") for old, now in METHODS_OF_PYTHON_2.items() if now.startswith("d.")
}


def find(file: File) -> Findings:
    """Find names that nothing in the file binds, and methods that dicts had."""
    for node in file.tree.names:
        if node.id in NAMES_OF_PYTHON_2 and isinstance(node.ctx, ast.Load) and not file.tree.bindings(node):
            now = NAMES_OF_PYTHON_2[node.id]
            edits = file.replaced_by(now, node) if "." in now else [file.replace(node, now)]
            if edits is not None:
                yield file.found(node, f"`{node.id}` is `{now}` in Python 3.", edits)
    for old in (*_METHODS, "has_key"):
        for call in file.method_calls.get(old, ()):
            yield from _of_dict(file, call, old)


def _of_dict(file: File, call: ast.Call, old: str) -> Findings:
    func = call.func
    assert isinstance(func, ast.Attribute)
    if len(call.args) != (old == "has_key") or call.keywords:
        return
    is_dict = isinstance(file.tree.resolved(func.value), ast.Dict)
    guess = False if is_dict else f"`{methods.short(file, func.value)}` is assumed to be a dict."
    if old == "has_key":
        key, owner = file.source.segment(call.args[0]), file.source.segment(func.value)
        edits = [file.replace(call, f"({key} in {owner})")]
        message = "`d.has_key(k)` is `k in d` in Python 3."
    else:
        edits = [file.replace(func, f"{file.source.segment(func.value)}.{_METHODS[old]}")]
        message = f"`d.{old}()` is `d.{_METHODS[old]}()` in Python 3."
    yield file.found(func, message, edits, unsafe=guess)
