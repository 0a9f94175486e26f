"""`docs/reference/differences.md`, written from the tables of what differs."""

from __future__ import annotations

from parallel_compat.names.eras import Era
from parallel_compat.names.results import DIFFERENCES, PARALLEL_MODEL, RESULTS

_BEGINNING = """# Results that differ

`parallel-compat names --differences` writes this page; a test compares them. See also the
[guide](../../migration_guide.md) and the [rules of `migrate`](rules.md).

- [Keras 2.2.4 and Keras 3](#keras-224-and-keras-3)
- [The function of Keras 2 and this package](#the-function-of-keras-2-and-this-package)
- [What `run` changes](#what-run-changes)
"""
_COLUMNS = """## Keras 2.2.4 and Keras 3

These differences change results even after the names are fixed, on one device, too. If it matters, write the old value
in your source.

- `migrate`: the result of a rewritten source. `recover`: the result of a recovered model. "As before": the old result.
- "Applies to": the old versions that have this behaviour.
- `parallel-compat run` runs the old library itself; it has [its own list](#what-run-changes).
"""
_STAYS = """`run` runs the old library's own code on today's TensorFlow, Python and numpy. It changes this:
"""


def page() -> str:
    """Return the page in Markdown."""
    lines = [
        *_row("", "old", "Keras 3", "migrate", "recover", "applies to", heading=True),
        *(line for one in RESULTS for line in _row(*one[:5], _eras(one.eras))),
    ]
    compared = [*_row("", "Keras 2", "here", heading=True), *(line for row in PARALLEL_MODEL for line in _row(*row))]
    stays = [
        *_row("applies to", "what changes", "why", heading=True),
        *(line for one in DIFFERENCES for line in _row(", ".join(era.value for era in one.eras), one.what, one.reason)),
    ]
    parts = [_BEGINNING, _COLUMNS, "\n".join(lines), "\n## The function of Keras 2 and this package\n"]
    parts += ["\n".join(compared), "\n## What `run` changes\n"]
    parts += [_STAYS, "\n".join(stays)]
    return "\n".join(parts) + "\n"


def _eras(eras: frozenset[Era]) -> str:
    of_then = [era for era in Era if era is not Era.TODAY]
    return "all" if eras.issuperset(of_then) else ", ".join(era.value for era in of_then if era in eras)


def _row(*cells: str, heading: bool = False) -> list[str]:
    row = f"| {' | '.join(cells)} |"
    return [row, "|" + "---|" * len(cells)] if heading else [row]
