"""Counts the old libraries' own tests: how many of those that pass on the real stack pass under `parallel-compat run`.

    git clone --branch 2.2.4 https://github.com/keras-team/keras
    python -m tests.evidence.suites.count keras-2.2.4 --tests keras/tests --results FOLDER --real PYTHON [FILE ...]
    python -m tests.evidence.suites.count keras-2.2.4 --results FOLDER --page

`--tests` is where ids start; FILE is a test file below it (default: all). Each file is run under `run`, then its tests
that do not pass on the real stack (`--real`, its Python). The outcomes are in FOLDER, `run.jsonl` and `real.jsonl`: a
test that is there is not run again, so a count that was stopped goes on. `--again` runs those once more that pass on
the real stack alone, `--page` writes the data and the page of the era.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from . import running
from .page import ERAS, counted, write_page

# They download, or need what neither stack has.
_NOT_RUN = (
    "integration_tests/test_datasets.py",
    "test_doc_auto_generation.py",
    "tensorflow/python/keras/applications/applications_test.py",
)


def not_passed(outcomes: running.Outcomes) -> list[str]:
    """Return the tests that failed.

    >>> not_passed({"a": {"outcome": "failed"}, "b": {"outcome": "skipped"}})
    ['a']
    """
    return [name for name, line in outcomes.items() if line["outcome"] not in ("passed", "skipped")]


def run_some(files: list[str], given: argparse.Namespace) -> None:
    """Run files in one process, as far as their outcomes are not known, and what fails on the real stack."""
    under_run, there = given.results / "run.jsonl", given.results / "real.jsonl"
    tests, era = given.tests.resolve(), running.under_run(given.era)
    if given.again:
        real = running.read(there)
        only = [test for test in _failed(files, under_run) if real.get(test, {}).get("outcome") == "passed"]
        if only:
            running.run_files(sorted({file_of(test) for test in only}), tests, era, under_run, only)
    else:
        running.run_files(files, tests, era, under_run, sample=given.sample)
    asked = [test for test in _failed(files, under_run) if test not in running.read(there)]
    if asked:
        # A file that cannot be imported has no tests to choose from.
        only = None if any(test in files for test in asked) else asked
        running.run_files(sorted({file_of(test) for test in asked}), tests, [given.real], there, only)


def _failed(files: list[str], outcomes: Path) -> list[str]:
    return [test for test in not_passed(running.read(outcomes)) if file_of(test) in files]


def file_of(test: str) -> str:
    """Return the file of a test's id."""
    return test.partition("::")[0]


def together(files: list[str], tests: Path, number: int) -> list[list[str]]:
    """Return files that one process can run: of different names, and none that sets TensorFlow's mode."""
    groups: list[list[str]] = []
    for file in files:
        alone = "  ops.enable_eager_execution()" in (tests / file).read_text()
        names = {Path(other).name for other in groups[-1]} if groups else set()
        if alone or not groups or len(groups[-1]) >= number or Path(file).name in names:
            groups.append([file])
        else:
            groups[-1].append(file)
        if alone:
            groups.append([])
    return [group for group in groups if group]


def read(results: Path) -> dict[str, dict[str, running.Outcomes]]:
    """Return the outcomes of the tests of each file that ran: under `run`, and on the real stack."""
    found: dict[str, dict[str, running.Outcomes]] = {}
    for stack in ("run", "real"):
        for test, line in running.read(results / f"{stack}.jsonl").items():
            found.setdefault(file_of(test), {"run": {}, "real": {}})[stack][test] = line
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("era", choices=ERAS)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--tests", type=Path)
    parser.add_argument("--real", help="the Python of the real stack")
    parser.add_argument("--results", type=Path, required=True, help="a folder")
    parser.add_argument("--again", action="store_true", help="run the tests again that pass on the real stack alone")
    parser.add_argument(
        "--sample",
        action="store_true",
        help="of each method with parameters one alone: compiled if it can be",
    )
    parser.add_argument("--together", type=int, default=1, metavar="N", help="so many files in one process")
    parser.add_argument("--page", action="store_true", help="write the page of the outcomes so far")
    arguments = parser.parse_intermixed_args()
    if arguments.page:
        sys.exit(write_page(arguments.era, read(arguments.results)))
    tests = arguments.tests.resolve()
    arguments.results.mkdir(parents=True, exist_ok=True)
    files = arguments.files or sorted(str(path.relative_to(tests)) for path in tests.rglob("*test*.py"))
    files = [file for file in files if not Path(file).name.startswith("conftest") and file not in _NOT_RUN]
    for group in together(files, tests, arguments.together):
        run_some(group, arguments)
        found = read(arguments.results)
        print(
            *[f"{file} {_said(counted({file: found[file]}))}" for file in group if file in found], sep="\n", flush=True
        )


def _said(data: dict[str, Any]) -> str:
    passed, failed = (sum(of.get(kind, 0) for of in data["counts"].values()) for kind in ("passed", "failed"))
    return f"{passed} of {passed + failed}"


if __name__ == "__main__":
    main()
