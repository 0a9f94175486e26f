"""The pages of the old libraries' own tests say what their data say."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parent.parent / "benchmarks"


@pytest.fixture(params=["keras_tests", "tf_keras_tests"])
def runner(request, monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    module = __import__(request.param)
    yield module
    for name in ("keras_tests", "tf_keras_tests"):
        sys.modules.pop(name, None)


def test_a_page_is_written_from_its_data(runner):
    data = json.loads(runner.DATA.read_text(encoding="utf-8"))
    assert list(data) == list(runner.ERAS)
    assert runner.page(data) == runner.PAGE.read_text(encoding="utf-8")


def test_each_test_that_does_not_pass_has_a_reason(runner):
    for era, of in json.loads(runner.DATA.read_text(encoding="utf-8")).items():
        listed = [test for each in of["not_passing"] for test in each["tests"]]
        assert len(listed) == len(set(listed)) == sum(each.get("failed", 0) for each in of["counts"].values()), era
        assert "Not looked into." not in [each["reason"] for each in of["not_passing"]]


def test_counting(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import keras_tests

    real = [{"test": f"a.py::{name}", "outcome": "passed"} for name in ("one", "two", "three", "four")]
    real.append({"test": "a.py::five", "outcome": "failed"})
    lines = [
        {"test": "a.py::one", "outcome": "failed"},
        {"test": "a.py::one", "outcome": "passed"},
        {"test": "a.py::two", "outcome": "failed"},
        {"test": "a.py::three", "outcome": "skipped"},
        {"test": "a.py::five", "outcome": "failed"},
    ]
    before = {"tests": "Those", "not_passing": [{"reason": "numpy 2.", "tests": ["a.py::two", "a.py::one"]}]}
    counted = keras_tests.count(real, lines, before)
    assert counted["counts"] == {"a.py": {"failed": 2, "passed": 1}}
    assert counted["not_run"] == 1
    assert counted["not_passing"] == [
        {"reason": "numpy 2.", "tests": ["a.py::two"]},
        {"reason": keras_tests.NO_REASON, "tests": ["a.py::three"]},
    ]
    page = keras_tests.page({"keras-2.2.4": counted, "keras-2.3": {**before, "counts": {}}})
    assert "1 of 3 pass, 33.3 %." in page
    assert page.count("Not counted since `run` runs the original.") == 1
    sys.modules.pop("keras_tests")
