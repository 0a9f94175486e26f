"""Arguments of Keras functions: `l2(l=)`, `to_categorical(y=)`, `load_img(grayscale=)`, the order in `plot_model`.

```diff
 from keras.regularizers import l2
-regularizer = l2(l=1e-4)
+regularizer = l2(l2=1e-4)
```
"""

from __future__ import annotations

from parallel_compat.migrate import argument_edits
from parallel_compat.migrate.file import File, Findings
from parallel_compat.names.arguments import arguments as rows
from parallel_compat.names.positions import has_positions

_OTHERS = ("keras.layers.", "keras.optimizers.", "keras.callbacks.", "keras.Model", "keras.Input")


def find(file: File) -> Findings:
    for target, found in file.calls_by_target.items():
        if target.startswith(_OTHERS) or (target not in rows() and not has_positions(target)):
            continue
        for call in found:
            yield from argument_edits.rewrite(file, call, target, target.rpartition(".")[2])
