"""Imports and dotted names of old Keras and TensorFlow 1 become today's names.

A name that moved is imported from its new module. A name that Keras dropped and this package provides is imported from
`parallel_compat`. The rest of the source keeps the name. A name without a replacement is reported with advice.

```diff
-from keras import backend as K
-from keras.layers.core import Dense
-from keras.utils import multi_gpu_model, to_categorical
+from parallel_compat.legacy import backend as K
+from keras.layers import Dense
+from keras.utils import to_categorical
+from parallel_compat import multi_gpu_model
```
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from parallel_compat.migrate import star_findings
from parallel_compat.migrate.binding_homes import BindingHomes
from parallel_compat.migrate.dotted_findings import DottedFindings
from parallel_compat.migrate.file import File, Findings
from parallel_compat.migrate.import_findings import ImportFindings


def find(file: File) -> Findings:
    return _find(file, lambda offset: file.ignored("imports", offset))


def find_redirected(file: File) -> Findings:
    """Make only the edits that other rules need, if this rule itself does not run."""
    return _find(file, lambda offset: True)


def _find(file: File, skips: Callable[[int], bool]) -> Findings:
    homes = BindingHomes(file)
    statements, dotted = ImportFindings(homes, skips), DottedFindings(homes, skips)
    for statement in file.tree.imports:
        if isinstance(statement, ast.Import):
            yield from statements.of_import(statement)
        elif statement in file.tree.stars:
            yield from star_findings.of_statement(file, statement, skips)
        else:
            yield from statements.of_from(statement)
    for chain, bindings in homes.chains:
        yield from dotted.find(chain, bindings)
    yield from star_findings.of_names(file, skips)
