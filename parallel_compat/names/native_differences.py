"""What Keras 3 under a `tf.distribute.MirroredStrategy` computes differently from `multi_gpu_model` did, with figures.

The facts are in `native_differences.tsv`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from parallel_compat.names import tsv

_OR_KEEP = "or keep `parallelize` for this model (`--keep parallel`)"

# No source matches it: that a loss is a function of the project's is read off the calls of `compile`.
OWN_LOSS = re.compile(r"(?!)")


class NativeDifference(NamedTuple):
    """One difference."""

    pattern: re.Pattern[str]  # the source of a model that it concerns
    method: tuple[str, ...]  # the methods of which it is said
    text: str  # what differs, by how much, and the choice


DIFFERENCES = tuple(
    NativeDifference(
        OWN_LOSS if pattern == "own loss" else re.compile(pattern),
        tuple(methods.split()),
        text.replace("{OR_KEEP}", _OR_KEEP),
    )
    for pattern, methods, text in tsv.rows("native_differences.tsv", 3)
)
