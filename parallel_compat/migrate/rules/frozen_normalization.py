"""An import lets a frozen `BatchNormalization` normalize by the batch, as in Keras 2 and TensorFlow 1.

Keras 3 normalizes by the moving statistics: a GAN's generator then trains against another discriminator. The rule adds
the import to files that freeze layers, if the project has a `BatchNormalization`.

```diff
 from keras.applications import ResNet50
-from keras.layers.core import Dense
+import parallel_compat.legacy.frozen_normalization
+from keras.layers import Dense
 base = ResNet50()
 base.trainable = False
```
"""

from __future__ import annotations

import ast

from parallel_compat.migrate.file import File, Findings
from parallel_compat.migrate.project_facts import NORMALIZES
from parallel_compat.names.results import RESULTS

_MODULE = "parallel_compat.legacy.frozen_normalization"
(_ROW,) = (row for row in RESULTS if row.what == "`BatchNormalization` with `trainable = False`")


def find(file: File) -> Findings:
    """Find the first place that freezes a layer, or may do so, where the import is not there yet."""
    if not file.old or file.era not in _ROW.eras or not file.imports_keras:
        return
    if _MODULE in file.source.text or not (file.project.normalizes or NORMALIZES.search(file.source.text)):
        return
    flags = [each for each in file.tree.attributes if each.attr == "trainable" and isinstance(each.ctx, ast.Store)]
    given = [each for call in file.tree.calls for each in call.keywords if each.arg == "trainable"]
    values: list[tuple[ast.expr | ast.keyword, ast.expr | None]] = [(each, _value(file, each)) for each in flags]
    values += [(each, each.value) for each in given]
    for node, value in values:
        if not isinstance(value, ast.Constant) or value.value is not True:
            message = f"A frozen `BatchNormalization` trains as in Keras 2, where `{_MODULE}` is imported."
            yield file.found(node, message, [file.import_after(f"import {_MODULE}")])
            return


def _value(file: File, target: ast.Attribute) -> ast.expr | None:
    statement = file.tree.parents[target]
    return statement.value if isinstance(statement, ast.Assign) else None
