"""A dict with an entry for the only output of a model becomes that entry.

Keras 3 accepts such dicts only for several outputs. `fit(x, {"out": y})` fails for every model with one output, and
`compile(loss={"out": "mse"})` for a `Sequential`. In Keras 2 an output had the name of its last layer. With several
outputs, a dict of sample weights becomes a list, and so does the dict of targets. A dict without some of the outputs is
reported.

```diff
 from keras.models import Sequential
 model = Sequential(layers)
-model.compile('sgd', loss={'out': 'mse'}, metrics={'out': 'mae'})
-model.fit(x, {'out': y})
+model.compile('sgd', loss='mse', metrics=['mae'])
+model.fit(x, y)
```
"""

from __future__ import annotations

import ast

from parallel_compat.migrate import calls
from parallel_compat.migrate.edits import Edit
from parallel_compat.migrate.file import File, Findings
from parallel_compat.migrate.findings import Finding
from parallel_compat.migrate.literals import text_of
from parallel_compat.migrate.methods import guessed
from parallel_compat.migrate.rules.shared_metrics import count_outputs
from parallel_compat.names.members import MODEL

_ON_DATA = ("fit", "evaluate", "train_on_batch", "test_on_batch")
_LISTS = ("loss_weights", "metrics", "weighted_metrics")


def find(file: File) -> Findings:
    for method in ("compile", *_ON_DATA):
        for call in file.method_calls.get(method, ()):
            model = calls.receiver(call)
            is_sequential = _is_sequential(file, model)
            if not is_sequential and file.kinds.of(model) not in (None, MODEL):
                continue
            if method != "compile":
                yield from _targets(file, call, is_sequential)
            elif is_sequential:
                yield from _compiled(file, call)
            elif (loss := calls.argument(call, "loss", 1)) is not None and _leaves_outputs_out(file, model, loss):
                message = "An output without a loss: Keras 3 wants `None` for it. Add each such output to the dict."
                yield file.attention(loss, message)


def _is_sequential(file: File, receiver: ast.expr) -> bool:
    """Return whether all that a name is bound to are calls of `Sequential`."""
    bindings = file.tree.bindings(receiver)
    return bool(bindings) and all(file.made_by(each.value) == "keras.Sequential" for each in bindings)


def _targets(file: File, call: ast.Call, is_sequential: bool) -> Findings:
    given = [("Targets", calls.argument(call, "y", 1))]
    validation = calls.argument(call, "validation_data")
    if isinstance(validation, ast.Tuple | ast.List):
        given += zip(("Targets", "Sample weights"), validation.elts[1:], strict=False)
    given.append(("Sample weights", calls.argument(call, "sample_weight")))
    given.append(("Class weights", calls.argument(call, "class_weight")))
    targets = None
    for what, value in given:
        if value is not None and what == "Sample weights":
            if _leaves_outputs_out(file, calls.receiver(call), value):
                yield file.attention(value, "Keras 3 wants weights for each output: a list in their order.")
            elif _has_several_names(file, value):
                yield _in_order_of_outputs(file, call, targets, value)
        targets = value if what == "Targets" else calls.argument(call, "y", 1)
        name = only_name(value)
        if name is None or not isinstance(value, ast.Dict):
            continue
        message = f"{what} of the one output {name!r}: Keras 3 takes a dict only for several outputs."
        if is_sequential:
            yield file.found(value, message, _without_name(file, value))
        elif what == "Targets" and count_outputs(file, calls.receiver(call)) < 2:
            edits = _without_name(file, value)
            yield file.found(value, message, edits, unsafe="is it the only output?", hint=not file.old)


def _leaves_outputs_out(file: File, model: ast.expr, value: ast.expr) -> bool:
    given = file.tree.resolved(value)
    if not isinstance(given, ast.Dict) or None in map(text_of, given.keys):
        return False
    return len(given.keys) < count_outputs(file, model)


def _has_several_names(file: File, value: ast.expr) -> bool:
    given = file.tree.resolved(value)
    return (
        isinstance(given, ast.Dict) and len(given.keys) > 1 and all(isinstance(key, ast.Constant) for key in given.keys)
    )


def _in_order_of_outputs(file: File, call: ast.Call, targets: ast.expr | None, weights: ast.expr) -> Finding:
    """Make lists of a dict of sample weights and of the dict of targets beside it, whose structures Keras compares."""
    model = calls.receiver(call)
    message = "Sample weights by output: Keras 3 takes lists of targets and weights, in the order of the outputs."
    is_list = isinstance(targets, ast.List)
    dicts = [weights] if is_list or targets is None else [targets, weights]
    names = {node.id for value in dicts for node in ast.walk(value) if isinstance(node, ast.Name)}
    if targets is None or "output_name" in names or not (is_list or _has_several_names(file, targets)):
        return file.attention(weights, message)
    behind = f"[output_name] for output_name in {file.source.segment(model)}.output_names]"
    edits = [edit for value in dicts for edit in file.around(value, "[", behind)]
    unsafe = file.kinds.of(model) != MODEL and guessed(file, model, MODEL)
    return file.found(weights, message, edits, unsafe=unsafe)


def _compiled(file: File, call: ast.Call) -> Findings:
    given = [(keyword.arg, keyword.value) for keyword in call.keywords]
    given += zip(("optimizer", "loss", "metrics"), call.args, strict=False)
    for argument, value in given:
        name = only_name(value)
        if argument not in ("loss", *_LISTS) or name is None or not isinstance(value, ast.Dict):
            continue
        of_output = value.values[0]
        is_list = argument not in _LISTS or isinstance(of_output, ast.List | ast.Tuple)
        message = f"`{argument}` of the one output {name!r}: a `Sequential` of Keras 3 does not know its name."
        yield file.found(value, message, _without_name(file, value, *(("", "") if is_list else ("[", "]"))))


def only_name(value: ast.expr | None) -> str | None:
    """Return the one key of a dict that is a name: those of class weights are numbers."""
    return text_of(value.keys[0]) if isinstance(value, ast.Dict) and len(value.keys) == 1 else None


def _without_name(file: File, value: ast.Dict, before: str = "", after: str = "") -> list[Edit]:
    """Leave what stands in the dict, in which others may find something too."""
    inner = value.values[0]
    return [
        Edit(file.source.start(value), file.source.start(inner), before),
        Edit(file.source.end(inner), file.source.end(value), after),
    ]
