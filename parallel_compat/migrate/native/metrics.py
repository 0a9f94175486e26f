"""A list of metrics for a model with several outputs becomes one list for each output.

Keras 2 gave each of them to each output; Keras 3 takes the first for the first output, and refuses another number.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from parallel_compat.migrate import calls
from parallel_compat.migrate.edits import Edit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from parallel_compat.migrate.file import File
    from parallel_compat.migrate.findings import Finding

RULE = "native-metrics"
SAFE = True
BEFORE = """\
from keras.models import Model
model = Model(input=x, output=[kind, place])
model.compile('sgd', 'mse', metrics=['mae'])
"""
AFTER = """\
from keras.models import Model
model = Model(inputs=x, outputs=[kind, place])
model.compile('sgd', 'mse', metrics=[['mae'] for _ in model.outputs])
"""


def find(file: File) -> Iterator[Finding]:
    """Find calls of `compile` with such a list."""
    for call in file.method_calls.get("compile", ()):
        assert isinstance(call.func, ast.Attribute)
        model = call.func.value
        for name in ("metrics", "weighted_metrics"):
            given = calls.keyword(call, name)
            if given is None or not isinstance(given.value, ast.List) or not given.value.elts:
                continue
            nested = any(isinstance(one, ast.List | ast.Tuple | ast.Starred) for one in given.value.elts)
            if nested or not isinstance(model, ast.Name) or not _has_several_outputs(file, model):
                continue
            start, end = file.source.start(given.value), file.source.end(given.value)
            edits = [Edit(start, start, "["), Edit(end, end, f" for _ in {model.id}.outputs]")]
            yield file.found(RULE, given, f"`{name}` is now one list for each output.", edits)


def _has_several_outputs(file: File, node: ast.expr | None, depth: int = 0) -> bool:
    """Whether a model is made here with a list of outputs; through names that are bound once."""
    if isinstance(node, ast.Name) and depth < 5:
        return _has_several_outputs(file, _value(file, node), depth + 1)
    if not isinstance(node, ast.Call) or file.names.target(node.func) != "keras.Model":
        return False
    given = calls.keyword(node, "outputs")
    outputs = given.value if given is not None else node.args[1] if len(node.args) > 1 else None
    if isinstance(outputs, ast.Name):
        outputs = _value(file, outputs)
    return isinstance(outputs, ast.ListComp) or (isinstance(outputs, ast.List) and len(outputs.elts) > 1)


def _value(file: File, name: ast.Name) -> ast.expr | None:
    scope = file.tree.scopes.get(name)
    bindings = scope.find(name.id) if scope else []
    return bindings[0].value if len(bindings) == 1 else None
