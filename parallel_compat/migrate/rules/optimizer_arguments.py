"""Arguments of optimizers: `lr` becomes `learning_rate`, and `decay` keeps its effect.

Keras 3 refuses `lr`, ignores `decay`, and takes some positions for something else. An optimizer with a decay comes
from `parallel_compat.legacy.optimizers`, which applies lr / (1 + decay * iterations) as Keras 2 did; a decay of zero
is dropped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from parallel_compat.migrate import argument_edits, calls
from parallel_compat.names.arguments import arguments
from parallel_compat.names.positions import has_positions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from parallel_compat.migrate.file import File
    from parallel_compat.migrate.findings import Finding

RULE = "optimizer-arguments"
SAFE = True
BEFORE = """\
from keras.optimizers import SGD, Adam
sgd = SGD(lr=0.01, decay=1e-6, momentum=0.9)
adam = Adam(lr=1e-4, epsilon=None, decay=0.0)
"""
AFTER = """\
from keras.optimizers import Adam
from parallel_compat.legacy.optimizers import SGD
sgd = SGD(learning_rate=0.01, decay=1e-6, momentum=0.9)
adam = Adam(learning_rate=1e-4)
"""


def find(file: File) -> Iterator[Finding]:
    """Find calls of optimizers with old arguments."""
    for target, found in file.calls_by_target.items():
        if not target.startswith(("keras.optimizers.", "parallel_compat.legacy.optimizers.")):
            continue
        name = target.rpartition(".")[2]
        of = f"keras.optimizers.{name}"
        for call in found:
            if of in arguments() or has_positions(of):
                yield from argument_edits.rewrite(file, RULE, call, of, name)
            epsilon = calls.keyword(call, "epsilon")
            if epsilon is not None and calls.constant(epsilon.value) is None:
                message = f"`epsilon=None` of `{name}` meant the default; Keras 3 has a number there."
                yield file.found(RULE, epsilon, message, calls.remove(file, call, epsilon))
