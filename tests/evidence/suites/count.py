"""Counts the old libraries' own tests: how many of those that pass on the real stack pass under `parallel-compat run`.

    git clone --branch 2.2.4 https://github.com/keras-team/keras
    python -m tests.evidence.suites.count keras-2.2.4 --tests keras/tests --results FOLDER --real PYTHON [FILE ...]
    python -m tests.evidence.suites.count keras-2.2.4 --results FOLDER --page

`--tests` is where ids start; FILE is a test file below it (default: all). Each file is run under `run`, then its tests
that do not pass on the real stack (`--real`, its Python). Its outcomes are a file of FOLDER: one that is there is not
run again, so a count that was stopped goes on. `--again` runs the tests that did not pass once more, `--page` writes
the data and the page of the era.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from . import running
from .page import ERAS, counted, write_page

# They download, or need what neither stack has.
_NOT_RUN = (
    "integration_tests/applications_test.py",
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


def kept_in(results: Path, file: str) -> Path:
    """Return where the outcomes of a file are kept."""
    return results / f"{file.replace('/', '--')}.json"


def run_some(files: list[str], tests: Path, era: str, real: str, results: Path, again: bool, sample: bool) -> None:
    """Run files in one process, as far as their outcomes are not known, and write them."""
    known = {file: json.loads(kept_in(results, file).read_text()) for file in files if kept_in(results, file).exists()}
    new = [file for file in files if file not in known]
    failed = [test for file in known for test in not_passed(known[file]["run"]) if passes_there(known[file], test)]
    found: running.Outcomes = {}
    if new:
        found = running.run_files(new, tests, running.under_run(era), sample=sample)
    if again and failed:
        found.update(
            running.run_files(sorted({file_of(test) for test in failed}), tests, running.under_run(era), failed)
        )
    for file in new:
        known[file] = {"run": {}, "real": {}}
    for test, line in found.items():
        known[file_of(test)]["run"][test] = line
    _write(known, results)
    asked = [test for of in known.values() for test in not_passed(of["run"]) if test not in of["real"]]
    if asked:
        # A file that cannot be imported has no tests to choose from.
        only = None if any(test in files for test in asked) else asked
        there = running.run_files(sorted({file_of(test) for test in asked}), tests, [real], only)
        for test in [*asked, *there]:
            known[file_of(test)]["real"][test] = there.get(test, {"outcome": "not found", "why": ""})
        _write(known, results)


def passes_there(of: dict[str, running.Outcomes], test: str) -> bool:
    """Say whether a test that failed passes on the real stack."""
    return of["real"].get(test, {}).get("outcome") == "passed"


def file_of(test: str) -> str:
    """Return the file of a test's id."""
    return test.partition("::")[0]


def _write(known: dict[str, dict[str, running.Outcomes]], results: Path) -> None:
    for file, outcomes in known.items():
        kept_in(results, file).write_text(json.dumps(outcomes, indent=1) + "\n")


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
    """Return the outcomes of each file that ran."""
    return {path.stem.replace("--", "/"): json.loads(path.read_text()) for path in sorted(results.glob("*.json"))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("era", choices=ERAS)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--tests", type=Path)
    parser.add_argument("--real", help="the Python of the real stack")
    parser.add_argument("--results", type=Path, required=True, help="a folder")
    parser.add_argument("--again", action="store_true", help="run the tests again that pass on the real stack alone")
    parser.add_argument("--sample", action="store_true", help="of each test method that has parameters the first alone")
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
        run_some(group, tests, arguments.era, arguments.real, arguments.results, arguments.again, arguments.sample)
        found = read(arguments.results)
        print(*[f"{file} {_said(counted({file: found[file]}))}" for file in group], sep="\n", flush=True)


def _said(data: dict[str, Any]) -> str:
    passed, failed = (sum(of.get(kind, 0) for of in data["counts"].values()) for kind in ("passed", "failed"))
    return f"{passed} of {passed + failed}"


if __name__ == "__main__":
    main()
