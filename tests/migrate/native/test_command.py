"""`parallel-compat migrate --to native`: its options, the file of helpers, and what it leaves alone."""

from __future__ import annotations

import json
import sys
from io import BytesIO, TextIOWrapper

import pytest

from parallel_compat.command import main
from tests.migrate.check import without_line

OLD = "from keras import backend as K\nx = K.hard_sigmoid(y)\n"


def run(*arguments: str) -> int:
    return main(["migrate", "--to", "native", *arguments])


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_without_write_the_helpers_are_shown_and_not_made(tmp_path, capsys):
    (tmp_path / "old.py").write_text(OLD)
    assert run("old.py") == 0
    assert "+++ legacy_numerics.py" in capsys.readouterr().out
    assert [path.name for path in tmp_path.iterdir()] == ["old.py"]
    assert run("--check", "old.py") == 1


def test_helpers_lie_above_the_package_and_are_added_to(tmp_path):
    (tmp_path / "net").mkdir()
    (tmp_path / "net" / "__init__.py").write_text("")
    (tmp_path / "net" / "gates.py").write_text(OLD)
    assert run("--write", "net") == 0
    assert "def hard_sigmoid" in (tmp_path / "legacy_numerics.py").read_text()
    (tmp_path / "dots.py").write_text("from keras import backend as K\nx = K.batch_dot(y, z)\n")
    assert run("--write", "dots.py") == 0
    text = (tmp_path / "legacy_numerics.py").read_text()
    assert "def hard_sigmoid" in text
    assert "def batch_dot" in text
    assert "tensorflow" not in text
    assert run("--write", ".") == 0
    assert (tmp_path / "legacy_numerics.py").read_text() == text


def test_a_file_of_that_name_which_is_the_projects_own_stays(tmp_path, capsys):
    (tmp_path / "legacy_numerics.py").write_text("mine = 1\n")
    (tmp_path / "old.py").write_text(OLD)
    run("--write", "old.py")
    assert (tmp_path / "legacy_numerics.py").read_text() == "mine = 1\n"
    assert "not written by `migrate`" in capsys.readouterr().err


def test_a_file_that_does_not_parse_stays(tmp_path, capsys):
    source = "from keras import backend as K\nprint K.mean(x)\n"
    (tmp_path / "old.py").write_text(source)
    assert run("--write", "old.py") == 2
    assert (tmp_path / "old.py").read_text() == source
    assert "Python 2" in capsys.readouterr().err


def test_a_notebook_changes_in_its_code(tmp_path):
    cells = [
        {
            "cell_type": "code",
            "execution_count": 1,
            "metadata": {},
            "outputs": [],
            "source": ["%matplotlib inline\n", OLD],
        },
        {"cell_type": "code", "execution_count": 2, "metadata": {}, "outputs": [], "source": ["K.mean(x, axis=1)"]},
    ]
    book = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 2}
    (tmp_path / "old.ipynb").write_text(json.dumps(book, indent=1))
    (tmp_path / "__init__.py").touch()  # of a package beside it: a notebook imports from where it lies
    assert run("--write", "old.ipynb") == 0
    after = json.loads((tmp_path / "old.ipynb").read_text())["cells"]
    first, second = ("".join(cell["source"]) for cell in after)
    assert "%matplotlib inline\n" in first
    assert "x = hard_sigmoid(y)\n" in first
    assert second == "ops.mean(x, axis=1)"
    assert (tmp_path / "legacy_numerics.py").exists()


def test_stdin(monkeypatch, capsysbinary):
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(OLD.encode())))
    assert run("-") == 0
    out, error = capsysbinary.readouterr()
    assert without_line(out.decode()) == "from legacy_numerics import hard_sigmoid\nx = hard_sigmoid(y)\n"
    assert b"legacy_numerics.py" in error


@pytest.mark.parametrize("arguments", [["--keep", "parallel", "old.py"], ["--to", "native", "--keep", "all", "old.py"]])
def test_keep_is_for_parallel_models_of_the_native_target(arguments, tmp_path, capsys):
    (tmp_path / "old.py").write_text(OLD)
    try:
        code = main(["migrate", *arguments])
    except SystemExit as error:
        code = error.code
    assert code == 2
    assert "--keep" in capsys.readouterr().err


def test_rules_can_be_listed_explained_and_left_out(tmp_path, capsys):
    assert run("--list-rules") == 0
    assert "native-replicas" in capsys.readouterr().out
    assert run("--explain", "native-replicas") == 0
    assert "MirroredStrategy" in capsys.readouterr().out
    (tmp_path / "old.py").write_text(OLD)
    assert run("--write", "--ignore", "native-functions,native-names", "old.py") == 0
    assert "parallel_compat.legacy" in (tmp_path / "old.py").read_text()


def test_what_other_files_import_from_here_stays_and_is_named(tmp_path, capsys):
    (tmp_path / "common.py").write_text("from keras import backend as K, layers\n")
    (tmp_path / "model.py").write_text("from common import (K,\n                    layers)\nx = K.mean(y)\n")
    assert run("--write", ".") == 0
    assert without_line((tmp_path / "common.py").read_text()) == (
        "from keras import layers\nfrom parallel_compat.legacy import backend as K\n"
    )
    assert "Other files import `K`" in capsys.readouterr().err
