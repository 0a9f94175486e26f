"""Custom learning rate schedules get the step as a float, from a base class of this package.

tf.keras passed the step as a float. Keras 3 passes an integer, for which `0.5 * step` and `tf.math.rsqrt(step)` are
errors.

```diff
 import tensorflow as tf
+from parallel_compat.legacy.schedules import LearningRateSchedule

-class Warmup(tf.keras.optimizers.schedules.LearningRateSchedule):
+class Warmup(LearningRateSchedule):
     def __call__(self, step):
         return tf.math.rsqrt(step)
```
"""

from __future__ import annotations

from parallel_compat.migrate.file import File, Findings

_TARGET = "parallel_compat.legacy.schedules.LearningRateSchedule"


def find(file: File) -> Findings:
    for class_ in file.tree.classes:
        for base in class_.bases:
            if file.names.target(base) != "keras.optimizers.schedules.LearningRateSchedule":
                continue
            message = f"`{class_.name}` got the step as a float; Keras 3 gives an integer."
            yield file.redirected(base, _TARGET, message, f"{message} Let it derive from `{_TARGET}`.")
