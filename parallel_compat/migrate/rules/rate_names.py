"""Callbacks log the learning rate as `lr` if the project reads that name from its logs.

`ReduceLROnPlateau` and `LearningRateScheduler` of Keras 3 log `learning_rate`. Those of
`parallel_compat.legacy.callbacks` log `lr`, as in Keras 2. Tables and files made from the history have the same names.
If `lr` is read from anything but logs or a history (`row["lr"]`), the rewrite is a guess.

```diff
-from keras.callbacks import LearningRateScheduler
+from parallel_compat.legacy.callbacks import LearningRateScheduler
 history = model.fit(x, y, callbacks=[LearningRateScheduler(schedule)])
 print(history.history['lr'])
```
"""

from __future__ import annotations

from parallel_compat.migrate.file import File, Findings
from parallel_compat.migrate.project_facts import readers_of_rate

_CALLBACKS = ("LearningRateScheduler", "ReduceLROnPlateau")


def find(file: File) -> Findings:
    readers = file.project.readers_of_rate | readers_of_rate(file.source.text)
    if not readers:
        return
    certain = "logs" in readers
    unsafe = not certain and "`lr` may be read from something else than logs."
    for name in _CALLBACKS:
        target = f"parallel_compat.legacy.callbacks.{name}"
        for call in file.calls_by_target.get(f"keras.callbacks.{name}", ()):
            message = f"`{name}` of Keras 3 logs `learning_rate`; `{target}` logs `lr`, which is read."
            edits = file.replaced_by(target, call.func)
            if edits is not None and certain and file.redirect(call.func, target):
                edits = []
            yield file.found(call, message, edits, unsafe=unsafe)
