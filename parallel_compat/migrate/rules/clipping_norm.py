"""`clipnorm` becomes `global_clipnorm`: Keras 2.2.4 limited the norm of all gradients together.

In Keras 3 `clipnorm` limits the norm of each weight's gradient. The rule rewrites a call that is certainly old (it
passes `lr`), and others with `--unsafe`. tf.keras always limited each gradient, so its code does not change. Keras
2.2.4 accepted `clipvalue` together with `clipnorm`; Keras 3 accepts only one of them.

```diff
 from keras.optimizers import Adam
-from keras.utils import multi_gpu_model
-optimizer = Adam(clipnorm=1.0)
+from parallel_compat import multi_gpu_model
+optimizer = Adam(global_clipnorm=1.0)
```
"""

from __future__ import annotations

import ast

from parallel_compat.migrate import calls
from parallel_compat.migrate.file import File, Findings
from parallel_compat.names.arguments import NO_CLIPPING


def find(file: File) -> Findings:
    for target, call in file.calls_under("keras.optimizers.", "parallel_compat.legacy.optimizers."):
        name, norm = target.rpartition(".")[2], clips(call, "clipnorm")
        if norm is None:
            continue
        certain = calls.keyword(call, "lr") is not None
        if clips(call, "clipvalue"):
            message = (
                f"`{name}` takes one of `clipnorm` and `clipvalue` today; Keras 2 applied both, the norm first. "
                "Keep one of them."
            )
            yield file.attention(norm, message)
        elif file.era_of_call(call).is_standalone and calls.keyword(call, "global_clipnorm") is None:
            message = (
                f"`clipnorm` of `{name}` limited the norm of all gradients together; today it limits each "
                "weight's gradient: `global_clipnorm`."
            )
            edits = [calls.rename(file, norm, "global_clipnorm")]
            if certain:
                yield file.found(norm, message, edits)
            else:
                yield file.found_in_old_code(norm, message, edits, "each weight's")


def clips(call: ast.Call, argument: str) -> ast.keyword | None:
    """Return the argument of an optimizer, "clipnorm" or "clipvalue", if it clips."""
    given = calls.keyword(call, argument)
    return None if given is None or calls.constant(given.value) in NO_CLIPPING else given
