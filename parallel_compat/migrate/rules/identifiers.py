"""Strings that name losses, metrics, constraints and reductions become Keras 3's names; also `hard_sigmoid`.

Keras 3's `hard_sigmoid` is relu6(x + 3) / 6. Keras 2's was clip(0.2 x + 0.5, 0, 1).

```diff
 from keras.layers import Dense
 from keras.models import Sequential
-model = Sequential([Dense(3, kernel_constraint='maxnorm')])
-model.compile('sgd', loss='kullback_leibler_divergence')
+model = Sequential([Dense(3, kernel_constraint='max_norm')])
+model.compile('sgd', loss='kl_divergence')
```
"""

from __future__ import annotations

import ast

from parallel_compat.migrate import calls
from parallel_compat.migrate.dotted_names import is_call_of
from parallel_compat.migrate.edits import Edit
from parallel_compat.migrate.file import File, Findings
from parallel_compat.migrate.literals import parts_of, text_of
from parallel_compat.migrate.scopes import defaults_of, methods_of
from parallel_compat.names.identifiers import ALSO_TODAY, COSINE_METRICS, COSINE_PROXIMITY, TELLING, identifiers
from parallel_compat.names.members import LAYER, MODEL

# What tf.keras's `reduction="auto"` meant, which Keras 3 refuses.
_AUTO = {'"auto"': '"sum_over_batch_size"', "'auto'": "'sum_over_batch_size'"}
_ACTIVATIONS = ("activation", "recurrent_activation", "inner_activation")
_HARD_SIGMOID = "parallel_compat.legacy.activations.hard_sigmoid"


def find(file: File) -> Findings:
    """Find strings that name something: in arguments of Keras, and elsewhere those that nothing else says."""
    found = list(_in_arguments(file))
    yield from found
    places = {finding.offset for finding in found}
    for node in file.tree.strings:
        if node.value in TELLING and file.source.start(node) not in places and _is_passed_on(file, node):
            kind, today = TELLING[node.value]
            message = f"The {kind} {node.value!r} is now {today}: say that wherever Keras gets this string."
            yield file.attention(node, message, hint=not file.old and node.value in ALSO_TODAY)


def _is_passed_on(file: File, node: ast.Constant) -> bool:
    """Whether a string can reach Keras: it is not compared, no key, and no name of an object."""
    parent = file.tree.parents.get(node)
    if isinstance(parent, ast.Compare | ast.Subscript | ast.Expr | ast.JoinedStr | ast.BinOp):
        return False
    if isinstance(parent, ast.Dict):
        return node in parent.values
    return not (isinstance(parent, ast.keyword) and parent.arg == "name")


def _in_arguments(file: File) -> Findings:
    for call, _ in file.calls_on(MODEL, "compile"):
        yield from _strings(file, calls.argument(call, "loss", 1), "loss")
        for name in ("metrics", "weighted_metrics"):
            yield from _strings(file, calls.argument(call, name), "metric")
    for target, call in file.calls_under("keras.layers."):
        for keyword in call.keywords:
            if (keyword.arg or "").endswith("_constraint"):
                yield from _strings(file, keyword.value, "constraint")
            if keyword.arg in _ACTIVATIONS:
                yield from _hard_sigmoid(file, keyword.value)
        if target == "keras.layers.Activation" and call.args:
            yield from _hard_sigmoid(file, call.args[0])
        if "Pooling" in target:
            yield from _capitals(file, call)
    for class_ in file.classes_of(LAYER):
        made = methods_of(class_).get("__init__")
        for argument, value in defaults_of(made.args).items() if made is not None else ():
            if argument.arg in _ACTIVATIONS:
                yield from _hard_sigmoid(file, value)
    yield from _reductions(file)


def _reductions(file: File) -> Findings:
    """Find `reduction="auto"` of losses: where one is made, and in custom classes."""
    given = [calls.argument(call, "reduction") for _, call in file.calls_under("keras.losses.")]
    for class_ in file.tree.classes:
        if any(base.startswith("keras.losses.") for base in file.bases_of(class_)):
            for node in ast.walk(class_):
                if is_call_of(node, "__init__"):
                    given.append(calls.argument(node, "reduction"))
                elif isinstance(node, ast.arguments):
                    given += [value for each, value in defaults_of(node).items() if each.arg == "reduction"]
    for value in given:
        text = file.source.segment(value) if value is not None else ""
        if value is not None and text in _AUTO:
            message = "The reduction `auto` is now `sum_over_batch_size`."
            yield file.found(value, message, [file.replace(value, _AUTO[text])], hint=not file.old)
    for node in file.tree.attributes:
        if node.attr == "AUTO" and file.names.target(node) == "keras.losses.Reduction.AUTO":
            message = "The reduction `AUTO` is now `SUM_OVER_BATCH_SIZE`."
            end = file.source.end(node)
            edit = Edit(end - len("AUTO"), end, "SUM_OVER_BATCH_SIZE")
            yield file.found(node, message, [edit], hint=not file.old)


def _strings(file: File, node: ast.expr | None, kind: str, *, shared: bool = False) -> Findings:
    """Find the strings of an argument.

    Args:
        shared: whether it is the value of a name that is read elsewhere too, by code that may know the old spelling.
    """
    if isinstance(node, ast.Name):
        shared, node = not _is_read_once(file, node), file.tree.value_of(node)
    if node is None:
        return
    is_one = not isinstance(node, ast.IfExp | ast.List | ast.Tuple | ast.Dict)
    for value in [node] if is_one else parts_of(node):
        if value is not node and isinstance(value, ast.List):
            yield from _strings(file, value, kind, shared=shared)
        if kind == "metric" and isinstance(value, ast.Constant) and value.value in COSINE_METRICS:
            yield from _cosine(file, value)
        if not isinstance(value, ast.Constant) or value.value not in identifiers()[kind]:
            continue
        row = identifiers()[kind][str(value.value)]
        message = f"The {kind} `{row.old}` is now `{row.new}`."
        if shared:
            yield file.attention(value, f"{message} Other code may still use the old name.")
        else:
            start = file.source.text.index(row.old, file.source.start(value))
            yield file.found(value, message, [Edit(start, start + len(row.old), row.new)])


def _is_read_once(file: File, name: ast.Name) -> bool:
    bindings = file.tree.scopes[name].find(name.id)
    readers = [each for each in file.tree.names if each.id == name.id and isinstance(each.ctx, ast.Load)]
    return all(each is name or file.tree.scopes[each].find(each.id) != bindings for each in readers)


def _cosine(file: File, node: ast.Constant) -> Findings:
    edits = file.replaced_by(COSINE_PROXIMITY, node)
    if edits is not None:
        message = f"The metric {node.value!r} had the sign of the loss; `cosine_similarity` has the opposite one."
        yield file.found(node, message, edits)


def _capitals(file: File, call: ast.Call) -> Findings:
    """Find `padding="SAME"` of a pooling layer: Keras 3 takes capitals in convolutions alone."""
    value = calls.argument(call, "padding") or calls.argument(call, "border_mode", 2)
    if not isinstance(value, ast.Constant) or not isinstance(value.value, str) or value.value.islower():
        return
    text = file.source.segment(value)
    message = f"The padding of a pooling layer is spelled {value.value.lower()!r} now."
    yield file.found(value, message, [file.replace(value, text.lower())])


def _hard_sigmoid(file: File, node: ast.expr) -> Findings:
    edits = file.replaced_by(_HARD_SIGMOID, node) if text_of(node) == "hard_sigmoid" else None
    if edits is not None:
        message = "`hard_sigmoid` was clip(0.2 x + 0.5, 0, 1), Keras 3's is another function; "
        yield file.found_in_old_code(node, f"{message}`{_HARD_SIGMOID}` is the old one.", edits, "the new one")
