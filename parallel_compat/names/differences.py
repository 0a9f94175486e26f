"""What `parallel-compat run` changes of an original, on purpose (`differences.tsv`); documentation is made of it."""

from __future__ import annotations

from typing import NamedTuple

from parallel_compat.names import tsv
from parallel_compat.names.eras import Era


class Difference(NamedTuple):
    """One difference to an original."""

    eras: tuple[Era, ...]
    what: str
    reason: str


DIFFERENCES = tuple(
    Difference(tuple(map(Era, eras.split())), what, reason) for eras, what, reason in tsv.rows("differences.tsv", 3)
)
