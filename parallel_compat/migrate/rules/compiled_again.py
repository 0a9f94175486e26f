"""A second `compile` without metrics gets `metrics=[]`, if the model had metrics before.

In Keras 2 a model had the metrics of its last `compile`. Keras 3 keeps the earlier ones if none are passed, so that
`evaluate` and `train_on_batch` return a list instead of a number. The same holds for a model that was loaded from a
file.

```diff
 from keras.models import Sequential
 model = Sequential()
 model.compile('adam', 'mse', metrics=['mae'])
-model.compile('sgd', 'mse')
+model.compile('sgd', 'mse', metrics=[])
```
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from parallel_compat.migrate import calls
from parallel_compat.migrate.file import File, Findings
from parallel_compat.migrate.rules.shared_optimizers import exclude_each_other
from parallel_compat.names.members import MODEL

_LOADS = ("keras.models.load_model", "parallel_compat.legacy.models.load_model")
_METRICS_POSITION = 2  # in Keras 2


def find(file: File) -> Findings:
    with_metrics = [call for call in file.method_calls.get("compile", ()) if _has_metrics(call)]
    for call, model in file.calls_on(MODEL, "compile"):
        given = any(calls.keyword(call, name) is not None for name in ("metrics", "weighted_metrics"))
        if given or len(call.args) > _METRICS_POSITION or calls.has_stars(call):
            continue
        before = any(_may_be_one(file, each, call) for each in with_metrics)
        if before or _is_loaded(file, call):
            whose = "of another `compile`" if before else "of its file"
            message = f"`{ast.unparse(model)}` may have metrics {whose}, which stay."
            yield file.found(call, message, [calls.append(file, call, "metrics=[]")], hint=not file.old)


def _has_metrics(call: ast.Call) -> bool:
    given = [calls.argument(call, "metrics", _METRICS_POSITION), calls.argument(call, "weighted_metrics")]
    return any(each is not None and not (isinstance(each, ast.List | ast.Tuple) and not each.elts) for each in given)


def _may_be_one(file: File, one: ast.Call, other: ast.Call) -> bool:
    """Return whether two calls may be of one model, and are no branches of one `if`."""
    shared = _origins(file, calls.receiver(one)) & _origins(file, calls.receiver(other))
    return bool(shared) and not exclude_each_other(file, one, other)


def _origins(file: File, model: ast.expr) -> set[object]:
    """Return all that a model may be by name: what it is bound to, and what that is bound to (`parallel = model`)."""
    found: set[object] = set()
    left = [model]
    while left:
        node = left.pop()
        if node in found:
            continue
        found.add(node)
        if isinstance(node, ast.IfExp):
            left += [node.body, node.orelse]
        elif isinstance(node, ast.Name):
            bindings = file.tree.bindings(node)
            found |= {*bindings} or {node.id}
            left += [each.value for each in bindings if each.value is not None]
        elif isinstance(node, ast.Attribute):
            found.add((file.tree.enclosing_class(node), ast.unparse(node)))
            left += _assigned_to(file, node)
    return found


def _assigned_to(file: File, attribute: ast.Attribute) -> Iterator[ast.expr]:
    for each in file.tree.attributes:
        if each.attr == attribute.attr and isinstance(each.ctx, ast.Store):
            above = file.tree.parents[each]
            within = file.tree.enclosing_class(each) is file.tree.enclosing_class(attribute)
            if isinstance(above, ast.Assign) and within and ast.unparse(each) == ast.unparse(attribute):
                yield above.value


def _is_loaded(file: File, call: ast.Call) -> bool:
    model = calls.receiver(call)
    made = file.tree.value_of(model) if isinstance(model, ast.Name) else None
    if not isinstance(made, ast.Call) or file.names.target(made.func) not in _LOADS:
        return False
    return calls.constant(calls.argument(made, "compile")) is not False
