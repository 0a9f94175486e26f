"""Old Keras's own tests under `run`: what passes of those that pass on the real stack, and why each other one does not.

    git clone --branch 2.2.4 https://github.com/keras-team/keras keras-2.2.4
    python benchmarks/keras_tests.py run --era keras-2.2.4 --write RESULTS.jsonl keras-2.2.4/tests [FILE...]
    python benchmarks/keras_tests.py run --python OLD/bin/python --write REAL.jsonl keras-2.2.4/tests [FILE...]
    python benchmarks/keras_tests.py count --era keras-2.2.4 --real REAL.jsonl RESULTS.jsonl

The first `run` is under `pytest -p parallel_compat.pytest`, the second by the Python of the real stack, without the
product. `count` writes `tests/data/keras_tests.json` and the page, and ends with 1 if a test has no reason there.
Tests that want GPUs run with `--replicas 8`, on simulated devices. Keras 2.3 likewise, of the branch 2.3.1. This
module is the pytest plugin as well that writes one line for each test.
"""

from __future__ import annotations

import argparse
import collections
import itertools
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

_LIMIT_OF_TEST = 180  # seconds
_LIMIT_OF_RUN = 3000

_ROOT = Path(__file__).resolve().parent.parent
DATA, PAGE = _ROOT / "tests" / "data" / "keras_tests.json", _ROOT / "docs" / "evidence" / "keras_tests.md"

ERAS = ("keras-2.2.4", "keras-2.3")
NOT_RUN = ("integration_tests/applications_test.py", "integration_tests/test_datasets.py")  # they download
NO_REASON = "Not looked into."

_OUT = os.environ.get("KERAS_TESTS_OUT")


def _note(**line: Any) -> None:
    if _OUT:
        with open(_OUT, "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: Any) -> Any:
    """End a test that hangs."""

    def late(signum: int, frame: Any) -> None:
        raise TimeoutError(f"not done after {_LIMIT_OF_TEST} s")

    signal.signal(signal.SIGALRM, late)
    signal.alarm(_LIMIT_OF_TEST)
    _note(test=item.nodeid, outcome="started")
    yield
    signal.alarm(0)


def _warns_of_then(warns: Any) -> Any:
    """`pytest.warns(None)`, which pytest had until 7: whatever is warned of."""

    def either(expected: Any = Warning, *given: Any, **keywords: Any) -> Any:
        if expected is None:
            return pytest.WarningsRecorder(_ispytest=True)
        return warns(expected, *given, **keywords)

    return either


def pytest_configure() -> None:
    """Let tests of 2018 use pytest as it was."""
    pytest.warns = _warns_of_then(pytest.warns)


def pytest_collectreport(report: Any) -> None:
    """Write down a file that cannot be collected."""
    if report.outcome != "passed":
        _note(test=report.nodeid, outcome="not collected", why=str(report.longrepr))


def pytest_runtest_logreport(report: Any) -> None:
    """Write down what became of a test."""
    if report.when == "call" or report.outcome != "passed":
        if isinstance(report.longrepr, tuple):
            why = report.longrepr[2]
        else:
            crash = getattr(report.longrepr, "reprcrash", None)
            why = crash.message if crash else str(report.longrepr or "")
        long = str(report.longrepr or "") if report.outcome == "failed" else ""
        outcome = report.outcome if report.when == "call" or report.outcome == "skipped" else "error"
        _note(test=report.nodeid, outcome=outcome, why=why, long=long, seconds=round(report.duration, 2))


def outcomes(lines: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the last word on each test; one that only started ended the process."""
    found: dict[str, dict[str, Any]] = {}
    for line in lines:
        name = line["test"]
        before = found.get(name)
        if before is None or before["outcome"] in ("started", "passed"):
            found[name] = line
    for line in found.values():
        if line["outcome"] == "started":
            line.update(outcome="failed", why="the process ended in it, or its time was over")
    return found


def run(files: list[str], folder: Path, extra: list[str], python: str, plugin: bool) -> list[dict[str, Any]]:
    """Run test files in one process, and return the lines that it wrote."""
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(os.environ.get("KERAS_TESTS_LIVE") or Path(scratch, "out.jsonl"))
        # The tests' folder is not the working one: its `keras` would be imported as Keras.
        environment = {**os.environ, "KERAS_TESTS_OUT": str(out), "TF_CPP_MIN_LOG_LEVEL": "3"}
        here = str(Path(__file__).resolve().parent)
        environment["PYTHONPATH"] = os.pathsep.join([here, *filter(None, [environment.get("PYTHONPATH")])])
        command = [python, "-m", "pytest", "-q", "-p", "keras_tests", "-p", "no:cacheprovider"]
        command += ["-p", "parallel_compat.pytest"] if plugin else []
        command += ["-c", os.devnull, "--rootdir", str(folder), "--tb=short", "--continue-on-collection-errors", *extra]
        command += [str(folder / file) for file in files]
        try:
            done = subprocess.run(
                command, cwd=scratch, env=environment, capture_output=True, text=True, timeout=_LIMIT_OF_RUN
            )
            said = done.stdout + done.stderr
        except subprocess.TimeoutExpired:
            said = f"not done after {_LIMIT_OF_RUN} s"
        lines = [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []
        if not lines:
            lines = [{"test": files[0], "outcome": "not collected", "why": said[-2000:]}]
        return lines


def run_all(files: list[str], folder: Path, extra: list[str], python: str, plugin: bool, write: Path) -> None:
    """Run test files, in another process after each that ends in a test, and write the last word on each test."""
    while files:
        lines = run(files, folder, extra, python, plugin)
        found = list(outcomes(lines).values())
        with write.open("a", encoding="utf-8") as out:
            out.writelines(json.dumps(line) + "\n" for line in found)
        for file, of_file in itertools.groupby(found, lambda line: line["test"].partition("::")[0]):
            print(file, dict(collections.Counter(line["outcome"] for line in of_file)), flush=True)
        # A process that ended in a test ran no file after that of the test.
        last = found[-1]["test"].partition("::")[0]
        files = (
            files[files.index(last) + 1 :] if last in files and "the process ended" in found[-1].get("why", "") else []
        )


def count(real: list[dict[str, Any]], lines: list[dict[str, Any]], before: dict[str, Any]) -> dict[str, Any]:
    """Return the counts of each file and the tests that do not pass, with the reasons that are known.

    Args:
        real: what a run on the real stack wrote: a test that passes there counts.
        lines: what runs of the product wrote; a later line on a test holds.
        before: what was counted before, with its reasons.
    """
    passed_there = {line["test"] for line in real if line["outcome"] == "passed"}
    last = {line["test"]: line["outcome"] for line in lines if line["test"] in passed_there}
    known = {test: each["reason"] for each in before.get("not_passing", ()) for test in each["tests"]}
    counts: dict[str, collections.Counter[str]] = {}
    not_passing: dict[str, list[str]] = {each["reason"]: [] for each in before.get("not_passing", ())}
    for test, outcome in sorted(last.items()):
        passes = outcome == "passed"
        counts.setdefault(test.partition("::")[0], collections.Counter())["passed" if passes else "failed"] += 1
        if not passes:
            not_passing.setdefault(known.get(test, NO_REASON), []).append(test)
    return {
        **before,
        "counts": {file: dict(sorted(found.items())) for file, found in sorted(counts.items())},
        "not_run": len(passed_there - set(last)),
        "not_passing": [{"reason": reason, "tests": tests} for reason, tests in not_passing.items() if tests],
    }


def sections(data: dict[str, dict[str, Any]]) -> list[str]:
    """Return the lines of a page: a section for each era."""
    lines = []
    for era, of in data.items():
        lines += ["", f"## {era}", "", f"{of['tests']}."]
        if not of["counts"]:
            lines += ["", "Not counted since `run` runs the original."]
            continue
        passed, failed = (sum(each.get(kind, 0) for each in of["counts"].values()) for kind in ("passed", "failed"))
        lines += ["", f"{passed:,} of {passed + failed:,} pass, {100 * passed / (passed + failed):.1f} %."]
        if of["not_run"]:
            lines += [f"{of['not_run']:,} more, which pass on the real stack, were not run."]
        if of["not_passing"]:
            lines += ["", "| Why a test does not pass | Tests |", "| --- | --- |"]
        for each in of["not_passing"]:
            lines.append(f"| {each['reason']} | {', '.join(f'`{test}`' for test in each['tests'])} |")
        lines += ["", "| File | Passed | Failed |", "| --- | ---: | ---: |"]
        for file, found in of["counts"].items():
            lines.append(f"| `{file}` | {found.get('passed', 0)} | {found.get('failed', 0)} |")
    return lines


def page(data: dict[str, dict[str, Any]]) -> str:
    """Return the page of the data."""
    lines = [
        "# Keras's own tests",
        "",
        "The tests of Keras 2.2.4 and of Keras 2.3.1, unmodified, on the originals that `parallel-compat run` runs.",
        "A test counts if it passes on the real stack: that Keras with TensorFlow 1.15.5 on a CPU.",
        "Tests that want GPUs run on simulated devices. `benchmarks/keras_tests.py` runs them and writes this page.",
        *sections(data),
    ]
    return "\n".join([*lines, ""])


def read_lines(*files: Path) -> list[dict[str, Any]]:
    """Return what runs wrote."""
    return [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]


def write_count(era: str, real: Path, results: list[Path], data_file: Path, page_file: Path, page_of: Any) -> int:
    """Count the tests of an era into the data and the page; return 1 if a test has no reason."""
    data = json.loads(data_file.read_text(encoding="utf-8"))
    data[era] = count(read_lines(real), read_lines(*results), data[era])
    data_file.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    page_file.write_text(page_of(data), encoding="utf-8")
    without = [test for each in data[era]["not_passing"] if each["reason"] == NO_REASON for test in each["tests"]]
    if without:
        print("without a reason:", *without, sep="\n")
    return bool(without)


def main() -> None:
    """Run the files, or count."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("run")
    command.add_argument("folder", type=Path, help="the folder `tests` of Keras")
    command.add_argument("files", nargs="*", help="test files below it (default: all)")
    command.add_argument("--era", choices=ERAS, default=ERAS[0])
    command.add_argument("--write", type=Path, required=True, metavar="FILE", help="where the outcomes go (JSON lines)")
    command.add_argument("--python", help="the Python of a real stack: without the product")
    command.add_argument("--replicas", help="how many devices are simulated, for the tests that want GPUs")
    command.add_argument("-k", help="as pytest's")
    command = commands.add_parser("count")
    command.add_argument("--era", choices=ERAS, default=ERAS[0])
    command.add_argument("--real", type=Path, required=True, metavar="FILE")
    command.add_argument("results", type=Path, nargs="+")
    given = parser.parse_args()
    if given.command == "count":
        sys.exit(write_count(given.era, given.real, given.results, DATA, PAGE, page))
    folder = given.folder.resolve()
    files = given.files or sorted(str(path.relative_to(folder)) for path in folder.rglob("*test*.py"))
    files = [file for file in files if Path(file).name != "conftest.py" and file not in NOT_RUN]
    extra = ["-k", given.k] if given.k else []
    if given.python is None:
        extra += ["--legacy-era", given.era]
        extra += ["--legacy-replicas", given.replicas] if given.replicas else []
    run_all(files, folder, extra, given.python or sys.executable, given.python is None, given.write)


if __name__ == "__main__":
    main()
