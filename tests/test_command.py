"""The command itself: versions, help, interruption and closed pipes. Subcommands are tested where they are."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import keras
import pytest
import tensorflow as tf

from parallel_compat import command

PROJECT = Path(__file__).parents[1]


def started(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
        timeout=300,
        check=False,
        **options,
    )


def test_version_says_what_a_bug_report_needs(capsys):
    assert command.main(["--version"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("parallel-compat ")
    assert lines[1].startswith(f"Python {sys.version.split()[0]} on ")
    assert lines[2].startswith(f"tensorflow {tf.__version__.partition('-')[0]}")
    assert f"keras {keras.__version__}" in lines
    assert lines[-1].startswith("devices CPU:0")


def test_without_a_subcommand_it_prints_help(capsys):
    assert command.main([]) == 0
    captured = capsys.readouterr()
    assert "migrate" in captured.out
    assert captured.err == ""


def test_interrupted_it_ends_with_one_line(capsys, monkeypatch):
    def interrupt(arguments: list[str]) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "_run", interrupt)
    assert command.main(["names"]) == 130
    assert capsys.readouterr().err == "parallel-compat: interrupted\n"


def test_a_closed_pipe_ends_it_quietly():
    """`--explain all | head -1`: the text is longer than a pipe holds."""
    shell = f"{sys.executable} -m parallel_compat migrate --explain all | head -1; echo ${{PIPESTATUS[0]}}"
    result = subprocess.run(
        ["bash", "-c", shell],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
        check=True,
    )
    assert result.stderr == ""
    assert result.stdout.splitlines()[-1] == "0"


def test_without_tensorflow_it_says_what_to_install():
    """`import parallel_compat` and `migrate` need none; the rest says how to get it."""
    hide = "import sys; sys.modules['tensorflow'] = sys.modules['keras'] = None\nimport parallel_compat\n"
    result = started(
        "-c", hide + "from parallel_compat.command import main; print(main(['names', 'keras.layers.Dense']))"
    )
    assert result.stdout.endswith("\n0\n")
    result = started("-c", hide + "parallel_compat.parallelize")
    assert "pip install 'parallel-compat[tensorflow]'" in result.stderr


@pytest.mark.parametrize(
    ("report", "sentence"), [("missing/used.json", "a folder that exists"), (".", "which is a folder")]
)
def test_a_report_that_cannot_be_written_is_refused_before_the_script_runs(tmp_path, report, sentence):
    (tmp_path / "train.py").write_text("print('trained')\n")
    result = started("-m", "parallel_compat", "run", "--report", report, "train.py", cwd=tmp_path)
    assert result.returncode == 2
    assert sentence in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize("subcommand", [*command.SUBCOMMANDS])
def test_a_wrong_option_is_refused_by_the_subcommand(subcommand, capsys):
    first = "fetch" if subcommand == "originals" else "a"  # its actions are known
    with pytest.raises(SystemExit) as ended:
        command.main([subcommand, "--no-such-option", first, "-o", "b"])
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith(f"usage: parallel-compat {subcommand} ")
    assert "--no-such-option" in said
    assert f"\nparallel-compat {subcommand}: error: " in said
