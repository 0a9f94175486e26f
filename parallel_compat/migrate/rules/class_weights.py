"""A `class_weight` that is not a dict is dropped; one for several outputs or with `sample_weight` is reported.

Keras on TensorFlow 1 silently ignored an array, a list or `"auto"`. Keras 3 stops at it, and at class weights of a
model with several outputs.

```diff
 from keras.models import Sequential
 model = Sequential(layers)
-model.fit(x, y, class_weight='auto')
+model.fit(x, y)
```
"""

from __future__ import annotations

import ast

from parallel_compat.migrate import calls
from parallel_compat.migrate.dotted_names import last_name
from parallel_compat.migrate.file import File, Findings
from parallel_compat.migrate.kinds import SEQUENTIAL
from parallel_compat.migrate.literals import is_none, parts_of, text_of
from parallel_compat.migrate.rules.outputs_by_name import only_name
from parallel_compat.migrate.rules.shared_metrics import count_outputs
from parallel_compat.names.members import MODEL

_SEVERAL = "Keras 3 takes class weights only for one output: pass `sample_weight`, a list in the order of the outputs."
_BOTH = "Keras 3 takes `class_weight` or `sample_weight`, not both: multiply the samples' weights by those."
_ARRAYS = ("array", "asarray", "compute_class_weight", "ones")


def find(file: File) -> Findings:
    for method in ("fit", "train_on_batch", "fit_generator"):
        for call, model in file.calls_on(MODEL, method):
            argument = calls.keyword(call, "class_weight")
            if argument is None or is_none(argument.value):
                continue
            value = file.tree.resolved(argument.value)
            samples = calls.argument(call, "sample_weight")
            if samples is not None and not is_none(samples):
                yield file.attention(argument, _BOTH, hint=not file.old)
            elif only_name(argument.value) is not None and file.sequentials.of(model) == SEQUENTIAL:
                continue  # the rule on outputs by name takes the name away
            elif _is_by_output(value) or _has_several_outputs(file, call, model):
                yield file.attention(argument, _SEVERAL, hint=not file.old)
            elif _is_no_dict(file, value):
                if file.era_of_call(call).has_graphs:
                    message = "`class_weight` had no effect without a dict. To weight classes, pass `{class: weight}`."
                    yield file.found(argument, message, calls.remove(file, call, argument))
                else:
                    yield file.attention(argument, "Expected `class_weight` to be a dict `{class: weight}`.")


def _is_by_output(value: ast.expr | None) -> bool:
    if isinstance(value, ast.Dict):
        texts = [text_of(key) for key in value.keys]
        return any(isinstance(one, ast.Dict) for one in value.values) or (len(texts) > 1 and None not in texts)
    return any(isinstance(one, ast.Dict) for one in parts_of(value))


def _has_several_outputs(file: File, call: ast.Call, model: ast.expr) -> bool:
    """Return whether a model is made of several outputs, or gets a list or dict of several arrays as targets."""
    targets = calls.argument(call, "y", 1)
    parts = parts_of(file.tree.resolved(targets)) if targets is not None else []
    arrays = len(parts) > 1 and not any(isinstance(each, ast.Constant | ast.List | ast.UnaryOp) for each in parts)
    return arrays or (file.kinds.of(model) == MODEL and count_outputs(file, model) > 1)


def _is_no_dict(file: File, value: ast.expr | None) -> bool:
    if isinstance(value, ast.Call):
        return last_name(value.func) in _ARRAYS
    if isinstance(value, ast.Subscript):  # `weights[classes]` of `weights = len(y) / (n * np.bincount(y))`
        value = file.tree.resolved(value.value)
    return text_of(value) is not None or isinstance(value, ast.List | ast.Tuple | ast.BinOp)
