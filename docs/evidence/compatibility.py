"""Writes `docs/evidence/compatibility.md` from `docs/evidence/compatibility.json`.

python docs/evidence/compatibility.py           writes it
python docs/evidence/compatibility.py --check   ends with 1 if it is not what the data say
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

HERE = Path(__file__).resolve().parent
PAGE = HERE / "compatibility.md"

_BEGINNING = """# What runs

Written by `compatibility.py` from `compatibility.json`, which holds what was seen; a test compares them.

`run` runs the original of each era. Before that it computed on Keras 3 as the old Keras's did: what was counted then
and not again is marked as "counted before".

- [Facts of each era](#facts-of-each-era)
- [Random scripts](#random-scripts)
- [Examples of Keras 2.2.4](#examples-of-keras-224)
- [Public projects](#public-projects)
- [Suites of old libraries](#suites-of-old-libraries)
"""
_FACTS = """## Facts of each era

A fact is a number or a name that a real old stack was asked for: a default, a step of an optimizer, a loss, the names
and order of metrics. The scripts and the answers are in `tests/data/eras`. On two replicas each compiled model is a
parallel one, and only what towers compute alike is asked. Counted by `python -m tests.evidence.eras.count`.
"""
_RANDOM = """## Random scripts

Scripts that `tests/evidence/differential/random_scripts.py` makes of a seed, run on the real old stack and under `run`:
equal are those whose every number is the same within 1e-5 of the largest beside it, and every name. "Varies" are those
to which the real stack itself gives two answers. Counted by `python -m tests.evidence.differential.count`.
"""
_EXAMPLES = """## Examples of Keras 2.2.4

The scripts in `examples/` under `parallel-compat run`, on small data of the same form, with fewer epochs. Counted
before.
"""
_PROJECTS = """## Public projects

Each was given a few made-up samples in its own data format. "trains": it trained for a few steps to a file that was
written and read again. "run, counted before": under the former `parallel-compat run`, on Keras 3. "migrated": a copy
was rewritten by `migrate --write --unsafe` and run by plain Python, with Keras 3 on one CPU. The sources are as they
were, except for what the last column names and numbers of epochs and batches that a script holds; where a project has
no script with options, a few lines call its functions as its own documents do. The last column tells of both, and of
`run` as it was: an original finds keras_contrib and other old packages without `--also`.
"""
_SUITES = """## Suites of old libraries

The libraries' own tests, as they are: how many pass with TensorFlow 1.15.5 and Keras 2.2.4, or with the stack that a
row names, and how many of these passed under the pytest plugin, on one CPU. Counted before, and so are the reasons.
"""


_COLUMNS = ("project", "kind", "Keras", "what was run", "run, counted before", "migrated", "what stood in the way")


def page(data: dict[str, Any]) -> str:
    """Return the page in Markdown.

    Args:
        data: what `compatibility.json` holds.
    """
    facts = [tuple(each[part] for part in ("era", "one_device", "two_replicas", "other")) for each in data["facts"]]
    random = [
        (each["era"], each["which"], *(str(each[kind]) for kind in ("equal", "varies", "refused", "different")))
        for each in data["random_scripts"]["counts"]
    ]
    projects = [
        (
            f"[{one['name']}](https://github.com/{one['repository']}) at `{one['commit'][:7]}` ({one['date'][:4]})",
            one["kind"],
            one["keras"],
            one["tried"],
            one["run"],
            one["migrated"],
            one["in_the_way"],
        )
        for one in sorted(data["projects"], key=lambda one: (one["kind"], one["name"].lower()))
    ]
    return "\n".join(
        [
            _BEGINNING,
            _FACTS,
            *_table(("era", "equal on one device", "equal on two replicas", "which differ"), facts),
            "",
            _RANDOM,
            *_table(("era", "scripts", "equal", "varies", "refused by the real stack", "different"), random),
            "",
            *(f"- {era} {seed}: {known}." for era, seed, known in data["random_scripts"]["causes"]),
            "",
            _EXAMPLES,
            *_table(("scripts", "which", "result"), [tuple(each) for each in data["examples"]]),
            "",
            _PROJECTS,
            f"{_counted(projects)}\n",
            *_table(
                (
                    "project",
                    "kind",
                    "Keras",
                    "what was run",
                    "run, counted before",
                    "migrated",
                    "what stood in the way",
                ),
                projects,
            ),
            "",
            _SUITES,
            *_table(
                ("library", "pass with the real stack", "of them here, counted before"),
                [tuple(one) for one in data["suites"]],
            ),
            "",
        ]
    )


def _counted(projects: Sequence[tuple[str, ...]]) -> str:
    of_tf_keras = sum(row[2].startswith("tf.keras") for row in projects)
    ran, migrated = (sum(row[column] == "trains" for row in projects) for column in (4, 5))
    tried = sum(row[5] != "not tried" for row in projects)
    return (
        f"{len(projects)} projects, {of_tf_keras} of them with `tf.keras`: {ran} trained under the former `run`, "
        f"{migrated} of {tried} that were migrated train by plain Python."
    )


def _table(heading: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> list[str]:
    lines = (heading, ("---",) * len(heading), *rows)
    return [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines]


def main() -> int:
    """Write the page, or compare it."""
    text = page(json.loads((HERE / "compatibility.json").read_text(encoding="utf-8")))
    if "--check" in sys.argv[1:]:
        return int(not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text)
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
