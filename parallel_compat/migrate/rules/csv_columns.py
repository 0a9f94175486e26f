"""`CSVLogger` writes columns `val_...` only if there is validation, as in Keras 2.

Keras 3's always writes these columns, with `NA` if there is no validation. Code that reads the file by column index
then reads other columns. The class in `parallel_compat.legacy.callbacks` writes what is logged. If every `fit` in the
file has validation data, nothing changes.

```diff
-from keras.callbacks import CSVLogger
-from keras.utils import multi_gpu_model
+from parallel_compat.legacy.callbacks import CSVLogger
+from parallel_compat import multi_gpu_model
 model = multi_gpu_model(template, 2)
 model.fit(x, y, callbacks=[CSVLogger('log.csv')])
```
"""

from __future__ import annotations

import ast

from parallel_compat.migrate import calls
from parallel_compat.migrate.file import File, Findings

_OF_KERAS = "keras.callbacks.CSVLogger"
_STAND_IN = "parallel_compat.legacy.callbacks.CSVLogger"
_VALIDATIONS = ("validation_data", "validation_split")


def find(file: File) -> Findings:
    trained = [each for name in ("fit", "fit_generator") for each in file.method_calls.get(name, ())]
    trained += file.calls_by_target.get("parallel_compat.fit_generator", ())
    if trained and all(_is_validated(call) for call in trained):
        return
    loggers: list[ast.expr] = [call.func for call in file.calls_by_target.get(_OF_KERAS, ())]
    loggers += [base for each in file.tree.classes for base in each.bases if file.names.target(base) == _OF_KERAS]
    for logger in loggers:
        message = f"`CSVLogger` of Keras 3 writes columns `val_...` also without validation; `{_STAND_IN}` does not."
        edits = file.replaced_by(_STAND_IN, logger)
        if edits is not None and file.old and file.redirect(logger, _STAND_IN):
            edits = []
        yield file.found(logger, message, edits, hint=not file.old)


def _is_validated(call: ast.Call) -> bool:
    given = (calls.argument(call, name) for name in _VALIDATIONS)
    return any(each is not None and calls.constant(each) not in (None, 0) for each in given)
