"""The page that says how many of the old libraries' own tests pass, and why each other one does not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).resolve().parents[3]
# The page of each era.
ERAS = {
    "keras-2.2.4": "keras_tests",
    "keras-2.3": "keras_tests",
    "tf.keras-1.15": "tf_keras_tests",
    "tf.keras-2.2": "tf_keras_tests",
}
NO_REASON = "Not looked into."

_INTRODUCTIONS = {
    "keras_tests": """\
# Keras's own tests

The tests of Keras 2.2.4 and of Keras 2.3.1, unmodified, on the originals that `parallel-compat run` runs.
A test counts if it passes on the real stack: that Keras with TensorFlow 1.15.5 on a CPU.
`python -m tests.evidence.suites.count` runs them and writes this page.
""",
    "tf_keras_tests": """\
# tf.keras's own tests

The tests of `tensorflow/python/keras` on the originals that `parallel-compat run` runs. A test counts if it passes on
the real stack on a CPU: TensorFlow 1.15.5 or 2.2.3. `python -m tests.evidence.suites.count` runs them and writes this
page.
""",
}


def data_file(page: str) -> Path:
    """Return where the data of a page are."""
    return _ROOT / "tests" / "data" / f"{page}.json"


def page_file(page: str) -> Path:
    """Return where a page is."""
    return _ROOT / "docs" / "evidence" / f"{page}.md"


def counted(outcomes: dict[str, dict[str, Any]], reasons: dict[str, str] | None = None) -> dict[str, Any]:
    """Return the counts of each file, and the tests that pass on the real stack alone, by reason.

    Args:
        outcomes: what became of each test of each file, under `run` and, of those that failed, on the real stack.
        reasons: the reasons that are known, by test.
    """
    counts: dict[str, dict[str, int]] = {}
    not_passing: dict[str, list[str]] = {}
    for file, of in outcomes.items():
        passed = sum(line["outcome"] == "passed" for line in of["run"].values())
        failed = [
            test
            for test, line in of.get("real", {}).items()
            if line["outcome"] == "passed" and of["run"].get(test, {}).get("outcome") not in ("passed", "skipped")
        ]
        if passed or failed:
            counts[file] = {"passed": passed, "failed": len(failed)}
        for test in failed:
            not_passing.setdefault((reasons or {}).get(test, NO_REASON), []).append(test)
    return {
        "counts": counts,
        "not_passing": [{"reason": reason, "tests": sorted(tests)} for reason, tests in sorted(not_passing.items())],
    }


def text(page: str, data: dict[str, dict[str, Any]]) -> str:
    """Return the page of the data: a section for each era."""
    lines = [_INTRODUCTIONS[page].rstrip("\n")]
    for era, of in data.items():
        lines += ["", f"## {era}", "", f"{of['tests']}."]
        passed, failed = (sum(each[kind] for each in of["counts"].values()) for kind in ("passed", "failed"))
        if not of["counts"]:
            lines += ["", "Not counted."]
            continue
        lines += ["", f"{passed:,} of {passed + failed:,} pass, {100 * passed / (passed + failed):.1f} %."]
        if of.get("not_counted"):
            lines += ["", f"Not counted: {of['not_counted']}."]
        if of["not_passing"]:
            lines += ["", "| Why a test does not pass | Tests |", "| --- | --- |"]
        for each in of["not_passing"]:
            lines.append(f"| {each['reason']} | {', '.join(f'`{test}`' for test in each['tests'])} |")
        lines += ["", "| File | Passed | Failed |", "| --- | ---: | ---: |"]
        lines += [f"| `{file}` | {found['passed']} | {found['failed']} |" for file, found in of["counts"].items()]
    return "\n".join([*lines, ""])


def _with_others(before: dict[str, Any], found: dict[str, Any], files: set[str]) -> dict[str, Any]:
    """Return what was found of files, with what was known of others before."""
    kept = [(each["reason"], test) for each in before["not_passing"] for test in each["tests"]]
    kept = [(reason, test) for reason, test in kept if test.partition("::")[0] not in files]
    by_reason: dict[str, list[str]] = {}
    for reason, test in kept + [(each["reason"], test) for each in found["not_passing"] for test in each["tests"]]:
        by_reason.setdefault(reason, []).append(test)
    return {
        "counts": {**before["counts"], **found["counts"]},
        "not_passing": [{"reason": reason, "tests": sorted(tests)} for reason, tests in sorted(by_reason.items())],
    }


def write_page(era: str, outcomes: dict[str, dict[str, Any]]) -> int:
    """Write the data and the page of an era, of files that ran anew; return 1 if a test has no reason."""
    page = ERAS[era]
    data = json.loads(data_file(page).read_text(encoding="utf-8"))
    reasons = {test: each["reason"] for each in data[era]["not_passing"] for test in each["tests"]}
    data[era].update(_with_others(data[era], counted(outcomes, reasons), set(outcomes)))
    data_file(page).write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    page_file(page).write_text(text(page, data), encoding="utf-8")
    without = [test for each in data[era]["not_passing"] if each["reason"] == NO_REASON for test in each["tests"]]
    print(*without, sep="\n")
    return bool(without)
