"""TensorFlow functions that changed under the same name come from `tf.compat.v1`, which has the old ones.

`tf.reduce_mean(x, keep_dims=True)` fails today. `tf.nn.dropout(x, 0.8)` silently drops 80 % where it kept 80 %.
`tf.where` with a vector as condition chooses columns where it chose rows.

```diff
 import tensorflow as tf
-mean = tf.reduce_mean(x, axis=1, keep_dims=True)
+mean = tf.compat.v1.reduce_mean(x, axis=1, keep_dims=True)
```
"""

from __future__ import annotations

from parallel_compat.migrate.file import File, Findings
from parallel_compat.names import table
from parallel_compat.names.eras import Era

_ARGUMENTS_OF_CHOICE = 3


def find(file: File) -> Findings:
    yield from _changed(file)
    signatures = table.tensorflow_1_signatures()
    for target, found in file.calls_by_target.items():
        if target not in signatures:
            continue
        agreeing, gone = signatures[target]
        old = "tensorflow.compat.v1" + target[len("tensorflow") :]
        for call in found:
            named = [keyword.arg for keyword in call.keywords if keyword.arg in gone]
            if named:
                why = f"`{target}` no longer takes `{named[0]}`"
            elif len(call.args) > agreeing and file.era is not Era.TF_KERAS_2_2:
                why = f"argument {agreeing + 1} of `{target}` had another meaning in TensorFlow 1"
            else:
                continue
            if not named and not file.old:
                yield file.attention(call, f"{why[0].upper()}{why[1:]}: name the arguments.", hint=True)
            else:
                yield file.redirected(call.func, old, f"{why[0].upper()}{why[1:]}; `{old}` takes it.")


def _changed(file: File) -> Findings:
    if not file.old or file.era is None or not file.era.has_graphs:
        return
    for target, new in table.tensorflow_1_changed().items():
        for call in file.calls_by_target.get(target, ()):
            if target == "tensorflow.where":
                if len(call.args) + len(call.keywords) < _ARGUMENTS_OF_CHOICE:
                    continue  # the indices of what holds, then as now
                why = "With a vector as condition `tf.where` chose rows; today it chooses columns"
            else:
                why = f"`{target}` returned something else in TensorFlow 1"
            yield file.redirected(call.func, new, f"{why}; `{new}` is the old function.")
