"""What Keras 2.2.4 and Keras 3 compute differently, and which of the two `migrate` and `recover` give.

The facts are in `results.tsv`, those of the parallel model in `parallel_model.tsv`; `docs/reference/differences.md` and
the HTML reports are made of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from parallel_compat.names import tsv
from parallel_compat.names.eras import Era

THEN, TODAY = "as before", "**as Keras 3**"


class Result(NamedTuple):
    """One thing that is computed differently."""

    what: str  # what it is
    keras_2: str  # what Keras 2.2.4 computed
    keras_3: str  # what Keras 3 computes
    migrate: str  # what a rewritten source gives
    recover: str  # what a recovered model gives in Keras 3
    # Those that computed it as Keras 2.2.4 did; the others had what Keras 3 has, or something else yet.
    eras: frozenset[Era]
    words: str  # a regular expression for the sources that it concerns
    stand_in: str  # what computes as Keras 2.2.4, where `migrate` does not write it by itself; or ""


def _eras(cell: str) -> frozenset[Era]:
    return frozenset(Era) - {Era.TODAY} if cell == "all" else frozenset(map(Era, cell.split()))


RESULTS = tuple(
    Result(what, keras_2, keras_3, migrate, recover, _eras(eras), words, stand_in)
    for what, keras_2, keras_3, migrate, recover, eras, words, stand_in in tsv.rows("results.tsv", 8)
)


class Difference(NamedTuple):
    """One thing that `parallel-compat run` changes of an original, on purpose."""

    eras: tuple[Era, ...]
    what: str
    reason: str


DIFFERENCES = tuple(
    Difference(tuple(map(Era, eras.split())), what, reason) for eras, what, reason in tsv.rows("differences.tsv", 3)
)

# What the parallel model does differently from the function of Keras 2: what, there, here.
PARALLEL_MODEL = tsv.rows("parallel_model.tsv", 3)


def differing(sources: Iterable[tuple[Era | None, str]], tool: str) -> list[tuple[str, str, str, str]]:
    """Return the results that a tool changes and that sources may depend on, by the words in the sources.

    Args:
        tool: "run", "migrate" or "recover".

    Returns:
        What it is, as Keras 2.2.4 and the source's era have it, as Keras 3 has it, and what the tool gives.
    """
    texts: dict[Era | None, str] = {}
    for era, text in sources:
        texts[era] = f"{texts[era]}\n{text}" if era in texts else text
    return [
        (row.what, row.keras_2, row.keras_3, getattr(row, tool))
        for row in RESULTS
        if getattr(row, tool) != THEN
        and any((era is None or era in row.eras) and re.search(row.words, text) for era, text in texts.items())
    ]
