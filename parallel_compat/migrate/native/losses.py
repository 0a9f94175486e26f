"""Short names of losses (`'mse'`) become long ones in projects that load models: Keras 3 cannot read its own `.h5` else.

A model that is compiled with `loss='mse'` and saved as `.h5` cannot be loaded: "Could not deserialize 'keras.metrics.mse'".
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from parallel_compat.migrate import calls
from parallel_compat.migrate.native.differences import texts_around

if TYPE_CHECKING:
    from collections.abc import Iterator

    from parallel_compat.migrate.file import File
    from parallel_compat.migrate.findings import Finding

RULE = "native-losses"
SAFE = True
BEFORE = """\
from keras.models import Sequential, load_model
model = Sequential()
model.compile('sgd', 'mse')
model.fit_generator(batches)
model = load_model('model.h5')
"""
AFTER = """\
from keras.models import Sequential, load_model
from legacy_numerics import all_batches
model = Sequential()
model.compile('sgd', 'mean_squared_error')
model.fit(all_batches(batches))
model = load_model('model.h5')
"""

_LONG = {
    "mse": "mean_squared_error",
    "mae": "mean_absolute_error",
    "mape": "mean_absolute_percentage_error",
    "msle": "mean_squared_logarithmic_error",
    "kld": "kl_divergence",
}
_LOADS = re.compile(r"\bload_model\b")


def find(file: File) -> Iterator[Finding]:
    """Find short names of losses in calls of `compile`."""
    if not file.old or not any(_LOADS.search(text) for text in texts_around(file)):
        return
    for call in file.method_calls.get("compile", ()):
        keyword = calls.keyword(call, "loss")
        loss = keyword.value if keyword is not None else call.args[1] if len(call.args) > 1 else None
        values = loss.values if isinstance(loss, ast.Dict) else loss.elts if isinstance(loss, ast.List) else [loss]
        for node in values:
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.lower() in _LONG:
                long = _LONG[node.value.lower()]
                written = file.source.segment(node)
                message = f"A model with the loss `{node.value}` cannot be loaded from a `.h5` file of Keras 3."
                yield file.found(RULE, node, message, [file.replace(node, f"{written[0]}{long}{written[-1]}")])
