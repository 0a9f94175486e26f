"""`clipnorm` of an optimizer limits the norm of each weight's gradient; Keras 2.2.4's limited that of all together.

Today that is `global_clipnorm`. It is written where the call is certainly old (it passes `lr`), and with `--unsafe`
elsewhere. tf.keras always meant each weight's, so its code stays. Keras 2.2.4 took `clipvalue` beside it; Keras 3
takes one of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from parallel_compat.migrate import calls
from parallel_compat.migrate.findings import Status
from parallel_compat.names.eras import Era

if TYPE_CHECKING:
    from collections.abc import Iterator

    from parallel_compat.migrate.file import File
    from parallel_compat.migrate.findings import Finding

RULE = "clipping-norm"
SAFE = False
BEFORE = """\
from keras.optimizers import Adam
from keras.utils import multi_gpu_model
optimizer = Adam(clipnorm=1.0)
"""
AFTER = """\
from keras.optimizers import Adam
from parallel_compat import multi_gpu_model
optimizer = Adam(global_clipnorm=1.0)
"""

_NO_CLIPPING = (0, None)


def find(file: File) -> Iterator[Finding]:
    """Find optimizers that clip by the norm."""
    for target, found in file.calls_by_target.items():
        if not target.startswith(("keras.optimizers.", "parallel_compat.legacy.optimizers.")):
            continue
        name = target.rpartition(".")[2]
        for call in found:
            norm, value = calls.keyword(call, "clipnorm"), calls.keyword(call, "clipvalue")
            if norm is None or calls.constant(norm.value) in _NO_CLIPPING:
                continue
            certain = calls.keyword(call, "lr") is not None
            path = file.names.path(call.func) or ""
            together = path.startswith("keras.") or file.era in (Era.KERAS_2_2_4, None)
            if value is not None and calls.constant(value.value) not in _NO_CLIPPING:
                message = (
                    f"`{name}` takes one of `clipnorm` and `clipvalue` today; then both were applied, the norm first. "
                    "Keep one of them."
                )
                yield file.attention(RULE, norm, message)
            elif together and calls.keyword(call, "global_clipnorm") is None:
                message = (
                    f"`clipnorm` of `{name}` limited the norm of all gradients together, and limits that of each "
                    "weight's gradient today: `global_clipnorm`."
                )
                if not certain:
                    message += " (Unsafe: newer code means each weight's.)"
                status = Status.REWRITTEN if certain else Status.UNSAFE
                edits = [calls.rename(file, norm, "global_clipnorm")]
                yield file.found(RULE, norm, message, edits, status=status, hint=not (certain or file.old))
