"""Metric functions get their targets as in Keras 2: floats, of shape (n, 1) for n numbers.

Keras 3 passes targets unchanged. If they have shape (n,), a product with predictions of shape (n, 1) has shape (n, n),
and the metric is silently wrong. This concerns custom functions, and `hinge`, `poisson` and others by name.

```diff
 from keras.models import Sequential
+from parallel_compat.legacy.metrics import metric_function

 def near(y_true, y_pred):
     return abs(y_true - y_pred) < 0.1

 model = Sequential()
-model.compile('sgd', 'mse', metrics=['mae', near])
+model.compile('sgd', 'mse', metrics=['mae', metric_function(near)])
```
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from parallel_compat.migrate import calls
from parallel_compat.migrate.file import File, Findings
from parallel_compat.migrate.literals import parts_of
from parallel_compat.migrate.project import LIBRARIES
from parallel_compat.names.identifiers import NEED_TARGETS_OF_RANK
from parallel_compat.names.members import MODEL

METRIC_FUNCTION = "parallel_compat.legacy.metrics.metric_function"


def find(file: File) -> Findings:
    seen: set[ast.expr] = set()
    for call, _ in file.calls_on(MODEL, "compile"):
        # The third position was that of metrics; today's is that of `loss_weights`, which are numbers.
        third = None if calls.has_stars(call) else 2
        for value in (calls.argument(call, "metrics", third), calls.argument(call, "weighted_metrics")):
            for node in _each(file, value):
                if node not in seen and (_is_function(file, node) or _is_unknown(file, node)):
                    seen.add(node)
                    yield from _wrapped(file, node)


def _each(file: File, node: ast.expr | None, names: frozenset[str] = frozenset()) -> Iterator[ast.expr]:
    """Yield the metrics in lists and dictionaries, also of those with a name of their own (`names`: seen already)."""
    if isinstance(node, ast.Name) and node.id not in names:
        value = file.tree.value_of(node)
        parts = [value] if isinstance(value, ast.Dict) else list(_lists_of(file, node))
        for part in parts:
            yield from _each(file, part, names | {node.id})
        if parts:
            return
    if isinstance(node, ast.List | ast.Tuple | ast.Dict):
        for each in parts_of(node):
            yield from _each(file, each, names)
    elif isinstance(node, ast.BinOp):
        yield from _each(file, node.left, names)
        yield from _each(file, node.right, names)
    elif node is not None:
        yield node


def _lists_of(file: File, name: ast.Name) -> Iterator[ast.expr]:
    """Yield what is put into a list of a name: `metrics = [...]`, `metrics += [...]`, `metrics.append(...)`."""
    bindings = file.tree.bindings(name)
    for binding in bindings:
        above = file.tree.parents.get(binding.node)
        value = above.value if isinstance(above, ast.AugAssign) else binding.value
        if isinstance(value, ast.List | ast.BinOp):
            yield value
    for method in ("append", "extend"):
        for call in file.method_calls.get(method, ()):
            if len(call.args) == 1 and bindings and file.tree.bindings(calls.receiver(call)) is bindings:
                yield from call.args


def _is_function(file: File, node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return node.value in NEED_TARGETS_OF_RANK
    if isinstance(node, ast.Lambda):
        return True
    made = node.func if isinstance(node, ast.Call) else node
    definition = file.kinds.definition(made)
    if isinstance(definition, ast.FunctionDef):
        return made is node or _gives_a_function(definition)
    path = file.names.local_path(made)
    return made is node and path is not None and path.strip(".").split(".")[0] not in LIBRARIES


def _is_unknown(file: File, node: ast.expr) -> bool:
    """Whether this source does not say what it is: an argument, or an attribute (`metrics=self.metrics`)."""
    if isinstance(node, ast.Attribute | ast.Subscript):
        return file.names.path(node) is None and file.names.local_path(node) is None and file.kinds.of(node) is None
    return isinstance(node, ast.Name) and file.is_argument(node)


def _gives_a_function(definition: ast.FunctionDef) -> bool:
    inner = {each.name for each in definition.body if isinstance(each, ast.FunctionDef)}
    return any(
        isinstance(each, ast.Return) and isinstance(each.value, ast.Name) and each.value.id in inner
        for each in definition.body
    )


def _wrapped(file: File, node: ast.expr) -> Findings:
    edits = file.wrapped_in_call(METRIC_FUNCTION, node)
    if edits is not None:
        message = "A metric function got its targets as floats of shape (n, 1); Keras 3 passes them unchanged."
        yield file.found(node, message, edits, hint=not file.old)
