"""`strategy.experimental_run_v2(step, args=(batch,))` becomes `strategy.run(step, args=(batch,))`.

```diff
 import tensorflow as tf

 strategy = tf.distribute.MirroredStrategy()
-losses = strategy.experimental_run_v2(train_step, args=(batch,))
+losses = strategy.run(train_step, args=(batch,))
```
"""

from __future__ import annotations

import ast

from parallel_compat.migrate.edits import Edit
from parallel_compat.migrate.file import File, Findings

_OLD, _NEW = "experimental_run_v2", "run"


def find(file: File) -> Findings:
    """Find the method by its name, which no other object had."""
    for call in file.method_calls.get(_OLD, ()):
        func = call.func
        assert isinstance(func, ast.Attribute)
        end = file.source.end(func)
        message = f"`strategy.{_OLD}` is `strategy.{_NEW}` since TensorFlow 2.2."
        yield file.found(func, message, [Edit(end - len(_OLD), end, _NEW)])
