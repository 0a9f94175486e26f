"""`parallel_compat.fit_generator`, `evaluate_generator` and `predict_generator` become methods of the model.

A `keras.utils.PyDataset` is passed unchanged. A Python generator is wrapped in `all_batches`, so that `fit` trains on
every batch: `fit(generator)` takes no lists, and loses batches under a strategy. `workers`, `max_queue_size` and
`use_multiprocessing` become arguments of the `PyDataset`.

```diff
 from keras.models import Model
+from legacy_numerics import all_batches
 model = Model(x, y)
-model.fit_generator(batches(), steps_per_epoch=10, workers=4)
+model.fit(all_batches(batches()), steps_per_epoch=10)
```
"""

from __future__ import annotations

import ast

from parallel_compat.migrate import calls
from parallel_compat.migrate.edits import AnyEdit, Edit
from parallel_compat.migrate.file import File, Findings
from parallel_compat.migrate.native.spelling import spell
from parallel_compat.names.generator_arguments import OF_SAMPLES
from parallel_compat.names.members import SEQUENCE

_DRAWING = ("max_queue_size", "workers", "use_multiprocessing")
_VALIDATION = ("validation_data", "validation_steps", "validation_freq")
_OF_FIT = ("steps_per_epoch", "epochs", "verbose", "callbacks", *_VALIDATION)
_METHODS = {
    "parallel_compat.fit_generator": (
        "fit",
        ("generator", *_OF_FIT, "class_weight", *_DRAWING, "shuffle", "initial_epoch"),
    ),
    "parallel_compat.evaluate_generator": ("evaluate", ("generator", "steps", "callbacks", *_DRAWING, "verbose")),
    "parallel_compat.predict_generator": ("predict", ("generator", "steps", "callbacks", *_DRAWING, "verbose")),
}


def find(file: File) -> Findings:
    for call in file.tree.calls:
        method, names = _METHODS.get(file.names.path(call.func) or "", ("", ()))
        if not method:
            continue
        if not call.args or calls.has_stars(call) or any(keyword.arg in OF_SAMPLES for keyword in call.keywords):
            yield file.attention(call, f"`{method}_generator` with unknown arguments.")
            continue
        yield from _method(file, call, method, names)
    for class_ in file.tree.classes:
        yield from _sequence(file, class_)


def _method(file: File, call: ast.Call, method: str, names: tuple[str, ...]) -> Findings:
    model, given = call.args[0], call.args[1:]
    values = {**dict(zip(names, given, strict=False)), **{one.arg: one.value for one in call.keywords if one.arg}}
    source = file.source
    open_, close = ("", "") if isinstance(model, ast.Name | ast.Attribute | ast.Call | ast.Subscript) else ("(", ")")
    others: list[ast.expr | ast.keyword] = [*given, *call.keywords]
    edits: list[AnyEdit] = [Edit(source.start(call), source.start(model), open_)]
    if others:
        start = min(source.start(other) for other in others)
        gap = source.text[source.end(model) : start]
        after = gap.partition(",")[2]
        edits.append(Edit(source.end(model), start, f"{close}.{method}(" + (after if after.strip(" \t") else "")))
    else:
        edits.append(Edit(source.end(model), source.end(call), f"{close}.{method}()"))
    dropped = []
    for name, value in zip(names, given, strict=False):
        if name in _DRAWING:
            dropped.append(name)
            edits += calls.remove(file, call, value)
        elif name != "generator":
            edits.append(calls.name_positional(file, value, name))
    for keyword in call.keywords:
        if keyword.arg == "generator":
            edits.append(calls.rename(file, keyword, "x"))
        elif keyword.arg in _DRAWING:
            dropped.append(keyword.arg)
            edits += calls.remove(file, call, keyword)
    for name in ("generator", "validation_data"):
        node = values.get(name)
        if node is None or _is_kept(file, node):
            continue
        spelled = spell(file, "legacy_numerics.all_batches", call)
        if spelled is None:
            yield file.attention(node, "Give `fit` a `keras.utils.PyDataset` or a `tf.data.Dataset`.")
            return
        edits += [*file.around(node, f"{spelled[0]}(", ")"), *spelled[1]]
    message = f"`{method}_generator` is now `{method}`."
    if dropped:
        message += f" {', '.join(f'`{name}`' for name in dropped)}: a `PyDataset` takes them."
    yield file.found(call, message, edits)


def _is_kept(file: File, node: ast.expr) -> bool:
    """Return whether `fit` takes all batches of an argument as it is."""
    if isinstance(node, ast.Name):
        value = file.tree.value_of(node)
        if value is not None:
            return _is_kept(file, value)
    if isinstance(node, ast.Tuple | ast.List | ast.Constant):
        return True
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
        if file.names.path(node.func) == "legacy_numerics.all_batches":
            return True
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("flow", "flow_from_directory"):
            return True
    return file.kinds.of(node) == SEQUENCE


def _sequence(file: File, class_: ast.ClassDef) -> Findings:
    """A Sequence of today wants its own `__init__` to be called, and is named `PyDataset`."""
    base = next((base for base in class_.bases if file.names.target(base) == "keras.utils.Sequence"), None)
    if base is None:
        return
    edits: list[Edit] = []
    name = "PyDataset"
    if isinstance(base, ast.Name) and base.id == "Sequence" and not file.tree.root.find(name):
        bindings = file.tree.scopes[base].find(base.id)
        alias = bindings[0].node if len(bindings) == 1 else None
        if isinstance(alias, ast.alias) and alias.name == "Sequence" and alias.asname is None:
            edits.append(Edit(file.source.start(alias), file.source.end(alias), name))
            for node in file.tree.names:
                if node.id == "Sequence" and file.tree.scopes[node].find(node.id) == bindings:
                    edits.append(file.replace(node, name))
    elif isinstance(base, ast.Attribute):
        edits.append(Edit(file.source.end(base) - len("Sequence"), file.source.end(base), name))
    init = next((one for one in class_.body if isinstance(one, ast.FunctionDef) and one.name == "__init__"), None)
    if init is not None and not any(isinstance(node, ast.Name) and node.id == "super" for node in ast.walk(init)):
        first = init.body[0]
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and len(init.body) > 1:
            first = init.body[1]
        start = file.source.start(first)
        indent = file.source.before(start)
        if not indent.strip():
            edits.append(Edit(start, start, f"super().__init__(){file.source.newline}{indent}"))
    if edits:
        yield file.found(base, "A `Sequence` is now a `keras.utils.PyDataset`.", edits)
