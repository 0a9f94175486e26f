"""Writes `docs/compatibility.md` from `docs/compatibility.json` and the table of differences.

python docs/compatibility.py           writes it
python docs/compatibility.py --check   ends with 1 if it is not what the data say
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from parallel_compat.names.differences import DIFFERENCES

if TYPE_CHECKING:
    from collections.abc import Sequence

HERE = Path(__file__).resolve().parent
PAGE = HERE / "compatibility.md"

_BEGINNING = """# What runs

Written by `docs/compatibility.py` from `docs/compatibility.json`, which holds what was seen; a test compares them.

- [Facts of each era](#facts-of-each-era)
- [What differs, and why](#what-differs-and-why)
- [Random scripts](#random-scripts)
- [Examples of Keras 2.2.4](#examples-of-keras-224)
- [Public projects](#public-projects)
- [Suites of old libraries](#suites-of-old-libraries)
"""
_FACTS = """## Facts of each era

A fact is a number or a name that a real old stack was asked for: a default, a step of an optimizer, a loss, the names
and order of metrics. The answers are in `tests/data/eras`; `tests/eras` asks this package the same.
"""
_DIFFERENCES = """## What differs, and why

Of how many kinds; [the page of differences](differences.md#what-stays-otherwise-under-run) has them one by one.
"""
_RANDOM = """## Random scripts

Scripts that `tests/differential/random_scripts.py` makes of a seed, run on the real old stack and under `run`: equal
are those whose every number is the same within 1e-5 of the largest beside it, and every name; equal in float64 those of
the others that are so in double precision, on both stacks. Seeds below 2000 are trainings, those above 1000 by
`wider_scripts.py`; seeds above 2000 cross the whole interface, by `api_scripts.py`: such a script differs if one of its
many parts does; those above 3000 are trainings by `parallel_scripts.py`, all of `multi_gpu_model`. The last column has
the seeds that differ; what is known of them follows.
"""
_EXAMPLES = """## Examples of Keras 2.2.4

The scripts in `examples/` under `parallel-compat run`, on small data of the same form, with fewer epochs.
"""
_PROJECTS = """## Public projects

Each was given a few made-up samples in its own data format. "trains": it trained for a few steps to a file that was
written and read again. "run": under `parallel-compat run`. "migrated": a copy was rewritten by
`migrate --write --unsafe` and run by plain Python. Both with Keras 3 on one CPU. The sources are as they were, except
for what the last column names and numbers of epochs and batches that a script holds; where a project has no script
with options, a few lines call its functions as its own documents do.
"""
_SUITES = """## Suites of old libraries

The libraries' own tests, as they are: how many pass with TensorFlow 1.15.5 and Keras 2.2.4, or with the stack that a
row names, and how many of these under the pytest plugin, on one CPU.
"""


def page(data: dict[str, Any], seeds: dict[str, dict[str, list[int]]]) -> str:
    """Return the page in Markdown.

    Args:
        data: what `compatibility.json` holds.
        seeds: what became of random scripts: `tests/data/differential/figures.json`.
    """
    random = [
        (
            era,
            _share({kind: [seed for seed in seeds if not 2000 <= seed < 3000] for kind, seeds in of.items()}),
            _share(of),
            str(len(of["rounded"])),
            str(len(of["refused"])),
            ", ".join(map(str, of["different"])),
        )
        for era, of in seeds.items()
    ]
    facts = [
        (era["era"], era["one_device"], era["two_replicas"] or "not asked", f"{era['equal'] / era['asked']:.1%}")
        for era in data["facts"]
    ]
    kinds = [
        (era["era"], str(sum(era["era"] in {one.value for one in each.eras} for each in DIFFERENCES)))
        for era in data["facts"]
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
            *_table(("era", "equal on one device", "equal on two replicas", "one device"), facts),
            "",
            _DIFFERENCES,
            *_table(("era", "kinds of differences"), kinds),
            "",
            _RANDOM,
            *_table(
                ("era", "equal: trainings", "all", "equal in float64", "refused by the real stack", "different"), random
            ),
            "",
            *(f"- {era} {seed}: {known}." for era, seed, known in data["random_scripts"]),
            "",
            _EXAMPLES,
            *_table(("scripts", "which", "result"), [tuple(each) for each in data["examples"]]),
            "",
            _PROJECTS,
            f"{_counted(projects)}\n",
            *_table(("project", "kind", "Keras", "what was run", "run", "migrated", "what stood in the way"), projects),
            "",
            _SUITES,
            *_table(
                ("library", "pass with the real stack", "of them here"),
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
        f"{len(projects)} projects, {of_tf_keras} of them with `tf.keras`: {ran} train under `run`, {migrated} of "
        f"{tried} that were migrated train by plain Python."
    )


def _share(seeds: dict[str, list[int]]) -> str:
    return f"{len(seeds['equal'])} of {sum(len(seeds[kind]) for kind in ('equal', 'rounded', 'different'))}"


def _table(heading: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> list[str]:
    lines = (heading, ("---",) * len(heading), *rows)
    return [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines]


def main() -> int:
    """Write the page, or compare it."""
    figures = HERE.parent / "tests" / "data" / "differential" / "figures.json"
    text = page(*(json.loads(each.read_text(encoding="utf-8")) for each in (HERE / "compatibility.json", figures)))
    if "--check" in sys.argv[1:]:
        return int(not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text)
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
