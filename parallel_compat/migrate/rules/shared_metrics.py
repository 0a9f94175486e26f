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
        model = calls.receiver(call)
        made_of = _outputs(file.kinds, model, 4)
        outputs = _length(made_of) or count_losses(file, call)
        grows = not outputs and isinstance(made_of, ast.List)  # in a loop
        for argument in ("metrics", "weighted_metrics"):
            given = calls.keyword(call, argument)
            if (outputs < 2 and not grows) or given is None or not _is_flat(given.value):
                continue
            assert isinstance(given.value, ast.List)
            may_be_newer = len(given.value.elts) == outputs and not file.old
            times = f"len({file.source.segment(model)}.outputs)" if grows else str(outputs)
            message = f"`{argument}` applied to each output; Keras 3 wants a list for each of the {times}."
            unsafe = may_be_newer and f"newer code wants one of the {outputs} for each output."
            edits = file.around(given.value, "[", f"] * {times}")
            yield file.found(given, message, edits, unsafe=unsafe, hint=may_be_newer)


def _is_flat(node: ast.expr) -> bool:
    nested = ast.List | ast.Tuple | ast.Dict | ast.Starred
    return isinstance(node, ast.List) and bool(node.elts) and not any(isinstance(each, nested) for each in node.elts)


def count_outputs(file: File, model: ast.expr) -> int:
    """Return how many outputs a model has that is made of a list of outputs, also in a function of the project.

    0 where that is not known.
    """
    return _length(_outputs(file.kinds, model, 4))


def _outputs(kinds: Kinds, model: ast.expr, depth: int) -> ast.expr | None:
    """Return what holds the outputs of a model; of several functions that make one, if they agree on their number."""
    made = kinds.value(model)
    if not isinstance(made, ast.Call) or not depth:
        return None
    target = kinds.names.target(made.func)
    if target == "parallel_compat.multi_gpu_model":
        return _outputs(kinds, made.args[0], depth - 1) if made.args else None
    if target != "keras.Model":
        found = [_outputs(of, value, depth - 1) for of, value in kinds.returns(made.func)]
        return found[0] if len(set(map(_length, found))) == 1 else None
    given = calls.argument(made, "outputs") or calls.argument(made, "output", 1)
    outputs = kinds.value(given) if given is not None else None
    if isinstance(outputs, ast.ListComp) and len(outputs.generators) == 1 and not outputs.generators[0].ifs:
        outputs = outputs.generators[0].iter
    return outputs


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
