"""Runs files of an old library's tests in a process of their own: under `parallel-compat run`, or on a real stack.

The outcomes are lines of JSON in a file that grows test by test, so that what was stopped goes on where it was.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

_HERE = Path(__file__).resolve().parent
_LIMIT = 7200  # seconds for a process

Outcomes = dict[str, dict[str, Any]]


def read(outcomes: Path, begin: int = 0) -> Outcomes:
    """Return the last word on each test, from a place of the file on; of one that did not end, that it started."""
    found: Outcomes = {}
    if outcomes.exists():
        with outcomes.open(encoding="utf-8") as file:
            file.seek(begin)
            for text in file:
                line = json.loads(text)
                before = found.get(line["test"], {}).get("outcome")
                # A test that passed may still fail when it is torn down.
                if before in (None, "started", "passed") or line["outcome"] == "started":
                    found[line["test"]] = line
    return found


def run_files(
    files: list[str],
    tests: Path,
    started_by: list[str],
    outcomes: Path,
    only: list[str] | None = None,
    sample: bool = False,
) -> None:
    """Write what becomes of each test of some files that has no outcome yet, or of those that are asked for.

    A process that ends in a test, by a crash or by its time, is followed by another for the tests after it.

    Args:
        files: paths below `tests`.
        tests: the folder that ids start at.
        started_by: how a module is run, without `-m`: a Python, or `parallel-compat run` with its options.
        outcomes: the file that grows.
        only: ids: these run, whatever their outcome was, and no others.
        sample: whether a test method with parameters runs with one of them alone.
    """
    begin = outcomes.stat().st_size if outcomes.exists() else 0
    while True:
        known = read(outcomes, begin if only is not None else 0)
        done = [test for test, line in known.items() if line["outcome"] != "started"]
        this = outcomes.stat().st_size if outcomes.exists() else 0
        said = _process(files, tests, started_by, outcomes, done, only, sample)
        found = read(outcomes, this)
        crashed = [test for test, line in found.items() if line["outcome"] == "started"]
        ended = [(test, "failed", f"The process ended in it. {said[-2000:]}") for test in crashed]
        if not found and not done:
            ended = [(file, "not collected", said[-4000:]) for file in files]
        with outcomes.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps({"test": test, "outcome": of, "why": why}) + "\n" for test, of, why in ended)
        if not crashed:
            return


def _process(
    files: list[str],
    tests: Path,
    started_by: list[str],
    outcomes: Path,
    done: list[str],
    only: list[str] | None,
    sample: bool,
) -> str:
    """Run the files once, and return what the process said."""
    with tempfile.TemporaryDirectory() as folder:
        # The working folder is not that of the tests: its `keras` would be imported as Keras.
        scratch = Path(folder)
        work = scratch / "work"
        work.mkdir()
        (scratch / "done").write_text("\n".join(done))
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(_HERE), str(tests), *filter(None, [os.environ.get("PYTHONPATH")])]),
            "SUITES_OUT": str(outcomes.resolve()),
            "SUITES_DONE": str(scratch / "done"),
            "TEST_TMPDIR": folder,
            "TF_CPP_MIN_LOG_LEVEL": "3",
            "CUDA_VISIBLE_DEVICES": "",
        }
        if sample:
            environment["SUITES_SAMPLE"] = "1"
        if only is not None:
            (scratch / "only").write_text("\n".join(only))
            environment["SUITES_ONLY"] = str(scratch / "only")
        command = [*started_by, "-m", "pytest", "-q", "-s", "-p", "note_outcomes", "-p", "no:cacheprovider"]
        command += ["-c", os.devnull, "--rootdir", str(tests), "--tb=short", "--continue-on-collection-errors"]
        command += [str(tests / file) for file in files]
        try:
            ran = subprocess.run(
                command,
                cwd=work,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_LIMIT,
            )
        except subprocess.TimeoutExpired:
            return f"not done after {_LIMIT} s"
        return ran.stdout + ran.stderr


def under_run(era: str) -> list[str]:
    """Return how `parallel-compat run` is started for an era."""
    return [sys.executable, "-m", "parallel_compat", "run", "--quiet", "--era", era]
