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
from collections.abc import Iterator

from parallel_compat.migrate import calls
from parallel_compat.migrate.edits import Edit
from parallel_compat.migrate.file import File
from parallel_compat.migrate.findings import Finding
from parallel_compat.names.identifiers import ALSO_TODAY, COSINE_METRICS, COSINE_PROXIMITY, TELLING, identifiers
from parallel_compat.names.members import MODEL

SAFE = True

# What tf.keras's `reduction="auto"` meant, which Keras 3 refuses.
_AUTO = {'"auto"': '"sum_over_batch_size"', "'auto'": "'sum_over_batch_size'"}
_HARD_SIGMOID = "parallel_compat.legacy.activations.hard_sigmoid"


def find(file: File) -> Iterator[Finding]:
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


def _in_arguments(file: File) -> Iterator[Finding]:
    for call in file.method_calls.get("compile", ()):
        assert isinstance(call.func, ast.Attribute)
        kind = file.kinds.of(call.func.value)
        if kind not in (None, MODEL):
            continue
        loss = calls.keyword(call, "loss")
        value = loss.value if loss else call.args[1] if len(call.args) > 1 else None
        yield from _strings(file, value, "loss")
        for name in ("metrics", "weighted_metrics"):
            metrics = calls.keyword(call, name)
            yield from _strings(file, metrics.value if metrics else None, "metric")
    for target, found in file.calls_by_target.items():
        if not target.startswith("keras.layers."):
            continue
        for call in found:
            for keyword in call.keywords:
                if (keyword.arg or "").endswith("_constraint"):
                    yield from _strings(file, keyword.value, "constraint")
                if keyword.arg in ("activation", "recurrent_activation", "inner_activation"):
                    yield from _hard_sigmoid(file, keyword.value)
            if target == "keras.layers.Activation" and call.args:
                yield from _hard_sigmoid(file, call.args[0])
            if "Pooling" in target:
                yield from _capitals(file, call)
    yield from _reductions(file)


def _reductions(file: File) -> Iterator[Finding]:
    """Find `reduction="auto"` of losses: where one is made, and in custom classes."""
    given: list[ast.expr | None] = []
    for target, found in file.calls_by_target.items():
        if target.startswith("keras.losses."):
            given += [_reduction(call) for call in found]
    for class_ in file.tree.classes:
        if any((file.names.target(base) or "").startswith("keras.losses.") for base in class_.bases):
            for node in ast.walk(class_):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "__init__":
                    given.append(_reduction(node))
                elif isinstance(node, ast.arguments):
                    defaults = zip(node.args[len(node.args) - len(node.defaults) :], node.defaults, strict=True)
                    given += [value for arg, value in defaults if arg.arg == "reduction"]
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


def _reduction(call: ast.Call) -> ast.expr | None:
    found = calls.keyword(call, "reduction")
    return found.value if found is not None else None


def _strings(file: File, node: ast.expr | None, kind: str, *, shared: bool = False) -> Iterator[Finding]:
    """Find the strings of an argument.

    Args:
        shared: whether it is the value of a name that is read elsewhere too, by code that may know the old spelling.
    """
    if isinstance(node, ast.Name):
        shared, node = not _is_read_once(file, node), file.tree.value_of(node)
    if node is None:
        return
    values: list[ast.expr] = [node]
    if isinstance(node, ast.IfExp):
        values = [node.body, node.orelse]
    elif isinstance(node, ast.List | ast.Tuple):
        values = list(node.elts)
    elif isinstance(node, ast.Dict):
        values = list(node.values)
    for value in values:
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


def _cosine(file: File, node: ast.Constant) -> Iterator[Finding]:
    spelled = file.reference(COSINE_PROXIMITY, node)
    if spelled is None:
        return
    text, imports = spelled
    message = f"The metric {node.value!r} had the sign of the loss; `cosine_similarity` has the opposite one."
    yield file.found(node, message, [file.replace(node, text), *imports])


def _capitals(file: File, call: ast.Call) -> Iterator[Finding]:
    """Find `padding="SAME"` of a pooling layer: Keras 3 takes capitals in convolutions alone."""
    keyword = calls.keyword(call, "padding") or calls.keyword(call, "border_mode")
    value = keyword.value if keyword is not None else call.args[2] if len(call.args) > 2 else None
    if not isinstance(value, ast.Constant) or not isinstance(value.value, str) or value.value.islower():
        return
    text = file.source.segment(value)
    message = f"The padding of a pooling layer is spelled {value.value.lower()!r} now."
    yield file.found(value, message, [file.replace(value, text.lower())])


def _hard_sigmoid(file: File, node: ast.expr) -> Iterator[Finding]:
    if not (isinstance(node, ast.Constant) and node.value == "hard_sigmoid"):
        return
    spelled = file.reference(_HARD_SIGMOID, node)
    if spelled is None:
        return
    text, imports = spelled
    message = (
        f"`hard_sigmoid` was clip(0.2 x + 0.5, 0, 1), Keras 3's is another function; `{_HARD_SIGMOID}` is the old one."
    )
    yield file.found_in_old_code(node, message, [file.replace(node, text), *imports], "the new one")
