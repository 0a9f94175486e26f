"""The command as a user runs it: what it prints, writes and returns."""

from __future__ import annotations

import contextlib
import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import parallel_compat
from parallel_compat.command import main
from tests.migrate.check import LINE, without_line

OLD = "from keras.utils import multi_gpu_model\n"
NEW = f"{LINE}from parallel_compat import multi_gpu_model\n"
GONE = "import tensorflow as tf\nx = tf.add_to_collection(3)\n"


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old.py").write_text(OLD)
    (tmp_path / "plain.py").write_text("x = 1\n")
    return tmp_path


def run(*arguments: str) -> int:
    return main(["migrate", *arguments])


def test_without_write_it_prints_a_diff_and_changes_nothing(project, capsys):
    assert run("old.py", "plain.py") == 0
    assert (project / "old.py").read_text() == OLD
    captured = capsys.readouterr()
    assert captured.out.splitlines() == [
        "--- old.py", "+++ old.py", "@@ -1 +1,2 @@", "-" + OLD[:-1], *("+" + line for line in NEW.splitlines())
    ]  # fmt: skip
    assert "2 files: 1 would be rewritten." in captured.err


def test_the_diff_can_be_applied(project, capsys):
    (project / "no_end.py").write_bytes(b"import keras\r\nx = 1\r\nkeras.utils.multi_gpu_model(m)")
    run("old.py", "no_end.py")
    diff = capsys.readouterr().out
    subprocess.run(["git", "apply", "-p0", "-"], input=diff.encode(), check=True, cwd=project)
    assert (project / "old.py").read_text() == NEW
    assert (project / "no_end.py").read_bytes().endswith(b"\r\nmulti_gpu_model(m)")


def test_write(project, capsys):
    os.chmod(project / "old.py", 0o755)
    assert run("--write", ".") == 0
    assert (project / "old.py").read_text() == NEW
    assert stat.S_IMODE((project / "old.py").stat().st_mode) == 0o755
    assert run("--check", ".") == 0
    assert sorted(path.name for path in project.iterdir()) == ["old.py", "plain.py"]


@pytest.mark.parametrize(("source", "code"), [(OLD, 1), (GONE, 1), (NEW, 0), ("x = 1\n", 0)])
def test_check(project, source, code):
    (project / "old.py").write_text(source)
    assert run("--check", "old.py") == code
    assert run("old.py") == 0
    assert (project / "old.py").read_text() == source


ALIKE = "import keras\nmodel.compile('adagrad', 'mse')\nmodel.load_weights('w.h5')\n"  # today's code may say so, too


def test_a_file_that_may_be_old_is_left_and_what_would_change_is_told(project, capsys):
    (project / "alike.py").write_text(ALIKE)
    assert run("--check", "--unsafe", "alike.py", "plain.py") == 0
    told = [line for line in capsys.readouterr().err.splitlines() if line.startswith("alike.py")]
    (line,) = told
    assert line.startswith("alike.py:2:15: this file has no old names; if it is old, its results change: `adag")
    assert line.endswith("`--era keras-2.2.4` migrates it as old.")


def test_a_file_beside_old_ones_counts_as_old_and_that_is_told(project, capsys):
    source = "from keras.layers import LSTM\nlayer = LSTM(3)\nother = LSTM(4)\n"
    (project / "gates.py").write_text(source)
    assert run("--write", "--unsafe", "gates.py", "plain.py") == 0
    assert (project / "gates.py").read_text() == source
    assert "gates.py:2:9: this file has no old names; if it is old" in capsys.readouterr().err
    assert run("--unsafe", "--format", "json", "gates.py", "old.py") == 0
    assert "counts as old" in json.loads(capsys.readouterr().out)["files"][0]["reason"]
    assert run("--write", "--unsafe", "gates.py", "old.py") == 0
    assert (project / "gates.py").read_text().count("recurrent_activation=hard_sigmoid") == 2
    told = "this file has no old names; it counts as old, like old.py (and 1 other place): `LSTM`: `rec"
    assert f"gates.py:2:9: {told}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("era", "arguments"),
    [
        ("keras-2.2.4", "learning_rate=0.01, initial_accumulator_value=0.0"),
        ("tf.keras-2.2", None),
    ],
)
@pytest.mark.parametrize("target", ["parallel_compat", "native"])
def test_the_era_of_files_can_be_given(project, capsys, era, arguments, target):
    (project / "alike.py").write_text(ALIKE)
    assert run("--write", "--to", target, "--era", era, "alike.py") == 0
    assert (f"Adagrad({arguments}), 'mse')" if arguments else ALIKE) in (project / "alike.py").read_text()
    assert "this file has no old names" not in capsys.readouterr().err


def test_check_counts_what_is_unsafe(project, capsys):
    (project / "old.py").write_text("import keras\ndef f(model):\n    model.fit_generator(g)\n")
    assert run("--check", "old.py") == 1
    assert run("--write", "old.py") == 0
    assert " 1 more needs `--unsafe`: the sources do not prove that it is safe." in capsys.readouterr().err
    assert "model.fit_generator(g)" in (project / "old.py").read_text()
    assert run("--check", "old.py") == 1
    assert run("--write", "--unsafe", "old.py") == 0
    assert "    fit_generator(model, g)" in (project / "old.py").read_text()


def test_results_that_no_argument_can_say_are_reported(project, capsys):
    (project / "old.py").write_text(
        "from keras.layers import Embedding\nfrom keras.optimizers import Nadam\n"
        "layer = Embedding(3, 2, input_length=4)\nmodel.compile(Nadam(lr=0.1), 'categorical_crossentropy')\n"
    )
    assert run("old.py") == 0
    told = capsys.readouterr().err
    assert "Results that may differ" in told
    for words in ("`Nadam`. Before: momentum of", "a row of an `Embedding`", "cross-entropies"):
        assert words in told, told
    (project / "new.py").write_text("import keras\nlayer = keras.layers.BatchNormalization()\n")  # of the same project
    assert run("old.py", "new.py") == 0
    assert "`BatchNormalization`, moving statistics" in capsys.readouterr().err
    assert run("--to", "native", "old.py") == 0
    assert "Results that may differ" not in capsys.readouterr().err
    for to, told in (("parallel_compat", True), ("native", False)):
        run("--format", "json", "--to", to, "old.py")
        assert bool(json.loads(capsys.readouterr().out)["results"]) == told
    (project / "old.py").write_text(NEW)
    assert run("old.py") == 0
    assert "Results that may differ" not in capsys.readouterr().err


def test_what_needs_attention_is_told_with_its_place(project, capsys):
    (project / "old.py").write_text(GONE)
    run("old.py")
    error = capsys.readouterr().err
    assert "old.py:2:5: attention [imports] `tensorflow.add_to_collection` is gone." in error
    assert " 1 place needs your attention." in error


def test_places_are_those_of_the_written_file(project, capsys):
    (project / "old.py").write_text(f"import keras\n{OLD}m = keras.utils.multi_gpu_model(n)\n{GONE}")
    run("--write", "--html", "r.html", "old.py")
    told = [line for line in capsys.readouterr().err.splitlines() if "attention [" in line]
    number, column = (int(part) for part in told[0].split(":")[1:3])
    line = (project / "old.py").read_text().splitlines()[number - 1]
    assert number > 5
    assert line[column - 1 :].startswith("tf.add_to_collection")
    assert f"old.py:{number}:{column}" in (project / "r.html").read_text()
    run("old.py")
    assert told == [line for line in capsys.readouterr().err.splitlines() if "attention [" in line]


def test_json(project, capsys):
    (project / "gone.py").write_text(GONE)
    (project / "guess.py").write_text("import keras\ndef f(model):\n    model.fit_generator(g)\n")
    (project / "python2.py").write_text("import keras\nprint 'hello'\n")
    assert run("--format", "json", "./old.py", "plain.py", "gone.py", "guess.py", "python2.py") == 2
    report = json.loads(capsys.readouterr().out)
    assert set(report) == {"files", "findings", "results"}
    assert [(file["path"], file["status"]) for file in report["files"]] == [
        ("./old.py", "changed"),
        ("plain.py", "unchanged"),
        ("gone.py", "unchanged"),
        ("guess.py", "unchanged"),
        ("python2.py", "failed"),
    ]
    assert "Python 2" in report["files"][-1]["reason"]
    assert [
        (finding["path"], finding["line"], finding["column"], finding["rule"], finding["status"])
        for finding in report["findings"]
    ] == [
        ("./old.py", 1, 25, "imports", "rewritten"),
        ("gone.py", 2, 5, "imports", "attention"),
        ("guess.py", 3, 5, "generator-methods", "unsafe"),
    ]
    assert all(finding["message"] for finding in report["findings"])


def test_sarif(project, capsys):
    run("--format", "sarif", "old.py")
    (one,) = json.loads(capsys.readouterr().out)["runs"]
    assert one["tool"]["driver"]["name"] == "parallel-compat"
    (result,) = one["results"]
    location = result["locations"][0]["physicalLocation"]
    assert (result["ruleId"], location["artifactLocation"]["uri"]) == ("imports", "old.py")
    assert location["region"] == {"startLine": 1, "startColumn": 25}


def test_select_and_ignore(project):
    source = "from keras.optimizers import SGD, adam\nSGD(lr=1.0)\n"
    (project / "old.py").write_text(source)
    run("--write", "--select", "optimizer-arguments", "old.py")
    assert (project / "old.py").read_text() == LINE + source.replace("lr=", "learning_rate=")
    (project / "old.py").write_text(source)
    run("--write", "--ignore", "optimizer-arguments,changed-defaults", "old.py")
    assert (project / "old.py").read_text() == LINE + source.replace("adam", "Adam as adam")


def test_a_selected_rule_brings_the_import_that_it_needs(project):
    (project / "old.py").write_text("from keras.optimizers import SGD, adam\nSGD(decay=1e-6)\n")
    run("--write", "--select", "optimizer-arguments", "old.py")
    assert without_line((project / "old.py").read_text()) == (
        "from keras.optimizers import adam\nfrom parallel_compat.legacy.optimizers import SGD\nSGD(decay=1e-6)\n"
    )


@pytest.mark.parametrize(
    ("comment", "left"),
    [
        ("# parallel-compat: ignore", True),
        ("# parallel-compat: ignore[imports]", True),
        ("# noqa  # parallel-compat: ignore[save-weights, imports]", True),
        ("# parallel-compat: ignore[save-weights]", False),
        ("# ignore", False),
    ],
)
def test_ignore_comments(project, comment, left):
    source = OLD[:-1] + "  " + comment + "\n"
    (project / "old.py").write_text(source)
    run("--write", "old.py")
    assert ((project / "old.py").read_text() == source) is left


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["no_such_file.py"],
        ["--select", "no-such-rule", "old.py"],
        ["--explain", "no-such-rule"],
        ["--write", "--check", "old.py"],
        ["-", "old.py"],
        ["--jobs", "0", "old.py"],
    ],
)
def test_what_cannot_run(project, arguments, capsys):
    try:
        code = run(*arguments)
    except SystemExit as error:  # argparse
        code = error.code
    assert code == 2
    assert capsys.readouterr().err
    assert (project / "old.py").read_text() == OLD


def test_list_and_explain(capsys):
    assert run("--list-rules") == 0
    assert "generator-methods" in capsys.readouterr().out
    assert run("--explain", "generator-methods") == 0
    text = capsys.readouterr().out
    assert "fit_generator" in text
    assert "```diff" in text


def test_many_processes_tell_the_same(project, capsys):
    for number in range(12):
        (project / f"m{number}.py").write_text(OLD + f"x = {number}\n")
    run("--format", "json", ".")
    alone = capsys.readouterr().out
    run("--format", "json", "--jobs", "2", ".")
    assert capsys.readouterr().out == alone


def _as_a_process(*arguments, data=b""):
    command = [sys.executable, "-c", "import sys; from parallel_compat.command import main; sys.exit(main())"]
    return subprocess.run([*command, "migrate", *arguments], input=data, capture_output=True, check=False)


def test_stdin_to_stdout():
    done = _as_a_process("-", data=(OLD + "# ä\r\n").encode("latin-1"))
    assert done.returncode == 2  # latin-1 without a declaration
    done = _as_a_process("-", data=b"# coding: latin-1\r\n" + (OLD + "# ä\r\n").encode("latin-1"))
    assert done.returncode == 0
    assert done.stdout == b"# coding: latin-1\r\n" + (NEW.replace(LINE, LINE[:-1] + "\r\n") + "# ä\r\n").encode(
        "latin-1"
    )
    assert _as_a_process("--check", "-", data=OLD.encode()).returncode == 1
    broken = b"import keras\nprint 'x'\n"
    done = _as_a_process("-", data=broken)
    assert (done.returncode, done.stdout) == (2, broken)


def test_nothing_of_tensorflow_is_imported(project):
    code = (
        "import sys\nfrom parallel_compat.command import main\n"
        "assert main(['migrate', '--write', 'old.py']) == 0\n"
        "heavy = {'tensorflow', 'keras', 'h5py', 'numpy'} & set(sys.modules)\nassert not heavy, heavy\n"
    )
    path = str(Path(parallel_compat.__file__).parent.parent)  # the source under test, also where another is installed
    done = subprocess.run(
        [sys.executable, "-c", code],
        check=False,
        cwd=project,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert done.returncode == 0, done.stderr
    assert (project / "old.py").read_text() == NEW


def test_a_file_that_cannot_be_replaced_is_left_as_it_is(project, monkeypatch, capsys):
    def refuse(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", refuse)
    assert run("--write", "old.py") == 2
    assert (project / "old.py").read_text() == OLD
    assert "No space left on device" in capsys.readouterr().err
    assert sorted(path.name for path in project.iterdir()) == ["old.py", "plain.py"]


def test_hints_are_told_in_a_legacy_project_only(project, capsys):
    (project / "old.py").write_text("from keras.layers import LSTM\nx = LSTM(3)\n")
    assert run("--check", "old.py") == 0
    (project / "other.py").write_text(OLD)
    assert run("--check", ".") == 1
    assert "old.py:2:5: unsafe [changed-defaults]" in capsys.readouterr().err


def test_a_terminal_that_lacks_the_letters(project):
    (project / "old.py").write_text(OLD + "# 漢字 ä\n")
    code = "import sys; from parallel_compat.command import main; sys.exit(main())"
    path = str(Path(parallel_compat.__file__).parent.parent)
    done = subprocess.run(
        [sys.executable, "-c", code, "migrate", "old.py"],
        check=False,
        cwd=project,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": path, "PYTHONIOENCODING": "ascii"},
    )
    assert done.returncode == 0, done.stderr
    assert b"+from parallel_compat import multi_gpu_model" in done.stdout


def test_a_bar_on_a_terminal(project, monkeypatch, capsys):
    for number in range(30):
        (project / f"m{number}.py").write_text(OLD)
    shown = []
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("rich.progress.Progress.update", lambda self, task, **fields: shown.append(fields["advance"]))
    assert run("--write", ".") == 0
    assert sum(shown) == 32


def test_the_summary_counts_by_rule(project, capsys):
    (project / "old.py").write_text(OLD + "from keras.optimizers import SGD\nSGD(lr=1.0)\nmodel.fit_generator(g)\n")
    (project / "gone.py").write_text(GONE)
    run("--write", ".")
    lines = capsys.readouterr().err.splitlines()
    assert "3 files: 1 rewritten." in lines
    assert (
        "2 legacy uses rewritten. 1 more needs `--unsafe`: the sources do not prove that it is safe. "
        "1 place needs your attention."
    ) in lines
    table = {line.split()[0]: line.split()[1:] for line in lines[lines.index("3 files: 1 rewritten.") + 2 :]}
    assert table["imports"] == ["1", "0", "1"]
    assert table["generator-methods"] == ["0", "1", "0"]


def test_the_pre_commit_hooks_call_the_command():
    text = (Path(__file__).parent.parent.parent / ".pre-commit-hooks.yaml").read_text("utf-8")
    entries = [line.partition("entry: parallel-compat ")[2].split() for line in text.splitlines() if "entry:" in line]
    assert entries == [["migrate", "--write"], ["migrate", "--check"]]
    assert text.count("language: python") == 2


def test_what_cannot_be_written_is_not_counted_as_rewritten(project, capsys, monkeypatch):
    def refuse(path, **options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("parallel_compat.migrate.migrate_command.replacing", refuse)
    assert run("--write", "old.py") == 2
    error = capsys.readouterr().err
    assert "old.py: unchanged, cannot be written: Permission denied" in error
    assert "1 file: 0 rewritten, 1 failed." in error
    assert "0 legacy uses rewritten. 1 place needs your attention." in error


def test_one_is_singular(project, capsys):
    run("old.py")
    assert "1 legacy use would be rewritten.\n" in capsys.readouterr().err


def test_a_diff_has_colours_on_a_terminal_only(project):
    """A pseudo-terminal of the system's own: `rich` decides by it, and NO_COLOR switches it off."""
    import pty

    def shown(**environment: str) -> bytes:
        mine, theirs = pty.openpty()
        command = [sys.executable, "-m", "parallel_compat", "migrate", "old.py"]
        settings = {
            **os.environ,
            "PYTHONPATH": str(Path(parallel_compat.__file__).parents[1]),
            "TERM": "xterm-256color",
        }
        subprocess.run(command, stdout=theirs, stderr=subprocess.DEVNULL, env={**settings, **environment}, check=True)
        os.close(theirs)
        text = b""
        with contextlib.suppress(OSError):  # Linux says "input/output error" at the end
            while piece := os.read(mine, 4096):
                text += piece
        os.close(mine)
        return text

    assert b"\x1b[32m+from parallel_compat import multi_gpu_model" in shown()
    assert b"\x1b[" not in shown(NO_COLOR="1")


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (
            "import pandas\nhistory = model.fit(x, y)\nprint(pandas.DataFrame(history.history))\n",
            "the keys of `history",
        ),
        ("import numpy as np\nnp.random.seed(3)\nmodel.fit(x, y)\n", "the order of samples"),
    ],
)
def test_results_that_differ_are_told(project, capsys, code, told):
    (project / "old.py").write_text(f"from keras.layers import Convolution2D, merge\n{code}")
    run("old.py")
    assert told in capsys.readouterr().err
    (project / "old.py").write_text("from keras.layers import Convolution2D, merge\n")
    run("old.py")
    assert told not in capsys.readouterr().err
