"""Arguments of callbacks: `ReduceLROnPlateau(epsilon=)`, `TensorBoard(batch_size=)`, `ModelCheckpoint(period=)`.

Keras 3 silently ignores the first and refuses the second. It reads a `period` in seventh position as `save_freq=1`, and
saves after every batch. `parallel_compat.legacy.callbacks` takes the arguments that have no replacement. Without a
`mode`, Keras 2 minimized every metric without `acc` in its name. Keras 3 maximizes some of them, and stops at custom
metrics and those of one output. So the rule writes the mode out.

```diff
-from keras.callbacks import ModelCheckpoint, ReduceLROnPlateau
+from keras.callbacks import ReduceLROnPlateau
+from parallel_compat.legacy.callbacks import ModelCheckpoint
 save = ModelCheckpoint('model.keras', period=5)
-reduce = ReduceLROnPlateau(epsilon=1e-3)
+reduce = ReduceLROnPlateau(min_delta=1e-3)
```
"""

from __future__ import annotations

import ast
import re

from parallel_compat.migrate import argument_edits, calls
from parallel_compat.migrate.file import File, Findings
from parallel_compat.migrate.literals import text_of

# Logs of which Keras 3 knows the direction, and has the one of Keras 2.
_KNOWN = re.compile(r"(?:val_)?(?:loss|acc|accuracy)")
_MAXIMIZED = re.compile(r"auc|precision|recall|top_?k|iou|f1|fbeta|r2|sensitivity|specificity", re.IGNORECASE)
# The callbacks that compare, and where `monitor` stands; `mode` is the fourth after it.
_COMPARE = {"EarlyStopping": 0, "ReduceLROnPlateau": 0, "ModelCheckpoint": 1}


def find(file: File) -> Findings:
    for target, call in file.calls_under("keras.callbacks."):
        name = target.rpartition(".")[2]
        yield from argument_edits.rewrite(file, call, target, name)
        if name in _COMPARE and target == f"keras.callbacks.{name}":
            yield from _mode(file, call, name)


def _mode(file: File, call: ast.Call, name: str) -> Findings:
    position = _COMPARE[name]
    monitor = file.tree.resolved(calls.argument(call, "monitor", position))
    given = calls.argument(call, "mode", position + 4)
    log = text_of(monitor) if monitor is not None else None
    is_auto = given is None or text_of(given) == "auto"
    if log is None or not is_auto or _KNOWN.fullmatch(log) or calls.has_stars(call):
        return
    of_checkpoint = name == "ModelCheckpoint" and log.startswith("fmeasure")
    mode = "max" if "acc" in log or of_checkpoint else "min"
    message = f"`mode` was {mode!r} for `{log}`. Keras 3 has another one for some metrics, and stops at custom ones."
    edits = [calls.append(file, call, f"mode={mode!r}") if given is None else file.replace(given, repr(mode))]
    if mode == "min" and _MAXIMIZED.search(log):
        yield file.found_in_old_code(call, message, edits, "it maximized")
    else:
        yield file.found(call, message, edits, hint=not file.old)
