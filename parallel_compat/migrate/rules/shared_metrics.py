"""A flat list of metrics for several outputs becomes one list per output.

In Keras 2 a flat list applied to each output. Keras 3 refuses a list of another length than the outputs, and reads one
of the same length as one metric per output. `[metrics] * 2` keeps the old meaning. The number of outputs is read from
the code that builds the model, anywhere in the project, or from the losses in `compile`.

```diff
 from keras.models import Model
 model = Model(inputs, [digit, colour])
-model.compile('adam', 'mse', metrics=['mae'])
+model.compile('adam', 'mse', metrics=[['mae']] * 2)
```
"""

from __future__ import annotations

import ast

from parallel_compat.migrate import calls
from parallel_compat.migrate.file import File, Findings
from parallel_compat.migrate.kinds import Kinds


def find(file: File) -> Findings:
    """Find calls of `compile` with a flat list, for a model of several outputs."""
    for call in file.method_calls.get("compile", ()):
        outputs = count_outputs(file, calls.receiver(call)) or count_losses(file, call)
        for argument in ("metrics", "weighted_metrics"):
            given = calls.keyword(call, argument)
            if outputs < 2 or given is None or not _is_flat(given.value):
                continue
            assert isinstance(given.value, ast.List)
            may_be_newer = len(given.value.elts) == outputs and not file.old
            message = f"`{argument}` applied to each of the {outputs} outputs; Keras 3 wants a list for each."
            unsafe = may_be_newer and f"newer code wants one of the {outputs} for each output."
            edits = file.around(given.value, "[", f"] * {outputs}")
            yield file.found(given, message, edits, unsafe=unsafe, hint=may_be_newer)


def _is_flat(node: ast.expr) -> bool:
    nested = ast.List | ast.Tuple | ast.Dict | ast.Starred
    return isinstance(node, ast.List) and bool(node.elts) and not any(isinstance(each, nested) for each in node.elts)


def count_outputs(file: File, model: ast.expr) -> int:
    """Return how many outputs a model has that is made of a list of outputs, also in a function of the project.

    0 where that is not known.
    """
    return _count(file.kinds, model, 4)


def _count(kinds: Kinds, model: ast.expr, depth: int) -> int:
    made = kinds.value(model)
    if not isinstance(made, ast.Call) or not depth:
        return 0
    target = kinds.names.target(made.func)
    if target == "parallel_compat.multi_gpu_model":
        return _count(kinds, made.args[0], depth - 1) if made.args else 0
    if target != "keras.Model":
        counts = {_count(of, value, depth - 1) for of, value in kinds.returns(made.func)}
        return counts.pop() if len(counts) == 1 else 0
    given = calls.argument(made, "outputs") or calls.argument(made, "output", 1)
    outputs = kinds.value(given) if given is not None else None
    if isinstance(outputs, ast.ListComp) and len(outputs.generators) == 1 and not outputs.generators[0].ifs:
        outputs = outputs.generators[0].iter
    return _length(outputs)


def count_losses(file: File, call: ast.Call) -> int:
    """Return for how many outputs a call of `compile` has a loss each, or a weight of it; 0 where it does not say."""
    given = (calls.argument(call, "loss", 1), calls.argument(call, "loss_weights"))
    counts = [_length(file.kinds.value(value)) for value in given if value is not None]
    return next((count for count in counts if count > 1), 0)


def _length(node: ast.expr | None) -> int:
    """Return how many items a list, a tuple or a dict has that is written out; 0 for anything else."""
    if isinstance(node, ast.Dict):
        return 0 if None in node.keys else len(node.keys)
    if not isinstance(node, ast.List | ast.Tuple) or any(isinstance(each, ast.Starred) for each in node.elts):
        return 0
    return len(node.elts)
