"""Arguments of callbacks: `ReduceLROnPlateau(epsilon=)`, `TensorBoard(batch_size=)`, `ModelCheckpoint(period=)`.

Keras 3 silently ignores the first and refuses the second. It reads a `period` in seventh position as `save_freq=1`, and
saves after every batch. `parallel_compat.legacy.callbacks` takes the arguments that have no replacement.

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

from parallel_compat.migrate import argument_edits
from parallel_compat.migrate.file import File
from parallel_compat.migrate.findings import Findings


def find(file: File) -> Findings:
    """Find calls of callbacks with old arguments."""
    for target, call in file.calls_under("keras.callbacks."):
        yield from argument_edits.rewrite(file, call, target, target.rpartition(".")[2])
