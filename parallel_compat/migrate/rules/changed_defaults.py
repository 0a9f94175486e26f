"""Defaults that changed silently: learning rates, the gates of `LSTM` and `GRU`, pool sizes.

Code that relied on a default of Keras 2.2.4 has other results today. The rule writes the old value if the call is
certainly old (it passes `lr` or `decay`, or `--era` is given), and with `--unsafe` otherwise. `AveragePooling2D`
without `pool_size` is an error today, so this value is always written. The imports of the file decide which defaults
are old. A name of such an optimizer that may reach `compile` through a variable is reported.

```diff
 from keras.layers import AveragePooling2D
 from keras.optimizers import Adadelta
-from keras.utils import multi_gpu_model
-x = AveragePooling2D()(x)
-optimizer = Adadelta()
+from parallel_compat import multi_gpu_model
+x = AveragePooling2D(pool_size=(2, 2))(x)
+optimizer = Adadelta(learning_rate=1.0)
```
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from parallel_compat.migrate import calls
from parallel_compat.migrate.edits import Edit
from parallel_compat.migrate.file import File, Findings
from parallel_compat.migrate.scopes import methods_of
from parallel_compat.names.class_versions import era_of_path
from parallel_compat.names.defaults import defaults, of_era, optimizers_by_name
from parallel_compat.names.eras import Era
from parallel_compat.names.native import NUMERICS
from parallel_compat.names.table import Default

_REQUIRED = "(required)"


def find(file: File) -> Findings:
    for target, rows in defaults().items():
        found = (call for each in (target, *_stand_ins(target)) for call in file.calls_by_target.get(each, ()))
        for call in (*found, *_of_own_classes(file, target)):
            era = era_of_path(file.names.path(call.func) or "") or file.era_of_call(call)
            missing = [row for row in rows if era in row.before and not _given(call, row)]
            if missing:
                yield from _written_out(file, call, missing, era)
    yield from _named_optimizers(file)


def _stand_ins(target: str) -> tuple[str, ...]:
    """Return what safe rewrites have made of an optimizer before an unsafe one is asked for."""
    package, _, name = target.rpartition(".")
    of_optimizers = package == "keras.optimizers"
    return (f"parallel_compat.legacy.optimizers.{name}", f"{NUMERICS}.{name}") if of_optimizers else ()


def _of_own_classes(file: File, target: str) -> Iterator[ast.Call]:
    """Yield the calls of classes that are derived from one, and have its `__init__`: `class Own(LSTM)`."""
    for class_ in file.tree.classes:
        if target in file.bases_of(class_) and "__init__" not in methods_of(class_):
            yield from file.calls_of_class(class_)


def _given(call: ast.Call, row: Default) -> bool:
    names = (row.argument, *row.old_names, *row.modern)
    if calls.has_stars(call) or any(calls.keyword(call, name) is not None for name in names):
        return True
    return row.position is not None and len(call.args) > row.position


def _written_out(file: File, call: ast.Call, rows: list[Default], era: Era) -> Findings:
    arguments: list[str] = []
    imports: list[Edit] = []
    messages: list[str] = []
    for row in rows:
        old = value = row.before[era]
        if value.startswith("parallel_compat."):
            spelled = file.reference(value, call)
            if spelled is None:
                return
            value, edits = spelled
            imports += edits
        arguments.append(f"{row.argument}={value}")
        was = f'"{old.rpartition(".")[2]}"' if old.startswith("parallel_compat.") else old
        messages.append(f"`{row.argument}` was {was} by default, and is {row.today} today. {row.note}")
    name = rows[0].of.rpartition(".")[2]
    of_old_optimizers = any(calls.keyword(call, name) is not None for name in ("lr", "decay"))
    certain = all(row.today == _REQUIRED for row in rows) or of_old_optimizers
    message = f"`{name}`: " + " ".join(messages)
    edit = calls.append(file, call, ", ".join(arguments))
    if certain:
        yield file.found(call, message, [edit, *imports])
        return
    yield file.found_in_old_code(call, message.rstrip(), [edit, *imports], "today's default")


def _named_optimizers(file: File) -> Findings:
    """`compile(optimizer='adadelta')`, and names that may get there: `def build(optimizer='adadelta')`."""
    given = list(_given_optimizers(file))
    for node in given:
        class_, old = _by_name(file, node)
        spelled = file.reference(f"keras.optimizers.{class_}", node) if old else None
        if isinstance(node, ast.Constant) and spelled is not None:
            edits = [file.replace(node, f"{spelled[0]}({_spelled(old)})"), *spelled[1]]
            yield file.found_in_old_code(node, _meant(node, class_, old), edits, "today's defaults")
    if not any(isinstance(node, ast.Name | ast.Attribute | ast.Subscript) for node in given):
        return
    for node in file.tree.strings:
        class_, old = _by_name(file, node)
        if old and node not in given and not _chooses(file, node):
            message = f"{_meant(node, class_, old)} If `compile` gets this name, pass that optimizer instead."
            yield file.attention(node, message, hint=not file.old)


def _given_optimizers(file: File) -> Iterator[ast.expr]:
    for call in (*file.method_calls.get("compile", ()), *file.calls_by_target.get("keras.optimizers.get", ())):
        optimizer = calls.argument(call, "optimizer", 0)
        if optimizer is not None:
            yield optimizer


def _by_name(file: File, node: ast.expr) -> tuple[str, dict[str, str]]:
    """Return the class that a string names as an optimizer, and what its defaults were where they changed."""
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or file.era is None:
        return "", {}
    class_ = optimizers_by_name().get(node.value.lower(), "")
    return class_, of_era(f"keras.optimizers.{class_}", file.era) if class_ else {}


def _meant(node: ast.Constant, class_: str, old: dict[str, str]) -> str:
    return f"`{node.value!s}` meant {class_}({_spelled(old)}); the defaults changed."


def _spelled(old: dict[str, str]) -> str:
    return ", ".join(f"{argument}={value}" for argument, value in old.items())


def _chooses(file: File, node: ast.Constant) -> bool:
    """Return whether a string is compared with, or stands before a colon: the file has what is to be done by name."""
    around = [(each, file.tree.parents[each]) for each in file.tree.strings if each.value == node.value]
    return any(
        isinstance(above, ast.Compare) or (isinstance(above, ast.Dict) and each in above.keys) for each, above in around
    )
