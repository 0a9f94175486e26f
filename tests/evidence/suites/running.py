"""Runs files of an old library's tests in a process of their own: under `parallel-compat run`, or on a real stack."""

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


def run_files(
    files: list[str], tests: Path, started_by: list[str], only: list[str] | None = None, sample: bool = False
) -> Outcomes:
    """Return what became of each test of some files, by its id.

    A process that ends in a test, by a crash or by its time, is followed by another for the tests after it.

    Args:
        files: paths below `tests`.
        tests: the folder that ids start at.
        started_by: how a module is run, without `-m`: a Python, or `parallel-compat run` with its options.
        only: ids: the others are left out.
        sample: whether a test method with parameters runs with the first of them alone.
    """
    found: Outcomes = {}
    while True:
        lines, said = _process(files, tests, started_by, sorted(found), only, sample)
        for line in lines:
            _add(found, line)
        crashed = [name for name, line in found.items() if line["outcome"] == "started"]
        for name in crashed:
            found[name].update(outcome="failed", why=f"The process ended in it. {said[-2000:]}")
        if not crashed:
            break
    return found or {file: {"outcome": "not collected", "why": said[-4000:]} for file in files}


def _add(found: Outcomes, line: dict[str, Any]) -> None:
    name = line.pop("test")
    # A test that passed may still fail when it is torn down.
    if name not in found or found[name]["outcome"] in ("started", "passed"):
        found[name] = line


def _process(
    files: list[str], tests: Path, started_by: list[str], done: list[str], only: list[str] | None, sample: bool
) -> tuple[list[dict[str, Any]], str]:
    with tempfile.TemporaryDirectory() as folder:
        # The working folder is not that of the tests: its `keras` would be imported as Keras.
        scratch = Path(folder)
        work = scratch / "work"
        work.mkdir()
        (scratch / "done").write_text("\n".join(done))
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(_HERE), str(tests), *filter(None, [os.environ.get("PYTHONPATH")])]),
            "SUITES_OUT": str(scratch / "out"),
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
        command = [
            *started_by,
            "-m",
            "pytest",
            "-q",
            "-p",
            "note_outcomes",
            "-p",
            "no:cacheprovider",
            "-s",
            "-c",
            os.devnull,
        ]
        command += ["--rootdir", str(tests), "--tb=short", "--continue-on-collection-errors"]
        command += [str(tests / file) for file in files]
        try:
            done_process = subprocess.run(
                command,
                cwd=work,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_LIMIT,
            )
            said = done_process.stdout + done_process.stderr
        except subprocess.TimeoutExpired:
            said = f"not done after {_LIMIT} s"
        out = scratch / "out"
        lines = [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []
        return lines, said


def under_run(era: str) -> list[str]:
    """Return how `parallel-compat run` is started for an era."""
    return [sys.executable, "-m", "parallel_compat", "run", "--quiet", "--era", era]
