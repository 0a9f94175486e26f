"""`model.fit_generator(...)` and its relatives become functions of this package, which keep their old behaviour.

Keras 3's `fit` loses batches of a python generator, refuses generators that yield lists, and takes no `workers`;
`parallel_compat.fit_generator` is the old method. Keras 1's names of its arguments become Keras 2's.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from parallel_compat.migrate import calls, methods
from parallel_compat.names.generator_arguments import OF_SAMPLES, RENAMED
from parallel_compat.names.members import MODEL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from parallel_compat.migrate.file import File
    from parallel_compat.migrate.findings import Finding

RULE = "generator-methods"
SAFE = True
BEFORE = """\
from keras.models import Model
model = Model(x, y)
model.fit_generator(batches(), steps_per_epoch=10, nb_epoch=3, workers=4)
"""
AFTER = """\
from keras.models import Model
from parallel_compat import fit_generator
model = Model(x, y)
fit_generator(model, batches(), steps_per_epoch=10, epochs=3, workers=4)
"""


def find(file: File) -> Iterator[Finding]:
    """Find calls of the generator methods."""
    for name in ("fit_generator", "evaluate_generator", "predict_generator"):
        row = methods.member(MODEL, name)
        for call in file.method_calls.get(name, ()):
            assert isinstance(call.func, ast.Attribute)
            if methods.is_other(file, call.func.value, name, MODEL):
                continue
            of_samples = [keyword for keyword in call.keywords if keyword.arg in OF_SAMPLES]
            for keyword in of_samples:
                assert keyword.arg is not None
                message = (
                    f"`{keyword.arg}` counted samples in Keras 1, and Keras 2 took the same number for batches. "
                    f"Write `{OF_SAMPLES[keyword.arg]}=samples // batch_size`, and run this again."
                )
                yield file.attention(RULE, keyword, message)
            if of_samples:
                continue
            renames = tuple(
                calls.rename(file, keyword, RENAMED[keyword.arg]) for keyword in call.keywords if keyword.arg in RENAMED
            )
            yield from methods.to_function(file, RULE, call, row, more=renames)
