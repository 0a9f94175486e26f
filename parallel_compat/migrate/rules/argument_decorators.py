"""Decorators of `keras.legacy.interfaces` are removed, with their import.

Copied layers have `@interfaces.legacy_conv3d_support` above `__init__`. It translated the arguments of Keras 1.

```diff
 from keras.layers import Conv3D
-from keras.legacy import interfaces

 class Mine(Conv3D):
-    @interfaces.legacy_conv3d_support
     def __init__(self, filters):
         self.filters = filters
```
"""

from __future__ import annotations

import ast

from parallel_compat.migrate.dotted_names import root_name
from parallel_compat.migrate.edits import Edit
from parallel_compat.migrate.file import File, Findings
from parallel_compat.migrate.import_statements import remove_aliases

_MODULES = ("keras.legacy.interfaces", "parallel_compat.legacy.interfaces")  # the latter, where it was rewritten


def find(file: File) -> Findings:
    roots: set[ast.Name] = set()
    message, unsafe = "It translated arguments of Keras 1.", "does a caller still pass those?"
    for function in file.tree.functions:
        for decorator in getattr(function, "decorator_list", ()):
            name = root_name(decorator)
            if name is None or not _is_of_them(file.names.path(decorator)):
                continue
            roots.add(name)
            start = file.source.start(decorator)
            line = file.source.text.rfind("\n", 0, start) + 1
            end = file.source.text.find("\n", start) + 1
            yield file.found(decorator, message, [Edit(line, end, "")], unsafe=unsafe)
    for statement in file.tree.imports if roots else ():
        gone = [alias for alias in statement.names if _is_only_of(file, alias, roots)]
        if gone:
            edits = remove_aliases(file, statement, gone)
            yield file.found(statement, message, edits, unsafe=unsafe)


def _is_only_of(file: File, alias: ast.alias, roots: set[ast.Name]) -> bool:
    """Whether what an alias brings is of that module, and stands nowhere but in the decorators."""
    name = alias.asname or alias.name
    bindings = file.tree.root.bindings.get(name, [])
    if len(bindings) != 1 or bindings[0].node is not alias:
        return False
    path = file.names.path_of_binding(bindings[0]) or ""
    uses = {node for node in file.tree.names if node.id == name}
    return (path in _MODULES or _is_of_them(path)) and uses <= roots


def _is_of_them(path: str | None) -> bool:
    return path is not None and path.rpartition(".")[0] in _MODULES
