"""`TimeDistributed` gives the layer inside all time steps as one batch, as Keras 2 did.

Keras 3 calls it once for each step: a `BatchNormalization` in it normalizes each step by itself, and training stops at
sequences of another length.

```diff
-from keras.layers import BatchNormalization, TimeDistributed
-from keras.layers.core import Dense
+from keras.layers import BatchNormalization
+from parallel_compat.legacy.time_distributed import TimeDistributed
+from keras.layers import Dense
 x = TimeDistributed(BatchNormalization())(x)
```
"""

from __future__ import annotations

from parallel_compat.migrate.file import File, Findings

_TARGET = "parallel_compat.legacy.time_distributed.TimeDistributed"


def find(file: File) -> Findings:
    message = f"`TimeDistributed` of all steps at once is `{_TARGET}`; Keras 3 calls its layer for each."
    for call in file.calls_by_target.get("keras.layers.TimeDistributed", ()):
        if file.old:
            yield file.redirected(call.func, _TARGET, message)
        else:
            yield file.found(call, message, file.replaced_by(_TARGET, call.func), hint=True)
