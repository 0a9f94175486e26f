"""The results of `evaluate` for several outputs keep their order, and `model.metrics_names` its names.

Keras 3 sorts the metrics of several outputs by name (`alpha_acc` before `zeta_mae`), and `metrics_names` is
`['loss', 'compile_metrics']`. So `loss, first, second = model.evaluate(x, y)` and
`dict(zip(model.metrics_names, scores))` are silently wrong. Where one layer gives several outputs, as the critic of a
GAN does, Keras 3 returns the last one's loss for each.

```diff
 from keras.models import Model
+from parallel_compat.legacy.models import evaluate, metrics_names
 model = Model(x, [a, b])
 model.compile('sgd', loss=['mse', 'mae'], metrics={'first': ['mae'], 'second': ['mse']})
-scores = model.evaluate(x, y)
-print(model.metrics_names, scores)
+scores = evaluate(model, x, y)
+print(metrics_names(model), scores)
```
"""

from __future__ import annotations

import ast

from parallel_compat.migrate import calls, methods
from parallel_compat.migrate.dotted_names import is_self
from parallel_compat.migrate.file import File, Findings
from parallel_compat.migrate.literals import parts_of
from parallel_compat.migrate.rules.shared_metrics import count_outputs
from parallel_compat.names.members import MODEL
from parallel_compat.names.table import Change, Member

_MODELS = "parallel_compat.legacy.models"
_METHODS = ("evaluate", "train_on_batch", "test_on_batch")


def find(file: File) -> Findings:
    """Find lists of results that are read, and their names."""
    for node in file.tree.attributes:
        parent = file.tree.parents.get(node)
        is_appended_to = isinstance(parent, ast.Attribute) and parent.attr == "append"  # see `gone-members`
        is_read = isinstance(node.ctx, ast.Load) and not is_self(node.value) and not is_appended_to
        if node.attr == "metrics_names" and is_read:
            yield from _names(file, node)
    if not any(_has_several_outputs(file, call) for call in file.method_calls.get("compile", ())):
        return
    for method in _METHODS:
        row = Member(MODEL, method, Change.PROVIDED, f"{_MODELS}.{method}", method=True)
        for call, model in file.calls_on(MODEL, method):
            is_read = not isinstance(file.tree.parents.get(call), ast.Expr)
            if is_read and not is_self(model) and calls.keyword(call, "return_dict") is None:
                yield from methods.to_function(file, call, row, telling=method != "evaluate")


def _names(file: File, node: ast.Attribute) -> Findings:
    kind = file.kinds.of(node.value)
    edits = file.read_by_function(f"{_MODELS}.metrics_names", node)
    if kind in (None, MODEL) and edits is not None:
        message = (
            f"`metrics_names` is provided by `{_MODELS}.metrics_names`: Keras 3 has one name for all of `compile`."
        )
        yield file.found(node, message, edits, unsafe=kind is None and methods.guessed(file, node.value, MODEL))


def _has_several_outputs(file: File, call: ast.Call) -> bool:
    """Whether `compile` gets metrics and more than one output, or the model is made of a list of outputs."""
    if _of_one_layer(file, calls.receiver(call)):
        return True
    positions = {} if calls.has_stars(call) else {"loss": 1, "metrics": 2}
    values = {name: calls.argument(call, name, positions.get(name)) for name in ("loss", "metrics", "weighted_metrics")}
    known = {name: file.tree.resolved(value) for name, value in values.items() if value is not None}
    if not {"metrics", "weighted_metrics"} & known.keys():
        return False
    loss = known.get("loss")
    if isinstance(loss, ast.List | ast.Tuple | ast.Dict):
        return len(parts_of(loss)) > 1
    if any(isinstance(one, ast.Dict) for one in known.values()):
        return True
    return count_outputs(file, calls.receiver(call)) > 1


def _of_one_layer(file: File, model: ast.expr) -> bool:
    """Whether two outputs of a model are results of the same layer: `Model(x, [critic(real), critic(fake)])`."""
    made = file.kinds.value(model)
    if not isinstance(made, ast.Call) or file.names.target(made.func) != "keras.Model":
        return False
    given = calls.argument(made, "outputs", 1) or calls.argument(made, "output")
    outputs = parts_of(given) if isinstance(given, ast.List | ast.Tuple) else []
    layers = [layer for output in outputs if (layer := _layer_of(file, output)) is not None]
    return len(set(layers)) < len(layers)


def _layer_of(file: File, output: ast.expr) -> str | None:
    """Return how the layer is spelled that is called for a tensor, wherever its name is bound."""
    values = [binding.value for binding in file.tree.bindings(output)] or [output]
    called = {ast.unparse(value.func) if isinstance(value, ast.Call) else None for value in values}
    return called.pop() if len(called) == 1 else None
