"""The pages of the old libraries' own tests say what their data say, and a count counts."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from . import count, page, running

if TYPE_CHECKING:
    from pathlib import Path

PAGES = sorted(set(page.ERAS.values()))


def _data(name: str) -> dict:
    return json.loads(page.data_file(name).read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_written_from_its_data(name):
    assert list(_data(name)) == [era for era, of in page.ERAS.items() if of == name]
    assert page.text(name, _data(name)) == page.page_file(name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PAGES)
def test_each_test_that_does_not_pass_has_a_reason(name):
    for era, of in _data(name).items():
        listed = [test for each in of["not_passing"] for test in each["tests"]]
        assert len(listed) == len(set(listed)) == sum(each["failed"] for each in of["counts"].values()), era
        assert page.NO_REASON not in [each["reason"] for each in of["not_passing"]]


def _outcomes(**of: str) -> running.Outcomes:
    return {f"a_test.py::{name}": {"outcome": outcome} for name, outcome in of.items()}


def test_what_passes_on_the_real_stack_counts():
    outcomes = {
        "run": _outcomes(one="passed", two="failed", three="failed", four="skipped", five="failed"),
        "real": _outcomes(two="passed", three="failed", five="passed"),
    }
    counted = page.counted({"a_test.py": outcomes}, {"a_test.py::two": "numpy 2."})
    assert counted["counts"] == {"a_test.py": {"passed": 1, "failed": 2}}
    assert counted["not_passing"] == [
        {"reason": page.NO_REASON, "tests": ["a_test.py::five"]},
        {"reason": "numpy 2.", "tests": ["a_test.py::two"]},
    ]
    data = {"keras-2.2.4": {"tests": "Those", **counted}, "keras-2.3": {"tests": "Those", "counts": {}}}
    text = page.text("keras_tests", data)
    assert "1 of 3 pass, 33.3 %." in text
    assert text.count("Not counted.") == 1


def test_files_that_set_a_mode_or_share_a_name_get_a_process_of_their_own(tmp_path):
    for file in ("a_test.py", "b_test.py", "c_test.py", "layers/c_test.py"):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text("if 1:\n  ops.enable_eager_execution()\n" if file == "b_test.py" else "")
    files = ["a_test.py", "b_test.py", "c_test.py", "layers/c_test.py"]
    assert count.together(files, tmp_path, 8) == [["a_test.py"], ["b_test.py"], ["c_test.py"], ["layers/c_test.py"]]
    assert count.together(["a_test.py", "c_test.py"], tmp_path, 8) == [["a_test.py", "c_test.py"]]


def test_a_page_keeps_the_files_that_did_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(page, "_ROOT", tmp_path)
    failed = [{"reason": "numpy 2.", "tests": ["a_test.py::one", "b_test.py::one"]}]
    counts = {"a_test.py": {"passed": 3, "failed": 1}, "b_test.py": {"passed": 0, "failed": 1}}
    known = {"tests": "All", "counts": counts, "not_passing": failed}
    for file in (page.data_file("keras_tests"), page.page_file("keras_tests")):
        file.parent.mkdir(parents=True)
    page.data_file("keras_tests").write_text(json.dumps({"keras-2.2.4": known}))
    assert page.write_page("keras-2.2.4", {"b_test.py": {"run": {"b_test.py::one": {"outcome": "passed"}}}}) == 0
    found = _data("keras_tests")["keras-2.2.4"]
    assert found["counts"] == {"a_test.py": {"passed": 3, "failed": 1}, "b_test.py": {"passed": 1, "failed": 0}}
    assert found["not_passing"] == [{"reason": "numpy 2.", "tests": ["a_test.py::one"]}]
    assert "4 of 5 pass" in page.page_file("keras_tests").read_text()


def test_a_process_that_ends_in_a_test_is_followed_by_another(tmp_path: Path):
    (tmp_path / "a_test.py").write_text(
        "import os, pytest\n"
        "def test_before(): pass\n"
        "def test_crash(): os._exit(3)\n"
        "def test_after(): pytest.warns(None)\n"
        "def test_wrong(): assert 1 == 2\n"
        "@pytest.mark.parametrize('n', [1, 2])\n"
        "def test_many(n): pass\n"
    )
    results = tmp_path / "run.jsonl"
    running.run_files(["a_test.py"], tmp_path, [sys.executable], results, sample=True)
    found = running.read(results)
    outcomes = {name.partition("::")[2]: line["outcome"] for name, line in found.items()}
    assert outcomes == {
        "test_before": "passed",
        "test_crash": "failed",
        "test_after": "passed",
        "test_wrong": "failed",
        "test_many[1]": "passed",
    }
    assert "The process ended in it" in found["a_test.py::test_crash"]["why"]
    assert "assert 1 == 2" in found["a_test.py::test_wrong"]["why"]
    before = results.stat().st_size
    running.run_files(["a_test.py"], tmp_path, [sys.executable], results, sample=True)
    assert results.stat().st_size == before  # all have an outcome
    running.run_files(["a_test.py"], tmp_path, [sys.executable], results, ["a_test.py::test_after"])
    assert list(running.read(results, before)) == ["a_test.py::test_after"]


def test_a_count_that_was_stopped_goes_on(tmp_path: Path):
    (tmp_path / "a_test.py").write_text("def test_one(): pass\ndef test_two(): assert False\n")
    lines = [("one", "started"), ("one", "passed"), ("two", "started")]
    text = "".join(json.dumps({"test": f"a_test.py::test_{name}", "outcome": of}) + "\n" for name, of in lines)
    (tmp_path / "run.jsonl").write_text(text)
    running.run_files(["a_test.py"], tmp_path, [sys.executable], tmp_path / "run.jsonl")
    new = running.read(tmp_path / "run.jsonl", len(text))
    assert {test: line["outcome"] for test, line in new.items()} == {"a_test.py::test_two": "failed"}
    assert count.read(tmp_path)["a_test.py"]["run"].keys() == {"a_test.py::test_one", "a_test.py::test_two"}
