"""Counts the facts of each era: how many of the recorded answers of the real stacks `parallel-compat run` gives.

    python -m tests.evidence.eras.count [--eras NAME ...] [--scripts NAME ...] [--replicas N] [--write FILE] [-v]

A fact is one question of a script in `tests/data/eras` that the era answers. With `--replicas` each compiled model is
a parallel one, and the questions are those that the scripts ask of parallel models.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

from .ask import ERAS, OF_TOWERS, SCRIPTS, answered, asked, differences


def count(era: str, script: str, replicas: int, verbose: bool) -> tuple[int, int]:
    """Return how many facts of a script are equal, and how many were asked."""
    names = set(answered(script, era, replicas))
    if not names:
        return 0, 0
    with tempfile.TemporaryDirectory() as folder:
        received = asked(script, era, Path(folder), replicas)
    wrong = differences(script, era, received, replicas)
    # On one device a question that is not answered at all is a difference; parallel models are asked fewer.
    missing = {} if replicas else {name: f"{name}\n    missing" for name in names - set(received)}
    if verbose:
        print(*[text[:600] for text in {**wrong, **missing}.values()], sep="\n")
    total = len(names & set(received)) + len(missing)
    return total - len(wrong) - len(missing), total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--eras", nargs="+", default=ERAS, choices=ERAS)
    parser.add_argument("--scripts", nargs="+", default=SCRIPTS, choices=SCRIPTS)
    parser.add_argument("--replicas", type=int, default=0)
    parser.add_argument("--write", type=Path, help="a file for the counts, in JSON")
    parser.add_argument("-v", "--verbose", action="store_true", help="print each difference")
    arguments = parser.parse_args()
    counts: dict[str, dict[str, tuple[int, int]]] = {}
    for era in arguments.eras:
        counts[era] = {}
        for script in arguments.scripts:
            if arguments.replicas and script not in OF_TOWERS[era]:
                continue
            equal, total = counts[era][script] = count(era, script, arguments.replicas, arguments.verbose)
            print(f"{era} {script}: {equal} of {total}", flush=True)
        equal, total = (sum(count[i] for count in counts[era].values()) for i in (0, 1))
        print(f"{era}: {equal} of {total} facts", flush=True)
        if arguments.write:
            arguments.write.write_text(json.dumps(counts, indent=1) + "\n")


if __name__ == "__main__":
    main()
