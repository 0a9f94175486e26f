"""`model.fit_generator(...)`, `evaluate_generator` and `predict_generator` become functions of this package.

They keep the old behaviour. Keras 3's `fit` loses batches of a Python generator, refuses generators that yield lists,
and does not take `workers`. In TensorFlow 1 `workers=0` read the batches of a Sequence in order; `shuffle=False` keeps
that. Keras 1's argument names become Keras 2's.

```diff
 from keras.models import Model
+from parallel_compat import fit_generator
 model = Model(x, y)
-model.fit_generator(batches(), steps_per_epoch=10, nb_epoch=3, workers=4)
+fit_generator(model, batches(), steps_per_epoch=10, epochs=3, workers=4)
```
"""

from __future__ import annotations

import ast

from parallel_compat.migrate import calls, methods
from parallel_compat.migrate.edits import AnyEdit
from parallel_compat.migrate.file import File, Findings
from parallel_compat.migrate.scopes import methods_of
from parallel_compat.names.generator_arguments import OF_SAMPLES, RENAMED
from parallel_compat.names.members import MODEL

_FLOWS = ("flow", "flow_from_directory", "flow_from_dataframe")
_IN_ORDER = "With `workers=0` batches of a Sequence came in order in TensorFlow 1: pass `shuffle=False`."


def find(file: File) -> Findings:
    for name in ("fit_generator", "evaluate_generator", "predict_generator"):
        row = methods.member(MODEL, name)
        for call, _ in file.calls_on(MODEL, name):
            of_samples = [keyword for keyword in call.keywords if keyword.arg in OF_SAMPLES]
            for keyword in of_samples:
                assert keyword.arg is not None
                message = (
                    f"`{keyword.arg}` counted samples in Keras 1, and Keras 2 took the same number for batches. "
                    f"Write `{OF_SAMPLES[keyword.arg]}=samples // batch_size`, and run this again."
                )
                yield file.attention(keyword, message)
            if of_samples:
                continue
            renames = tuple(
                calls.rename(file, keyword, RENAMED[keyword.arg]) for keyword in call.keywords if keyword.arg in RENAMED
            )
            in_order = _in_order(file, call) if name == "fit_generator" else ()
            if in_order and calls.has_stars(call):
                yield file.attention(call, _IN_ORDER)
                in_order = ()
            elif in_order and _may_iterate_again(file):
                message = (
                    "With `workers=0` Keras on TensorFlow 1 did not call `on_epoch_end` of a Sequence; "
                    "`parallel_compat.fit_generator` does. If it shuffles, the batches differ."
                )
                yield file.attention(call, message)
            yield from methods.to_function(file, call, row, more=(*renames, *in_order))
    for call in file.calls_by_target.get("parallel_compat.fit_generator", ()):
        if calls.has_stars(call) and _in_order(file, call):
            yield file.attention(call, _IN_ORDER)


def _in_order(file: File, call: ast.Call) -> tuple[AnyEdit, ...]:
    """Say that batches come in order, as those of a Sequence did in TensorFlow 1 where nobody but `fit` drew them."""
    if calls.constant(calls.argument(call, "workers")) != 0 or not file.era_of_call(call).has_graphs:
        return ()
    if calls.keyword(call, "shuffle") is not None:
        return ()
    return (calls.append(file, call, "shuffle=False"),)


def _may_iterate_again(file: File) -> bool:
    """Return whether the file has Sequences of its own with `on_epoch_end`, or pictures that are shuffled."""
    if any("on_epoch_end" in methods_of(class_) and not _is_callback(file, class_) for class_ in file.tree.classes):
        return True
    flows = (call for name in _FLOWS for call in file.method_calls.get(name, ()))
    return any(calls.constant(calls.argument(call, "shuffle")) is not False for call in flows)


def _is_callback(file: File, class_: ast.ClassDef) -> bool:
    return any(base.startswith("keras.callbacks.") for base in file.bases_of(class_))
