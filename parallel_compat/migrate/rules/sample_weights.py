"""An import lets the weight of a sample count for all values of the sample, as in Keras 2.

Where an output has steps of time or pixels, Keras 3 multiplies its values by the weights of samples as numpy would. It
stops, or, with as many samples in a batch as steps, it takes the weights of other samples. So the rule adds the import
to files that give `sample_weight` and make such layers, or no layers at all.

```diff
 import keras
+import parallel_compat.legacy
 model = keras.models.Sequential([keras.layers.Conv1D(2, 3)])
-model.compile(keras.optimizers.SGD(lr=0.1), 'mse')
+model.compile(keras.optimizers.SGD(learning_rate=0.1), 'mse')
 model.fit(x, y, sample_weight=weights)
```
"""

from __future__ import annotations

import re

from parallel_compat.migrate import calls
from parallel_compat.migrate.file import File, Findings
from parallel_compat.migrate.literals import is_none
from parallel_compat.migrate.rules.symbolic_functions import imports_this_package
from parallel_compat.names.members import MODEL

_MODULE = "parallel_compat.legacy"
_FEW_AXES = re.compile(r"keras\.layers\.(?:\w*Dense|Dropout|Activation|Flatten|BatchNormalization|Input\w*)")


def find(file: File) -> Findings:
    """Find the first call with weights of samples, where no import of this package is there yet."""
    layers = [target for target in file.calls_by_target if target.startswith("keras.layers.")]
    has_axes = not all(map(_FEW_AXES.fullmatch, layers))
    if imports_this_package(file) or (layers and not has_axes):
        return
    for call, model in file.calls_on(MODEL, "fit", "evaluate", "train_on_batch", "test_on_batch"):
        weights = calls.keyword(call, "sample_weight")
        if weights is not None and not is_none(weights.value) and (has_axes or file.kinds.of(model) == MODEL):
            message = f"The weight of a sample counts for all its values as in Keras 2, where `{_MODULE}` is imported."
            yield file.found(weights, message, [file.import_after(f"import {_MODULE}")], hint=not file.old)
            return
