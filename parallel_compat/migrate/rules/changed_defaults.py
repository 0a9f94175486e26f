"""Defaults that changed silently: learning rates, the gates of `LSTM` and `GRU`, pool sizes.

Code that relied on a default of Keras 2.2.4 computes other numbers today. The old value is written out where the
call is certainly old (it passes `lr`), and with `--unsafe` elsewhere. A missing `pool_size` of `AveragePooling2D`
is an error today, so it is always written out. Code that imports Keras from TensorFlow never had these defaults.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from parallel_compat.migrate import calls
from parallel_compat.migrate.findings import Status
from parallel_compat.names.defaults import defaults

if TYPE_CHECKING:
    from collections.abc import Iterator

    from parallel_compat.migrate.edits import Edit
    from parallel_compat.migrate.file import File
    from parallel_compat.migrate.findings import Finding
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

# Where old code may have passed the argument by position.
_POSITIONS = {"learning_rate": 0, "pool_size": 0, "l1": 0, "l2": 1, "recurrent_activation": 2}
_CONVOLUTIONAL = {"recurrent_activation": 7}
_OLD_NAMES = {
    "learning_rate": ("lr",),
    "recurrent_activation": ("inner_activation",),
    "pool_size": ("pool_length",),
}
_REQUIRED = "(required)"
_STRINGS = {"adadelta": "Adadelta", "adagrad": "Adagrad", "adamax": "Adamax", "nadam": "Nadam"}


def find(file: File) -> Iterator[Finding]:
    """Find calls that rely on a changed default."""
    for target, rows in defaults().items():
        for call in file.calls_by_target.get(target, ()):
            path = file.names.path(call.func) or ""
            old_keras = path.startswith("keras.")
            missing = [row for row in rows if not _given(call, row) and (row.today == _REQUIRED or old_keras)]
            if missing:
                yield from _written_out(file, call, missing)
    yield from _named_optimizers(file)


def _given(call: ast.Call, row: Default) -> bool:
    names = (row.argument, *_OLD_NAMES.get(row.argument, ()), *row.modern)
    if calls.has_stars(call) or any(calls.keyword(call, name) is not None for name in names):
        return True
    positions = _CONVOLUTIONAL if "ConvLSTM" in row.of else _POSITIONS
    position = positions.get(row.argument)
    return position is not None and len(call.args) > position


def _written_out(file: File, call: ast.Call, rows: list[Default]) -> Iterator[Finding]:
    arguments: list[str] = []
    imports: list[Edit] = []
    messages: list[str] = []
    for row in rows:
        value = row.old
        if value.startswith("parallel_compat."):
            spelled = file.reference(value, call)
            if spelled is None:
                return
            value, edits = spelled
            imports += edits
        arguments.append(f"{row.argument}={value}")
        messages.append(f"`{row.argument}` was {row.old} by default, and is {row.today} today. {row.note}")
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
    if not file.imports_standalone_keras:
        return
    for call in file.method_calls.get("compile", ()):
        optimizer = calls.keyword(call, "optimizer")
        node = optimizer.value if optimizer else call.args[0] if call.args else None
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
            continue
        class_ = _STRINGS.get(node.value.lower())
        if class_ is None:
            continue
        rows = defaults()[f"keras.optimizers.{class_}"]
        spelled = file.reference(f"keras.optimizers.{class_}", node)
        if spelled is None:
            continue
        text, imports = spelled
        arguments = ", ".join(f"{row.argument}={row.old}" for row in rows)
        message = (
            f"`{node.value}` meant {class_}({arguments}); the defaults changed. "
            "(Unsafe: newer code means the defaults of today.)"
        )
        edits = [file.replace(node, f"{text}({arguments})"), *imports]
        yield file.found(RULE, node, message, edits, status=Status.UNSAFE, hint=not file.old)
