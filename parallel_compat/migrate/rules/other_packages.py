"""Names that numpy dropped become what they were (`np.float`, `np.Inf`); those of other packages are reported.

`np.float` was another name of Python's `float`: what is written runs with any numpy. What other packages dropped or
moved (`scipy.misc.imread`, `cv2.CV_AA`, `time.clock`) is named with what to write.
"""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING

from parallel_compat.migrate.dotted_names import from_module
from parallel_compat.names.other_packages import ATTRIBUTES, GONE_MODULES, NUMPY, PACKAGES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from parallel_compat.migrate.file import File
    from parallel_compat.migrate.findings import Finding

RULE = "other-packages"
SAFE = True
BEFORE = """\
import numpy as np
from keras.layers import Input
x = np.zeros((2, 3), dtype=np.float)
best = -np.Inf
"""
AFTER = """\
import numpy as np
from keras.layers import Input
x = np.zeros((2, 3), dtype=float)
best = -np.inf
"""

_BACK = frozenset(("bool", "long"))  # names that numpy 2 has again, for types of its own


def find(file: File) -> Iterator[Finding]:
    """Find names that other packages had."""
    for node in file.tree.attributes:
        if not isinstance(node.ctx, ast.Load):
            continue
        path = file.names.path(node)
        if path is None:
            continue
        module, _, name = path.rpartition(".")
        if module == "numpy" and name in NUMPY and name not in _BACK:
            yield from _of_numpy(file, node, name)
        elif (module, name) in ATTRIBUTES:
            yield file.attention(RULE, node, f"`{path}` is gone: {ATTRIBUTES[module, name]}.", hint=True)
        elif path in GONE_MODULES:
            yield file.attention(RULE, node, f"`{path}` is gone: {PACKAGES[path]}.", hint=True)
    for statement in file.tree.imports:
        yield from _imported(file, statement)


def _of_numpy(file: File, node: ast.Attribute, name: str) -> Iterator[Finding]:
    was = NUMPY[name]
    message = f"numpy has no `{name}` any more; it was `{was}`."
    if was == "math":
        reference = file.reference(was, node)
        text, imports = reference if reference is not None else (None, ())
    else:
        text, imports = _spelled(file, node, was), ()
    if text is None:
        yield file.attention(RULE, node, f"{message} (That name is something else here.)", hint=True)
        return
    yield file.found(RULE, node, message, [file.replace(node, text), *imports], hint=True)


def _spelled(file: File, node: ast.Attribute, was: str) -> str | None:
    around = "()" if was.startswith("-") else ("", "")
    if "numpy." in was:
        return was.replace("numpy.", f"{file.source.segment(node.value)}.").join(around)
    if hasattr(builtins, was):
        taken = next((file.tree.scopes[above].find(was) for above in _around(file, node)), [])
        return None if taken else was
    return was.join(around)


def _around(file: File, node: ast.expr) -> Iterator[ast.AST]:
    return (above for above in (node, *file.tree.ancestors(node)) if above in file.tree.scopes)


def _imported(file: File, statement: ast.Import | ast.ImportFrom) -> Iterator[Finding]:
    if isinstance(statement, ast.Import):
        for alias in statement.names:
            if alias.name in GONE_MODULES:
                yield file.attention(RULE, alias, f"`{alias.name}` is gone: {PACKAGES[alias.name]}.", hint=True)
        return
    module = from_module(statement)
    if module is None:
        return
    for alias in statement.names:
        path = f"{module}.{alias.name}"
        if module in GONE_MODULES or path in GONE_MODULES:
            advice = PACKAGES[module if module in GONE_MODULES else path]
        elif (module, alias.name) in ATTRIBUTES:
            advice = ATTRIBUTES[module, alias.name]
        elif module == "numpy" and alias.name in NUMPY and alias.name not in _BACK:
            advice = f"it was `{NUMPY[alias.name]}`"
        else:
            continue
        yield file.attention(RULE, alias, f"`{path}` is gone: {advice}.", hint=True)
