"""Defaults that changed silently: learning rates, the gates of `LSTM` and `GRU`, pool sizes.

Code that relied on a default of Keras 2.2.4 has other results today. The old value is written out where the
call is certainly old (it passes `lr`), and with `--unsafe` elsewhere. A missing `pool_size` of `AveragePooling2D`
is an error today, so it is always written out. Which values are old depends on the Keras that the file imports.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from parallel_compat.migrate import calls
from parallel_compat.migrate.findings import Status
from parallel_compat.names.class_versions import era_of_path
from parallel_compat.names.defaults import defaults, of_era, optimizers_by_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from parallel_compat.migrate.edits import Edit
    from parallel_compat.migrate.file import File
    from parallel_compat.migrate.findings import Finding
    from parallel_compat.names.eras import Era
    from parallel_compat.names.table import Default

RULE = "changed-defaults"
SAFE = False
BEFORE = """\
from keras.layers import AveragePooling2D
from keras.optimizers import Adadelta
from keras.utils import multi_gpu_model
x = AveragePooling2D()(x)
optimizer = Adadelta()
"""
AFTER = """\
from keras.layers import AveragePooling2D
from keras.optimizers import Adadelta
from parallel_compat import multi_gpu_model
x = AveragePooling2D(pool_size=(2, 2))(x)
optimizer = Adadelta(learning_rate=1.0)
"""

_REQUIRED = "(required)"


def find(file: File) -> Iterator[Finding]:
    """Find calls that rely on a changed default."""
    for target, rows in defaults().items():
        for call in file.calls_by_target.get(target, ()):
            era = era_of_path(file.names.path(call.func) or "") or file.era_of_call(call)
            missing = [row for row in rows if not _given(call, row) and row.was(era) is not None]
            if missing:
                yield from _written_out(file, call, missing, era)
    yield from _named_optimizers(file)


def _given(call: ast.Call, row: Default) -> bool:
    names = (row.argument, *row.old_names, *row.modern)
    if calls.has_stars(call) or any(calls.keyword(call, name) is not None for name in names):
        return True
    return row.position is not None and len(call.args) > row.position


def _written_out(file: File, call: ast.Call, rows: list[Default], era: Era) -> Iterator[Finding]:
    arguments: list[str] = []
    imports: list[Edit] = []
    messages: list[str] = []
    for row in rows:
        old = value = row.was(era)
        if old is None or value is None:
            continue
        if value.startswith("parallel_compat."):
            spelled = file.reference(value, call)
            if spelled is None:
                return
            value, edits = spelled
            imports += edits
        arguments.append(f"{row.argument}={value}")
        messages.append(f"`{row.argument}` was {old} by default, and is {row.today} today. {row.note}")
    name = rows[0].of.rpartition(".")[2]
    certain = all(row.today == _REQUIRED for row in rows) or calls.keyword(call, "lr") is not None
    message = f"`{name}`: " + " ".join(messages)
    edit = calls.append(file, call, ", ".join(arguments))
    if certain:
        yield file.found(RULE, call, message, [edit, *imports])
        return
    message += " (Unsafe: newer code means the default of today.)"
    yield file.found(RULE, call, message, [edit, *imports], status=Status.UNSAFE, hint=not file.old)


def _named_optimizers(file: File) -> Iterator[Finding]:
    """`compile(optimizer='adadelta')`."""
    era = file.era
    for call in file.method_calls.get("compile", ()):
        optimizer = calls.keyword(call, "optimizer")
        node = optimizer.value if optimizer else call.args[0] if call.args else None
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
            continue
        class_ = optimizers_by_name().get(node.value.lower())
        old = of_era(f"keras.optimizers.{class_}", era) if class_ is not None and era is not None else {}
        if not old:
            continue
        spelled = file.reference(f"keras.optimizers.{class_}", node)
        if spelled is None:
            continue
        text, imports = spelled
        arguments = ", ".join(f"{argument}={value}" for argument, value in old.items())
        message = (
            f"`{node.value}` meant {class_}({arguments}); the defaults changed. "
            "(Unsafe: newer code means the defaults of today.)"
        )
        edits = [file.replace(node, f"{text}({arguments})"), *imports]
        yield file.found(RULE, node, message, edits, status=Status.UNSAFE, hint=not file.old)
