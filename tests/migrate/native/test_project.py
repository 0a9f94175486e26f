"""The project of 2018 as native code: trained by plain python where there is no parallel_compat."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

import parallel_compat
from parallel_compat.command import main
from tests.migrate.check import without_line
from tests.migrate.native.check import run_alone

PROJECT = Path(parallel_compat.__file__).parent.parent / "examples" / "old_project"


def texts(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.rglob("*.*py*") if path.suffix in (".py", ".ipynb")}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("native") / "project"
    shutil.copytree(PROJECT, folder)
    assert main(["migrate", "--to", "native", "--write", str(folder)]) == 0
    return folder


def test_nothing_of_this_package_is_left_but_the_line_that_says_who_wrote_the_helpers(folder):
    for name, text in texts(folder).items():
        assert "parallel_compat" not in text, name
        assert "parallel-compat" not in without_line(text) or name == "legacy_numerics.py", name


def test_the_helpers_are_those_that_are_used(folder):
    text = (folder / "legacy_numerics.py").read_text()
    defined = set(re.findall(r"^(?:def|class) (\w+)", text, re.MULTILINE))
    files = {"save_weights", "save_model", "load_model", "ModelCheckpoint"}
    assert defined == {"with_decay", "all_batches", "function_of", "metric_function", *files}
    assert "shutil" not in text  # which none of these uses


def test_a_second_run_changes_nothing(folder, capsys):
    before = texts(folder)
    capsys.readouterr()
    assert main(["migrate", "--to", "native", "--write", "--format", "json", str(folder)]) == 0
    assert texts(folder) == before
    assert {file["status"] for file in json.loads(capsys.readouterr().out)["files"]} == {"unchanged"}


@pytest.mark.slow
def test_it_trains_and_predicts_by_itself(folder):
    output = run_alone(folder, 1, "train.py", "--epochs", "3", "--gpus", "1")
    assert float(re.search(r"training accuracy ([\d.]+)", output).group(1)) > 0.9
    assert sorted(path.name for path in (folder / "out").iterdir()) == ["model.h5", "weights.02.hdf5", "weights.h5"]
    output = run_alone(folder, 1, "predict.py", "out/model.h5")
    assert float(re.search(r"accuracy ([\d.]+)", output).group(1)) > 0.85
