"""Custom learning rate schedules get the step as a float, from a base class of this package.

tf.keras passed the step as a float. Keras 3 passes an integer, for which `0.5 * step` and `tf.math.rsqrt(step)` are
errors.
"""

from __future__ import annotations

from collections.abc import Iterator

from parallel_compat.migrate.file import File
from parallel_compat.migrate.findings import Finding

RULE = "schedule-bases"
SAFE = True
BEFORE = """\
import tensorflow as tf

class Warmup(tf.keras.optimizers.schedules.LearningRateSchedule):
    def __call__(self, step):
        return tf.math.rsqrt(step)
"""
AFTER = """\
import tensorflow as tf
from parallel_compat.legacy.schedules import LearningRateSchedule

class Warmup(LearningRateSchedule):
    def __call__(self, step):
        return tf.math.rsqrt(step)
"""

_TARGET = "parallel_compat.legacy.schedules.LearningRateSchedule"


def find(file: File) -> Iterator[Finding]:
    """Find such classes."""
    for class_ in file.tree.classes:
        for base in class_.bases:
            if file.names.target(base) != "keras.optimizers.schedules.LearningRateSchedule":
                continue
            message = f"`{class_.name}` got the step as a float; Keras 3 gives an integer."
            if file.redirect(base, _TARGET):
                yield file.found(RULE, base, message)
            else:
                yield file.attention(RULE, base, f"{message} Let it derive from `{_TARGET}`.")
