"""`acc` and `val_acc` become `accuracy` and `val_accuracy` in monitors, histories, logs and checkpoint names.

Keras 2.2 logged `metrics=["accuracy"]` as `acc`, and as `main_acc` for an output `main` of several. Keras 3 logs the
name that was passed, also `mae` where Keras 2.2 logged `mean_absolute_error`. The rewrite is safe in a file that
compiles with "accuracy", and not needed in one that compiles with "acc". A file without `compile` follows the other
migrated files. If those do not decide it, the rewrite is a guess.

```diff
 from keras.callbacks import EarlyStopping
 model.compile('adam', 'mse', metrics=['accuracy'])
-history = model.fit(x, y, callbacks=[EarlyStopping(monitor='val_acc')])
-print(history.history['acc'])
+history = model.fit(x, y, callbacks=[EarlyStopping(monitor='val_accuracy')])
+print(history.history['accuracy'])
```
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from typing import TypeGuard

from parallel_compat.migrate import calls
from parallel_compat.migrate.edits import Edit
from parallel_compat.migrate.file import File, Findings
from parallel_compat.migrate.findings import Finding
from parallel_compat.migrate.literals import text_of
from parallel_compat.migrate.project_facts import spellings_of_accuracy
from parallel_compat.migrate.scopes import Binding
from parallel_compat.names.identifiers import SHORT_FUNCTIONS, identifiers

_MONITORS = {
    "keras.callbacks.ModelCheckpoint": 1,
    "keras.callbacks.EarlyStopping": 0,
    "keras.callbacks.ReduceLROnPlateau": 0,
    "legacy_numerics.ModelCheckpoint": 1,
    "parallel_compat.legacy.callbacks.ModelCheckpoint": 1,
    "parallel_compat.legacy.callbacks.AltModelCheckpoint": 2,
    "parallel_compat.ParallelModelCheckpoint": 2,
}
_GUESSED = "in something named like a history"  # an argument, say
_GUESS = "is it the history of a training?"
_WEIGHTED = re.compile(r"(?:val_)?(weighted_)(\w+)")
_FIELD = re.compile(r"(?<!\{)\{((?:val_)?(?:\w+_)?acc)(?=[:}!])")


def find(file: File) -> Findings:
    yield from _weighted(file)
    metrics = spellings_of_accuracy(file.tree) or file.project.accuracy
    for node, where in _names(file):
        old, spelled = node.value, _spelled_around(file, node, metrics)
        assert isinstance(old, str)
        is_accuracy = old.endswith("acc")
        if is_accuracy and spelled == {"acc"}:
            continue
        start = file.source.start(node)
        inner, new = file.source.text.find(old, start, file.source.end(node)), _name_now(file, old)
        if inner < 0 or new is None:
            continue
        edits = [Edit(inner, inner + len(old), new)]
        if is_accuracy:
            yield _found(file, node, where, old, new, edits, spelled)
        else:
            message = f"`{old}` {where} is `{new}`: Keras 3 logs a metric under the string that was passed."
            yield file.found(node, message, edits, unsafe=_GUESS if where == _GUESSED else False)
    for node in _file_names(file) if metrics != {"acc"} else ():
        segment = file.source.segment(node)
        start = file.source.start(node)
        edits = [
            Edit(start + match.start(1), start + match.end(1), new)
            for match in _FIELD.finditer(segment)
            if (new := _name_now(file, match.group(1))) is not None
        ]
        spelled = _spelled_around(file, node, metrics)
        if edits and spelled != {"acc"}:
            yield _found(file, node, "in the file's name", "acc", "accuracy", edits, spelled)


def _weighted(file: File) -> Findings:
    """Find `val_weighted_acc`: Keras 3 logs a weighted metric under the name that was passed."""
    weighted, plain = (_passed(file, argument) for argument in ("weighted_metrics", "metrics"))
    for node in file.tree.strings:
        logged = text_of(node)
        match = _WEIGHTED.fullmatch(logged) if logged is not None and weighted else None
        if logged is None or match is None:
            continue
        old = match.group(2)
        new = old if old in weighted else "accuracy" if old == "acc" and "accuracy" in weighted else None
        start = file.source.text.find(logged, file.source.start(node), file.source.end(node))
        message = f"Keras 3 logs weighted metrics under the name that was passed, not as `{logged}`."
        if new is None or new in plain or start < 0:
            yield file.attention(node, message, hint=not file.old)
        else:
            edit = Edit(start + match.start(1), start + match.end(), new)
            yield file.found(node, message, [edit], hint=not file.old)


def _passed(file: File, argument: str) -> set[str]:
    """Return the strings that models of a file are compiled with as an argument."""
    position = 2 if argument == "metrics" else None
    given = [calls.argument(call, argument, position) for call in file.method_calls.get("compile", ())]
    values = [file.tree.resolved(value) for value in given if value is not None]
    return {name for value in values if value for each in ast.walk(value) if (name := text_of(each)) is not None}


def _spelled_around(file: File, node: ast.expr, everywhere: AbstractSet[str]) -> AbstractSet[str]:
    """Return how the models are compiled that a name is read of: in the same function, if one is compiled there."""
    around = file.tree.enclosing_function(node)
    here = spellings_of_accuracy(file.tree, around) if around is not None else None
    return here or everywhere


def _found(
    file: File, node: ast.expr, where: str, old: str, new: str, edits: list[Edit], spelled: AbstractSet[str]
) -> Finding:
    message = f"`{old}` {where} is `{new}` if the model is compiled with `accuracy`."
    if {"acc", "accuracy"} <= spelled:
        return file.attention(node, f"{message} Models here are compiled with `acc` and with `accuracy`.")
    certain = spelled == {"accuracy"}
    guess = _GUESS if where == _GUESSED else ""
    return file.found(node, message, edits, unsafe=guess if certain else "no file shows which of them is logged.")


def _names(file: File) -> Iterator[tuple[ast.Constant, str]]:
    for target, position in _MONITORS.items():
        for call in file.calls_by_target.get(target, ()):
            value = call.args[position] if len(call.args) > position else None
            if _is_old(value, file):
                yield value, "as `monitor`"
    for call in file.tree.calls:  # of the project's own callbacks as well
        monitor = calls.keyword(call, "monitor")
        if monitor is not None and _is_old(monitor.value, file):
            yield monitor.value, "as `monitor`"
    for node in file.tree.subscripts:
        if _is_old(node.slice, file) and (where := _where(file, node.value)):
            yield node.slice, where
    for call in file.method_calls.get("get", ()):
        if call.args and _is_old(call.args[0], file) and (where := _where(file, calls.receiver(call))):
            yield call.args[0], where


def _where(file: File, owner: ast.expr) -> str | None:
    """Say what the name is looked up in: a history, a name that is bound to one, or the logs of a callback."""
    if _is_history(owner):
        return "in a history"
    if not isinstance(owner, ast.Name):
        return None
    bindings = file.tree.bindings(owner)
    if owner.id == "logs" or any(_is_logs(file, binding) for binding in bindings):
        return "in logs"
    if any(_is_history(binding.value) for binding in bindings):
        return "in a history"
    return _GUESSED if "hist" in owner.id and bindings else None


def _is_logs(file: File, binding: Binding) -> bool:
    """Return whether it is the last argument of `def on_epoch_end(self, epoch, l)` or `on_epoch_end=lambda e, l: 0`."""
    function = binding.scope.node
    if not isinstance(function, ast.FunctionDef | ast.Lambda) or binding.node not in function.args.args[-1:]:
        return False
    name = function.name if isinstance(function, ast.FunctionDef) else getattr(file.tree.parents[function], "arg", None)
    return isinstance(name, str) and name.startswith("on_") and name.endswith(("_end", "_begin"))


def _is_history(node: ast.expr | None) -> bool:
    """Return whether it is `result.history`, or made of one: `pd.DataFrame(result.history)`."""
    if isinstance(node, ast.Call) and len(node.args) == 1:
        node = node.args[0]
    return isinstance(node, ast.Attribute) and node.attr == "history"


def _is_old(node: ast.expr | None, file: File) -> TypeGuard[ast.Constant]:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and _name_now(file, node.value) is not None


def _name_now(file: File, logged: str) -> str | None:
    """Return what Keras 3 logs a name of a metric as, also that of a layer of the file; None for another name."""
    known = identifiers()["log"].get(logged)
    if known is not None:
        return known.new
    if logged.endswith("_acc") and _is_of_layer(file, logged.removesuffix("_acc")):
        return logged.removesuffix("acc") + "accuracy"
    for short, full in SHORT_FUNCTIONS.items():
        of = logged.removesuffix(full).rstrip("_")
        if logged.endswith(full) and (of in ("", "val") or _is_of_layer(file, of)):
            passed = _passed(file, "metrics")
            return logged.removesuffix(full) + short if short in passed and full not in passed else None
    return None


def _is_of_layer(file: File, output: str) -> bool:
    """Return whether a log begins with the name of a layer of the file."""
    layer = output.removeprefix("val_")
    given = (calls.keyword(call, "name") for call in file.tree.calls)
    return any(name is not None and text_of(name.value) == layer for name in given)


def _file_names(file: File) -> Iterator[ast.Constant]:
    for target in _MONITORS:
        if not target.endswith("Checkpoint"):
            continue
        for call in file.calls_by_target.get(target, ()):
            path = file.tree.resolved(calls.argument(call, "filepath", 0))
            for part in ast.walk(path) if path is not None else ():
                in_f_string = isinstance(file.tree.parents.get(part), ast.JoinedStr)
                if isinstance(part, ast.Constant) and isinstance(part.value, str) and not in_f_string:
                    yield part
