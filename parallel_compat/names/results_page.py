"""`docs/differences.md`, written from the tables of what differs."""

from __future__ import annotations

from parallel_compat.names.differences import DIFFERENCES
from parallel_compat.names.eras import Era
from parallel_compat.names.results import PARALLEL_MODEL, RESULTS

_BEGINNING = """# Results that differ

Written by `parallel-compat names --differences`; a test compares it. The other pages of the guide:
[patterns](../migration_guide.md), [rules of `migrate`](rules.md).

- [Keras 2.2.4 and Keras 3](#keras-224-and-keras-3)
- [The function of Keras 2 and this package](#the-function-of-keras-2-and-this-package)
- [What stays otherwise under `run`](#what-stays-otherwise-under-run)"""
_COLUMNS = """## Keras 2.2.4 and Keras 3

With the right names an old script runs; these change its results, on one device too. "As then" is Keras 2.2.4's, which
`run` gives to files that import `keras`; files that import `tensorflow.keras` get what TensorFlow 1.15 or 2.2 computed.
`migrate`: the rewritten source, in plain Keras 3. `recover`: the recovered model, in plain Keras 3. Write the old value
out where it matters. "Of" are the eras that computed it as Keras 2.2.4 did.
"""


def page() -> str:
    """Return the page in Markdown."""
    lines = [
        *_row("", "Keras 2.2.4", "Keras 3", "run", "migrate", "recover", "of", heading=True),
        *(line for one in RESULTS for line in _row(*one[:6], _eras(one.eras))),
    ]
    compared = [
        *_row("", "Keras 2", "here", heading=True),
        *(line for row in PARALLEL_MODEL for line in _row(*row)),
    ]
    stays = [
        *_row("of", "what differs", "why", heading=True),
        *(line for one in DIFFERENCES for line in _row(", ".join(era.value for era in one.eras), one.what, one.reason)),
    ]
    parts = [_BEGINNING, _COLUMNS, "\n".join(lines), "\n## The function of Keras 2 and this package\n"]
    parts += ["\n".join(compared), "\n## What stays otherwise under `run`\n"]
    parts += ["Compared with recorded results of the real stacks.\n", "\n".join(stays)]
    return "\n".join(parts) + "\n"


def _eras(eras: frozenset[Era]) -> str:
    of_then = [era for era in Era if era is not Era.TODAY]
    return "all" if eras.issuperset(of_then) else ", ".join(era.value for era in of_then if era in eras)


def _row(*cells: str, heading: bool = False) -> list[str]:
    row = f"| {' | '.join(cells)} |"
    return [row, "|" + "---|" * len(cells)] if heading else [row]
