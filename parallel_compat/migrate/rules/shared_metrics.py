"""A flat list of metrics was for each output of a model; Keras 3 wants one list for each.

It raises for a list of another length than the outputs, and takes one of the same length for one metric each.
`[metrics] * 2` says what it was. The outputs are counted where the model is made in the same file.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from parallel_compat.migrate import calls
from parallel_compat.migrate.edits import Edit
from parallel_compat.migrate.findings import Status

if TYPE_CHECKING:
    from collections.abc import Iterator

    from parallel_compat.migrate.file import File
    from parallel_compat.migrate.findings import Finding

RULE = "shared-metrics"
SAFE = True
BEFORE = """\
from keras.models import Model
model = Model(inputs, [digit, colour])
model.compile('adam', 'mse', metrics=['mae'])
"""
AFTER = """\
from keras.models import Model
model = Model(inputs, [digit, colour])
model.compile('adam', 'mse', metrics=[['mae']] * 2)
"""


def find(file: File) -> Iterator[Finding]:
    """Find calls of `compile` with a flat list, on a model whose outputs are listed."""
    for call in file.method_calls.get("compile", ()):
        assert isinstance(call.func, ast.Attribute)
        outputs = count_outputs(file, call.func.value)
        for argument in ("metrics", "weighted_metrics"):
            given = calls.keyword(call, argument)
            if outputs < 2 or given is None or not _is_flat(given.value):
                continue
            assert isinstance(given.value, ast.List)
            same = len(given.value.elts) == outputs
            message = f"`{argument}` was for each of the {outputs} outputs; Keras 3 wants a list for each."
            if same and not file.old:
                message += f" (Unsafe: newer code means one of the {outputs} for each output.)"
            start, end = file.source.start(given.value), file.source.end(given.value)
            edits = [Edit(start, start, "["), Edit(end, end, f"] * {outputs}")]
            status = Status.UNSAFE if same and not file.old else Status.REWRITTEN
            yield file.found(RULE, given, message, edits, status=status, hint=same and not file.old)


def _is_flat(node: ast.expr) -> bool:
    nested = ast.List | ast.Tuple | ast.Dict | ast.Starred
    return isinstance(node, ast.List) and bool(node.elts) and not any(isinstance(each, nested) for each in node.elts)


def count_outputs(file: File, model: ast.expr) -> int:
    """Return how many outputs a model has that is made once, of a list of outputs; 0 where that is not known."""
    made = _value(file, model)
    if isinstance(made, ast.Call) and made.args and file.names.target(made.func) == "parallel_compat.multi_gpu_model":
        made = _value(file, made.args[0])
    if not isinstance(made, ast.Call) or file.names.target(made.func) != "keras.Model":
        return 0
    named = calls.keyword(made, "outputs") or calls.keyword(made, "output")
    outputs = _value(file, named.value if named is not None else made.args[1] if len(made.args) > 1 else None)
    if isinstance(outputs, ast.ListComp) and len(outputs.generators) == 1 and not outputs.generators[0].ifs:
        outputs = outputs.generators[0].iter
    is_listed = isinstance(outputs, ast.List | ast.Tuple) and not any(
        isinstance(each, ast.Starred) for each in outputs.elts
    )
    return len(outputs.elts) if is_listed and isinstance(outputs, ast.List | ast.Tuple) else 0


def _value(file: File, node: ast.expr | None) -> ast.expr | None:
    """Return what a name stands for that is bound once, or anything else as it is."""
    return file.tree.value_of(node) if isinstance(node, ast.Name) else node
