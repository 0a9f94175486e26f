"""Keras 2.2.4's own tests under the product: what passes, and why each other one does not.

    git clone --branch 2.2.4 https://github.com/keras-team/keras keras-2.2.4
    python benchmarks/keras_tests.py keras-2.2.4/tests --write RESULTS.jsonl [FILE...]
    python benchmarks/keras_tests.py keras-2.2.4/tests --write RESULTS.jsonl --replicas 8 -k "gpu or cudnn or gru"
    python benchmarks/keras_tests.py --count RESULTS.jsonl  # into `tests/data/keras_tests.json`, and the page

They run under `pytest -p parallel_compat.pytest`, with a limit for each test. Those that want GPUs, up to eight, run by
the second line, on simulated devices. This module is the pytest plugin as well that writes one line for each test.
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
DATA, PAGE = _ROOT / "tests" / "data" / "keras_tests.json", _ROOT / "docs" / "keras_tests.md"

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

    import keras

    keras.config.set_floatx("float32")  # a test that fails does not set it back
    keras.config.set_image_data_format("channels_last")
    keras.config.enable_unsafe_deserialization()  # tests load Lambda layers that they have saved
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


def count(lines: list[dict[str, Any]], data: dict[str, Any]) -> list[str]:
    """Put the outcomes of runs into the data, and return what the data does not give a reason for.

    Args:
        lines: what runs wrote; a later line on a test holds.
        data: `counts` of each file, and the tests that do not pass by their reasons.
    """
    last = {line["test"]: "failed" if line["outcome"] == "not collected" else line["outcome"] for line in lines}
    counts: dict[str, collections.Counter[str]] = {}
    for test, outcome in last.items():
        counts.setdefault(test.partition("::")[0], collections.Counter())[outcome] += 1
    data["counts"] |= {file: dict(sorted(counts[file].items())) for file in sorted(counts)}
    known = {test for each in data["not_passing"] for test in each["tests"]}
    return sorted(test for test, outcome in last.items() if outcome not in ("passed", "skipped") and test not in known)


def page(data: dict[str, Any]) -> str:
    """Return the page of the data."""
    total: collections.Counter[str] = collections.Counter()
    for outcomes_of_file in data["counts"].values():
        total.update(outcomes_of_file)
    ran = total["passed"] + total["failed"]
    lines = [
        "# Keras 2.2.4's own tests",
        "",
        "Written by `benchmarks/keras_tests.py`, which runs the tests of Keras 2.2.4 as they are, under the pytest",
        f"plugin of `parallel-compat`. {total['passed']:,} of {ran:,} pass, {100 * total['passed'] / ran:.1f} %.",
        "Those that want GPUs, up to eight, ran on simulated devices.",
        f"Keras's own tests skip {total['skipped']} more by conditions of their own, nearly all for what was wrong",
        "with `use_multiprocessing` then.",
        "",
        "## Those that do not pass",
        "",
        f"{len(data['fail_on_the_real_stack'])} of them fail on Keras 2.2.4 and TensorFlow 1.15.5 themselves as well,",
        "without Theano, Graphviz, a network and the other packages of that time.",
        "",
        "| Why | Tests |",
        "| --- | --- |",
    ]
    for each in data["not_passing"]:
        lines.append(f"| {each['reason']} | {', '.join(f'`{test}`' for test in each['tests'])} |")
    lines += ["", "## Not run", "", *(f"- `{each['file']}`: {each['reason']}" for each in data["not_run"])]
    lines += ["", "## Tests of others", ""]
    lines += [f"- {each['project']} at `{each['commit'][:7]}`: {each['result']}" for each in data["others"]]
    lines += ["", "## Each file", "", "| File | Passed | Failed | Skipped |", "| --- | ---: | ---: | ---: |"]
    for file, found in sorted(data["counts"].items()):
        lines.append(
            f"| `{file}` | {' | '.join(str(found.get(kind, 0)) for kind in ('passed', 'failed', 'skipped'))} |"
        )
    return "\n".join([*lines, ""])


def _count(files: list[Path]) -> int:
    data = json.loads(DATA.read_text(encoding="utf-8"))
    without = count([json.loads(line) for file in files for line in file.read_text().splitlines()], data)
    DATA.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    PAGE.write_text(page(data), encoding="utf-8")
    if without:
        print("without a reason:", *without, sep="\n")
    return bool(without)


def main() -> None:
    """Run the files and count."""
    if sys.argv[1:2] == ["--count"]:
        sys.exit(_count([Path(each) for each in sys.argv[2:]]))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the folder `tests` of Keras 2.2.4")
    parser.add_argument("files", nargs="*", help="test files below it (default: all)")
    parser.add_argument("--write", type=Path, required=True, metavar="FILE", help="where the outcomes go (JSON lines)")
    parser.add_argument("--python", default=sys.executable, help="another Python, with a stack of its own")
    parser.add_argument("--without-plugin", action="store_true", help="without the product")
    parser.add_argument("--replicas", help="how many devices are simulated, for the tests that want GPUs")
    parser.add_argument("-k", help="as pytest's")
    given = parser.parse_intermixed_args()
    folder = given.folder.resolve()
    files = given.files or sorted(str(path.relative_to(folder)) for path in folder.rglob("*test*.py"))
    files = [file for file in files if Path(file).name != "conftest.py"]
    extra = ["-k", given.k] if given.k else []
    extra += ["--legacy-replicas", given.replicas] if given.replicas else []
    run_all(files, folder, extra, given.python, not given.without_plugin, given.write)


if __name__ == "__main__":
    main()
