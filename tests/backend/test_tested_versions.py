"""What is said of a Keras or TensorFlow that was not tested, or lacks a name that is needed."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from parallel_compat import tested_versions
from tests import scripts

ROWS = json.loads((Path(__file__).parents[2] / "docs" / "versions.json").read_text())


def run(code: str) -> subprocess.CompletedProcess[str]:
    return scripts.python("-c", code, folder=scripts.PROJECT)


def test_the_tested_releases_are_those_of_the_table() -> None:
    """Each release that counts as tested has a row that says what was run."""
    for name, releases in tested_versions.TESTED.items():
        numbers = [row[name] for row in ROWS if row["main_job"] == "ran" and ".dev" not in row[name]]
        ran = {tuple(map(int, number.split(".")[:2])) for number in numbers}
        assert [release for release in releases if release not in ran] == [], name


@pytest.mark.parametrize(
    ("number", "is_tested"),
    [("3.15.1", True), ("3.15.1+local", True), ("3.99.0", False), ("3.15.0.dev20260101", False)],
)
def test_which_releases_are_tested(number: str, is_tested: bool) -> None:
    assert tested_versions.untested({"keras": number}) == ([] if is_tested else [f"Keras {number}"])


def test_an_untested_release_gets_one_warning() -> None:
    code = "import keras; keras.__version__ = '3.99.0'; import parallel_compat as p; p.parallelize; p.multi_gpu_model"
    done = run(code)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("ParallelCompatWarning") == 1
    assert f"was tested with {tested_versions.tested()}, not with Keras 3.99.0" in done.stderr


def test_a_release_without_a_name_is_told_by_that_name() -> None:
    done = run(
        "import keras.src.trainers.compile_utils as c; del c.MetricsList; import parallel_compat as p; p.parallelize"
    )
    last = done.stderr.strip().splitlines()[-1]
    start = f"ImportError: `parallel_compat.parallelize`: Expected {tested_versions.tested()}. Received: Keras 3."
    assert last.startswith(start)
    assert "keras.src.trainers.compile_utils.MetricsList is gone" in last
    assert "pip install" not in last
