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

`compatibility.py` writes this page from `compatibility.json`; a test compares them.

`run` runs the old library's own code. An earlier version of `run` imitated old Keras on Keras 3. Figures of that
version are marked "counted before". A column "on the original" has what ran again with today's `run`.

- [Facts of each era](#facts-of-each-era)
- [Random scripts](#random-scripts)
- [Examples of Keras 2.2.4](#examples-of-keras-224)
- [Public projects](#public-projects)
- [Verdicts of `compare`](#verdicts-of-compare)
- [Other projects](#other-projects)
- [Suites of old libraries](#suites-of-old-libraries)
"""
_FACTS = """## Facts of each era

A fact is one recorded value of a real old stack: a default, an optimizer's step, a loss, the order of metrics. Scripts
and recorded values are in `tests/data/eras`. On two replicas each compiled model is a parallel one; facts that
differ between towers are left out. `python -m tests.evidence.eras.count` counts them.
"""
_RANDOM = """## Random scripts

`tests/evidence/differential/random_scripts.py` generates scripts from seeds. Each ran on the real old stack and under
`run`. Equal: all names are the same, and all numbers to 1e-5 of the largest value in their array. Rounding: the two
agree in double precision, or the real stack itself differs as much if the last bits of the first weights change.
Varies: the real stack itself gives different results in two runs. `python -m tests.evidence.differential.count` counts
them.
"""
_EXAMPLES = """## Examples of Keras 2.2.4

The scripts in Keras's `examples/` under `parallel-compat run`, with small data of the same shape and fewer epochs.
The last column says what ran on the original and what was counted before.
"""
_PROJECTS = """## Public projects

Each project got a few generated samples in its own data format.

- "trains": it trained for a few steps, wrote a file and read it again.
- "run, on the original": with today's `run` alone. An empty cell was not run again.
- "run, counted before": under the earlier version of `run`, which needed `--also` for old packages.
- "migrated": a copy, rewritten by `migrate --write --unsafe`, ran with plain Python and Keras 3 on one CPU.
  Only a cell with nothing but "trains" counts as training. Manual work (even if a message asks for it), parts that
  were not run, and differences are remarks in the cell; these cells are counted separately.
- The sources are unchanged, except for the numbers of epochs and batches and what the last column names. If a project
  has no script with options, a few lines call its functions as its documentation does.
"""
_COMPARED = """## Verdicts of `compare`

`compare --unsafe` on projects of the table above: a few lines that call their functions, with made-up data. Where the
last column says so, the same lines ran on the real stack, too (Keras 2.2.4 on TensorFlow 1.15.5, or TensorFlow 2.2.3),
with the original's weights, batches and masks.
"""
_OTHERS = """## Other projects

`run` was written without looking at these projects. Their sources are unchanged. They ran under `run` alone, on a few
generated samples, with fewer epochs and batches.
"""
_SUITES = """## Suites of old libraries

The libraries' own tests, unmodified, on one CPU. First column: how many pass with TensorFlow 1.15.5 and Keras 2.2.4, or
with the stack named in the row. Second column: how many of those pass under the pytest plugin, counted before. Third
column: on the original.
"""


def page(data: dict[str, Any]) -> str:
    """Return the page in Markdown.

    Args:
        data: what `compatibility.json` holds.
    """
    facts = [tuple(each[part] for part in ("era", "one_device", "two_replicas", "other")) for each in data["facts"]]
    random = [
        tuple(str(each[part]) for part in ("era", "which", "equal", "rounding", "varies", "refused", "different"))
        for each in data["random_scripts"]["counts"]
    ]
    projects = [
        (
            f"[{one['name']}](https://github.com/{one['repository']}) at `{one['commit'][:7]}` ({one['date'][:4]})",
            one["kind"],
            one["keras"],
            one["tried"],
            one.get("run_again", ""),
            one["run"],
            one["migrated"],
            one["in_the_way"],
        )
        for one in sorted(data["projects"], key=lambda one: (one["kind"], one["name"].lower()))
    ]
    others = [
        (
            f"[{one['name']}](https://github.com/{one['repository']}) at `{one['commit'][:7]}` ({one['date'][:4]})",
            *(one[part] for part in ("kind", "tried", "run", "in_the_way")),
        )
        for one in data["other_projects"]
    ]
    return "\n".join(
        [
            _BEGINNING,
            _FACTS,
            *_table(("era", "equal on one device", "equal on two replicas", "which differ"), facts),
            "",
            _RANDOM,
            *_table(("era", "scripts", "equal", "rounding", "varies", "refused by the old stack", "different"), random),
            "",
            *(f"- {era} {seed}: {known}." for era, seed, known in data["random_scripts"]["causes"]),
            "",
            _EXAMPLES,
            *_table(("scripts", "which", "result"), [tuple(each) for each in data["examples"]]),
            "",
            _PROJECTS,
            f"{_counted(projects)} {_counted_otherwise(data)}\n",
            *_table(
                (
                    "project",
                    "kind",
                    "Keras",
                    "what was run",
                    "run, on the original",
                    "run, counted before",
                    "migrated",
                    "obstacles",
                ),
                projects,
            ),
            "",
            _COMPARED,
            *_table(
                ("project", "what was run", "verdict", "checked by hand"), [tuple(each) for each in data["compared"]]
            ),
            "",
            _OTHERS,
            *_table(("project", "kind", "what was run", "result", "obstacles"), others),
            "",
            _SUITES,
            *_table(
                ("library", "pass with the real stack", "of them here, counted before", "on the original"),
                [tuple(one) for one in data["suites"]],
            ),
            "",
        ]
    )


def _counted(projects: Sequence[tuple[str, ...]]) -> str:
    of_tf_keras = sum(row[2].startswith("tf.keras") for row in projects)
    ran, migrated = (sum(row[column] == "trains" for row in projects) for column in (5, 6))
    tried = sum(row[6] != "not tried" for row in projects)
    again = [row[4] for row in projects if row[4]]
    return (
        f"{len(projects)} projects, {of_tf_keras} of them with `tf.keras`. Under the earlier `run` {ran} trained. "
        f"{len(again)} were run again on the originals: {sum('trains' in seen for seen in again)} train, and the other "
        f"rows say what happened. Of {tried} that were migrated, {migrated} train by plain Python."
    )


def _counted_otherwise(data: dict[str, Any]) -> str:
    kinds = data["migrated_otherwise"]
    named = sorted(name for names in kinds.values() for name in names)
    rows = sorted(one["name"] for one in data["projects"] if one["migrated"] not in ("trains", "not tried"))
    if named != rows:
        raise ValueError(
            f"Expected each project that was migrated and has a remark. Received: {set(named) ^ set(rows)}"
        )
    counts = ", ".join(f"{len(names)} {kind}" for kind, names in kinds.items())
    return f"Of the other {len(rows)} migrated ones, {counts}."


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
