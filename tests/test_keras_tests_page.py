"""The page of Keras 2.2.4's own tests says what its data says."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def runner():
    spec = importlib.util.spec_from_file_location("keras_tests", ROOT / "benchmarks" / "keras_tests.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_written_from_the_data():
    keras_tests = runner()
    data = json.loads(keras_tests.DATA.read_text(encoding="utf-8"))
    assert keras_tests.page(data) == keras_tests.PAGE.read_text(encoding="utf-8")
    assert not {each["file"] for each in data["not_run"]} & set(data["counts"])
    listed = [test for each in data["not_passing"] for test in each["tests"]]
    assert len(listed) == len(set(listed))
    assert set(data["fail_on_the_real_stack"]) < set(listed)
    failed = {file: found["failed"] for file, found in data["counts"].items() if found.get("failed")}
    of_files = {file: sum(test.partition("::")[0] == file for test in listed) for file in failed}
    assert of_files == failed  # a reason for each


def test_counting():
    keras_tests = runner()
    lines = [
        {"test": "a.py::one", "outcome": "failed"},
        {"test": "a.py::one", "outcome": "passed"},
        {"test": "a.py::two", "outcome": "failed"},
        {"test": "b.py", "outcome": "not collected"},
    ]
    data = {"counts": {}, "not_passing": [{"reason": "none", "tests": ["b.py"]}]}
    assert keras_tests.count(lines, data) == ["a.py::two"]
    assert data["counts"] == {"a.py": {"failed": 1, "passed": 1}, "b.py": {"failed": 1}}


def test_the_page_of_tf_keras_is_written_from_its_data():
    spec = importlib.util.spec_from_file_location("tf_keras_tests", ROOT / "benchmarks" / "tf_keras_tests.py")
    tests = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tests)
    data = json.loads(tests.DATA.read_text(encoding="utf-8"))
    assert tests.page(data) == tests.PAGE.read_text(encoding="utf-8")
    listed = [test for each in data["not_passing"] for test in each["tests"]]
    assert len(set(listed)) == sum(found.get("failed", 0) for found in data["counts"].values())
    then = [{"test": "a::one", "outcome": "passed"}, {"test": "a::two", "outcome": "failed"}]
    now = [{"test": "a::one", "outcome": "failed", "why": "Received: causal"}, {"test": "a::two", "outcome": "passed"}]
    counted = tests.count(then, now)
    assert counted["counts"] == {"a": {"failed": 1}}
    assert counted["not_passing"][0]["tests"] == ["a::one"]
    assert "causal" in counted["not_passing"][0]["reason"]
