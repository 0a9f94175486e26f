"""Counts the random scripts that compute under `parallel-compat run` what they did on the real stack of their era.

    python -m tests.evidence.differential.count keras-2.2.4                      # those that are recorded
    python -m tests.evidence.differential.count keras-2.2.4 --seeds 3 7 12
    python -m tests.evidence.differential.count keras-2.2.4 --real PYTHON --seeds 201-210 3001-3005
    python -m tests.evidence.differential.count keras-2.2.4 --real PYTHON --sample 40

With `--real`, the Python of an environment of the era, the scripts run on the real stack first. One that differs runs
there again. "varies": the real stack does not repeat itself there either, so that the script counts for nothing.
"rounding": both stacks agree in double precision, or the real stack itself differs as much if the last bits of the
first weights are changed at random. "no answer": it took too long. `--sample N` takes N of the seeds in `figures.json`,
evenly. What scripts noted before in the folder of `--keep` is taken from there.
"""

from __future__ import annotations

import argparse
import collections
import functools
import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.scripts import run

from .comparing import differences, settled
from .random_scripts import ERAS, in_double_precision, nudged
from .recordings import CAUSES, DATA, WIDER_CAUSES, digest, recorded, text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


NUDGED = 5  # how many times the last bits are changed


def noted(
    start: Callable[..., subprocess.CompletedProcess[str]], scripts: dict[str, str], folder: Path
) -> dict[str, Any]:
    """Return what scripts note.

    Args:
        start: runs a script with arguments in a folder.
        scripts: their texts by name.
        folder: where to work; what scripts noted there before is kept.
    """
    folder.mkdir(parents=True, exist_ok=True)
    out, before = folder / "noted.json", folder / "before.json"
    known: dict[str, Any] = {}
    for file in (before, out):
        known.update(json.loads(file.read_text()) if file.exists() else {})
    before.write_text(json.dumps(known))
    files = []
    for name, text in scripts.items():
        file = folder / f"{name}.py"
        if name not in known or file.read_text() != text:
            file.write_text(text)
            files.append(str(file))
    if files:
        done = start(str(DATA / "run_scripts.py"), str(out), *files, folder=folder)
        if done.returncode != 0:
            raise RuntimeError(f"expected the scripts to run. Received: {done.stderr[-3000:]}")
        known.update(json.loads(out.read_text()))
    return {name: known[name] for name in scripts}


def under_run(era: str, scripts: dict[str, str], folder: Path) -> dict[str, Any]:
    """Return what scripts note under `parallel-compat run`."""
    options = ("--quiet", "--replicas", "4", "--era", era)
    return noted(functools.partial(run, *options, seconds=600 * len(scripts)), scripts, folder)


def on_real_stack(python: str, scripts: dict[str, str], folder: Path) -> dict[str, Any]:
    """Return what scripts note when another Python runs them."""

    def start(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run([python, *arguments], capture_output=True, text=True, cwd=folder)

    return noted(start, scripts, folder)


def outcome(expected: dict[str, Any], received: dict[str, Any]) -> tuple[str, list[str]]:
    """Return what became of a script, and where it differs.

    Args:
        expected: what the real stack noted.
        received: what `run` did.
    """
    for noted, what in ((expected, "refused"), (received, "stopped")):
        if "stopped" in noted:
            return "no answer" if "takes more than" in noted["stopped"] else what, [noted["stopped"]]
    found = differences(expected, received)
    return ("different" if found else "equal"), found


def judged(
    era: str,
    python: str,
    scripts: dict[str, str],
    expected: dict[str, Any],
    received: dict[str, Any],
    folder: Path,
) -> dict[str, tuple[str, list[str]]]:
    """Return what became of scripts, and where they differ; what differs runs again.

    Args:
        era: their era.
        python: the Python of the real stack.
        scripts: their texts by name.
        expected: what the real stack noted.
        received: what `run` did.
        folder: where to work.
    """
    found = {name: outcome(expected[name], received.get(name, {})) for name in scripts}
    doubtful = {name: scripts[name] for name in scripts if found[name][0] in ("different", "stopped")}
    again = on_real_stack(python, doubtful, folder / "again")
    for name in doubtful:
        varying = _names(differences(expected[name], again[name]))
        if "stopped" in again[name] or (varying and _names(found[name][1]) <= varying):
            found[name] = "varies", found[name][1]
    left = {name: text for name, text in doubtful.items() if found[name][0] == "different"}
    double = {name: in_double_precision(text) for name, text in left.items()}
    there, here = on_real_stack(python, double, folder / "double"), under_run(era, double, folder / "double here")
    for name in double:
        asked = [there[name].get(each[1:]) for each in _names(found[name][1])]
        refused = any(isinstance(each, dict) and "refused" in each for each in asked)
        if outcome(there[name], here[name])[0] == "equal" and not refused:
            found[name] = "rounding", [*found[name][1][:2], "equal in double precision"]
            del left[name]
    texts = {f"{name} {n}": nudged(text, n) for name, text in left.items() for n in range(NUDGED)}
    of_bits = on_real_stack(python, texts, folder / "nudged")
    for name in left:
        others = [each for n in range(NUDGED) if "stopped" not in (each := of_bits[f"{name} {n}"])]
        if not differences(expected[name], settled(expected[name], received[name], others)):
            own = [f"with other bits: {each}" for other in others for each in differences(expected[name], other)]
            found[name] = "rounding", found[name][1][:2] + own[:2]
    return found


def _names(found: Sequence[str]) -> set[str]:
    """Return the names under which a script noted what differs."""
    return {"/".join(each.partition(":")[0].split("/")[:2]) for each in found}


def recordings(era: str, seeds: Sequence[str] | None = None) -> tuple[dict[str, str], dict[str, Any]]:
    """Return the texts of recorded scripts by seed, and what the real stack noted."""
    kept = recorded(era)
    seeds = list(kept) if seeds is None else seeds
    texts = {seed: text_of(era, seed) for seed in seeds}
    changed = [seed for seed, text in texts.items() if digest(text) != kept[seed]["digest"]]
    if changed:
        raise RuntimeError(f"the generator writes other scripts now: record {changed} anew (see recordings.py)")
    return texts, {seed: kept[seed]["noted"] for seed in seeds}


def _seeds(given: Sequence[str]) -> list[str]:
    found = []
    for each in given:
        first, _, last = each.partition("-")
        found += [each] if each in (CAUSES, WIDER_CAUSES) else map(str, range(int(first), int(last or first) + 1))
    return found


def _sample(era: str, number: int) -> list[str]:
    seeds = sorted(seed for each in json.loads((DATA / "figures.json").read_text())[era].values() for seed in each)
    return [str(seeds[i * len(seeds) // number]) for i in range(number)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("era", choices=ERAS)
    parser.add_argument("--seeds", nargs="+", help="which: numbers, ranges as 3-7, `causes`, `wider_causes`")
    parser.add_argument("--sample", type=int, metavar="N", help="N of the seeds in `figures.json`, with --real")
    parser.add_argument("--real", metavar="PYTHON", help="the Python of a real stack, to ask it anew")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the scripts and what they noted")
    arguments = parser.parse_args()
    seeds = (
        _sample(arguments.era, arguments.sample) if arguments.sample else arguments.seeds and _seeds(arguments.seeds)
    )
    folder = (arguments.keep or Path(tempfile.mkdtemp())).resolve()
    if arguments.real:
        scripts = {seed: text_of(arguments.era, seed) for seed in seeds}
        expected = on_real_stack(os.path.abspath(arguments.real), scripts, folder / "real")
    else:
        scripts, expected = recordings(arguments.era, seeds)
    received = under_run(
        arguments.era, {seed: scripts[seed] for seed in scripts if "stopped" not in expected[seed]}, folder / "run"
    )
    if arguments.real:
        found = judged(arguments.era, os.path.abspath(arguments.real), scripts, expected, received, folder)
    else:
        found = {seed: outcome(expected[seed], received.get(seed, {})) for seed in scripts}
    counts: collections.Counter[str] = collections.Counter()
    for seed, (what, where) in found.items():
        counts[what] += 1
        if what != "equal":
            print(f"{arguments.era} {seed}: {what}", *[f"    {each[:400]}" for each in where[:4]], sep="\n", flush=True)
    print(f"{arguments.era}: {dict(counts)}")


if __name__ == "__main__":
    main()
