"""What cannot be meant is refused before Python starts: folders, missing files; options after the script are named."""

from __future__ import annotations

import pytest

from parallel_compat.command import main
from parallel_compat.run import script_argument


def test_a_folder_is_answered_with_the_scripts_in_it(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name in ("data.py", "train.py", "__init__.py"):
        (tmp_path / name).write_text("")
    with pytest.raises(SystemExit) as ended:
        main(["run", "."])
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert "Received: ., a folder without __main__.py. It has: train.py, data.py\n" in said
    (tmp_path / "__main__.py").write_text("")
    assert script_argument.why_not_a_script(".") is None


def test_a_missing_script_is_answered_with_near_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text("")
    assert script_argument.why_not_a_script("train.py") is None
    said = script_argument.why_not_a_script("trian.py")
    assert said == "expected a script. Received: trian.py, which does not exist. Is it train.py?"
    assert script_argument.why_not_a_script("other.py").endswith("which does not exist")


@pytest.mark.parametrize(
    ("arguments", "source", "late"),
    [
        (["--replicas", "2"], "import keras", ["--replicas"]),
        (["--replicas=2", "--era", "keras-2.3"], "import keras", ["--replicas", "--era"]),
        (["--replicas", "2"], "parser.add_argument('--replicas')", []),
        (["--allow-lambdas"], "flags.DEFINE_bool('allow_lambdas', False, '')", []),
        (["--epochs", "2"], "import keras", []),
    ],
)
def test_options_of_run_after_the_script_are_named_unless_the_script_takes_them(tmp_path, arguments, source, late):
    (tmp_path / "train.py").write_text(source)
    own = ["--replicas", "--era", "--allow-lambdas"]
    assert script_argument.options_after_script(str(tmp_path / "train.py"), arguments, own) == late


def test_a_module_beside_the_script_may_take_them(tmp_path):
    (tmp_path / "train.py").write_text("import options")
    (tmp_path / "options.py").write_text("parser.add_argument('--replicas')")
    assert script_argument.options_after_script(str(tmp_path / "train.py"), ["--replicas", "2"], ["--replicas"]) == []


def test_the_hint_comes_first_and_the_script_runs(tmp_path, run):
    (tmp_path / "train.py").write_text("import sys; print(sys.argv[1:])\n")
    ours = run("train.py", "--replicas", "2")
    assert ours.stdout == "['--replicas', '2']\n"
    assert ours.stderr.splitlines() == [
        "parallel-compat run: --replicas went to train.py, which does not use it. Options of run come before the "
        "script: parallel-compat run --replicas ... train.py"
    ]


def test_a_notebook_is_told_from_a_script(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my net.ipynb").write_text('{"cells": [{"execution_count": null}]}')
    said = script_argument.why_not_a_script("my net.ipynb")
    assert "a notebook. In Jupyter, begin with a cell `%load_ext parallel_compat`" in said
    assert said.endswith("jupyter nbconvert --to script 'my net.ipynb'")
