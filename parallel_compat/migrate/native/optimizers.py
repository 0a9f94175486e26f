"""Optimizers with `decay=` become Keras's own, with an `InverseTimeDecay` or, if the rate is set later, `with_decay`.

The schedule has the formula of Keras 2, lr / (1 + decay * iterations). In Keras callbacks cannot set the learning rate
of an optimizer with a schedule. So a file that has such callbacks, or imports callbacks from the project, gets
`with_decay`.

```diff
+import keras
 from keras.optimizers import SGD
 rate = 0.01
-sgd = SGD(lr=rate, decay=1e-6)
+sgd = SGD(learning_rate=keras.optimizers.schedules.InverseTimeDecay(rate, decay_steps=1, decay_rate=1e-6))
```
"""

from __future__ import annotations

import ast
import re

from parallel_compat.migrate import calls
from parallel_compat.migrate.edits import AnyEdit, Edit
from parallel_compat.migrate.file import File, Findings
from parallel_compat.migrate.native.differences import texts_around
from parallel_compat.migrate.native.spelling import retarget, spell

_CLASSES = "parallel_compat.legacy.optimizers."
_SETS_RATE = re.compile(r"ReduceLROnPlateau|LearningRateScheduler|\.lr\b|\.learning_rate\b")


def find(file: File) -> Findings:
    found: dict[str, list[ast.Call]] = {}
    for call in file.tree.calls:
        path = file.names.path(call.func) or ""
        if path.startswith(_CLASSES) and path[len(_CLASSES) :][:1].isupper():
            found.setdefault(path, []).append(call)
    rate_is_set = bool(found) and any(_SETS_RATE.search(text) for text in texts_around(file))
    for path, uses in found.items():
        name = path.rpartition(".")[2]
        target = f"keras.optimizers.{name}"
        stays = any(calls.has_stars(call) for call in uses)  # one name is of one place: where one stays, all do
        for call in uses:
            moved = None if stays else retarget(file, call.func, target)
            decay = calls.keyword(call, "decay")
            edits: list[AnyEdit] | None = []
            if moved is not None and decay is not None:
                edits = _wrapped(file, call, decay) if rate_is_set else _scheduled(file, call, decay, name)
            if moved is None or edits is None:
                message = f"`{name}` with unknown arguments: name them, and give a `decay` by"
                yield file.attention(call, f"{message} `keras.optimizers.schedules.InverseTimeDecay`.")
            else:
                kept = " `decay` keeps its effect." if decay is not None else ""
                yield file.found(call, f"`{name}` is now `{target}`.{kept}", [*edits, *moved])


def _wrapped(file: File, call: ast.Call, decay: ast.keyword) -> list[AnyEdit] | None:
    spelled = spell(file, "legacy_numerics.with_decay", call)
    if spelled is None:
        return None
    edits = file.around(call, f"{spelled[0]}(", f", {file.source.segment(decay.value)})")
    return [*edits, *calls.remove(file, call, decay), *spelled[1]]


def _scheduled(file: File, call: ast.Call, decay: ast.keyword, name: str) -> list[AnyEdit] | None:
    spelled = spell(file, "keras.optimizers.schedules.InverseTimeDecay", call)
    if spelled is None:
        return None
    text, imports = spelled
    value = calls.argument(call, "learning_rate", 0)
    after = f", decay_steps=1, decay_rate={file.source.segment(decay.value)})"
    if value is None:
        default = "0.01" if name == "SGD" else "0.001"
        start, end = file.source.start(decay), file.source.end(decay)
        return [Edit(start, end, f"learning_rate={text}({default}{after}"), *imports]
    return [*file.around(value, f"{text}(", after), *calls.remove(file, call, decay), *imports]
