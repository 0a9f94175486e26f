"""A script under `parallel-compat run` finds what it would find under `python`."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SHOW = """
import sys, os
print(sys.argv, sys.path[0], __name__, globals().get("__file__"), __spec__ and __spec__.name, sys.flags.dev_mode)
print(sys.modules["__main__"].__dict__ is globals(), os.getcwd(), sys.excepthook is not None)
print([p for p in sys.path if "parallel_compat" in p and "startup" in p])
"""


def test_a_script_is_started_as_python_starts_it(tmp_path, run, python):
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "show.py").write_text(SHOW)
    theirs = python("scripts/show.py", "--epochs", "3", "-c", "x")
    ours = run("scripts/show.py", "--epochs", "3", "-c", "x")
    assert ours.stdout == theirs.stdout != ""
    assert (ours.stderr, ours.returncode) == (theirs.stderr, theirs.returncode) == ("", 0)


@pytest.mark.parametrize(
    ("arguments", "stdin"),
    [(("-m", "package.show", "--epochs", "3"), None), (("-c", SHOW, "-m", "x"), None), (("-", "a", "-q"), SHOW)],
)
def test_modules_code_and_stdin_too(tmp_path, run, python, arguments, stdin):
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("")
    (tmp_path / "package" / "show.py").write_text(SHOW)
    theirs, ours = python(*arguments, stdin=stdin), run(*arguments, stdin=stdin)
    assert ours.stdout == theirs.stdout != ""
    assert (ours.stderr, ours.returncode) == (theirs.stderr, theirs.returncode)


@pytest.mark.parametrize(
    "code",
    [
        "raise SystemExit(3)",
        "import sys; sys.exit('a message')",
        "import sys; sys.exit()",
        "1 / 0",
        "raise KeyboardInterrupt",
        "def f():\n  try:\n    1 / 0\n  except ZeroDivisionError as e:\n    raise KeyError('x') from e\nf()",
        "import helper",
        "import traceback\ntry:\n    import helper\nexcept ZeroDivisionError:\n    traceback.print_exc()",
        "x = (",
        "import threading\nt = threading.Thread(target=lambda: 1 / 0, name='t')\nt.start()\nt.join()",
        "import traceback\ntraceback.print_stack()",
    ],
)
def test_exit_codes_and_tracebacks_are_pythons(tmp_path, run, python, code):
    (tmp_path / "helper.py").write_text("def divide():\n    return 1 / 0\n\n\ndivide()\n")
    (tmp_path / "script.py").write_text(code + "\n")
    theirs, ours = python("script.py"), run("script.py")
    assert ours.returncode == theirs.returncode
    assert ours.stderr == theirs.stderr
    assert ours.stdout == theirs.stdout


def test_a_package_that_is_not_there_is_named_after_the_traceback(tmp_path, run, python):
    (tmp_path / "script.py").write_text("import nowhere\n")
    theirs, ours = python("script.py"), run("script.py")
    assert ours.returncode == theirs.returncode
    assert ours.stderr == theirs.stderr + (
        "parallel-compat: script.py:1: `nowhere`: not found: a module that the project lacks, or a package that is not "
        "installed (see its README).\n"
    )


@pytest.mark.slow
def test_an_error_in_keras_shows_the_users_frames_and_keras_own(tmp_path, run):
    (tmp_path / "script.py").write_text("import keras\n\nlayer = keras.layers.Dense(3, activation='nothing')\n")
    ours = run("script.py")
    assert ours.returncode == 1
    assert 'script.py", line 3, in <module>' in ours.stderr
    assert "parallel_compat/" not in ours.stderr.partition("parallel-compat: ")[0]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")
def test_ctrl_c_ends_it_as_it_ends_python(tmp_path):
    script = "import time\nprint('ready', flush=True)\ntime.sleep(60)\n"
    (tmp_path / "script.py").write_text(script)
    codes, errors = [], []
    for command in ([sys.executable], [sys.executable, "-m", "parallel_compat", "run"]):
        with subprocess.Popen(
            [*command, str(tmp_path / "script.py")],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        ) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            time.sleep(0.1)
            process.send_signal(signal.SIGINT)
            _, error = process.communicate(timeout=300)
            codes.append(process.returncode)
            errors.append(error)
    assert codes == [-signal.SIGINT, -signal.SIGINT]
    assert errors[0] == errors[1]


def test_the_users_sitecustomize_is_imported_all_the_same(tmp_path, run):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text("import sys\nsys.customized = True\n")
    import os

    path = os.pathsep.join([str(Path(__file__).parents[2]), str(tmp_path / "site")])
    ours = run("-c", "import sys; print(sys.customized)", PYTHONPATH=path)
    assert ours.stdout == "True\n", ours.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "expected SCRIPT, -m MODULE, -c CODE or -"),
        (("--replicas", "none", "x.py"), "expected a whole number from 1. Received: none"),
        (("-m",), "argument -m: expected one argument"),
    ],
)
def test_wrong_calls_are_refused_with_code_2(run, arguments, words):
    ours = run(*arguments)
    assert ours.returncode == 2
    assert words in ours.stderr


def test_a_script_that_is_not_there(run, python):
    theirs, ours = python("nowhere.py"), run("nowhere.py")
    assert ours.returncode == theirs.returncode == 2
    assert "expected a script. Received: nowhere.py, which does not exist" in ours.stderr


@pytest.mark.slow
def test_imports_leave_random_as_the_script_seeded_it(run):
    script = "import random\nrandom.seed(1)\nimport keras, tensorflow\nprint(random.random())"
    assert run("--quiet", "-c", script).stdout == "0.13436424411240122\n"


@pytest.mark.parametrize(("options", "switch"), [(["--replicas", "2"], "0"), ([], "None")])
def test_simulated_devices_compute_without_onednn(options, switch, run):
    """With it TensorFlow 2.21 crashes on a batch of one sample (`docs/reference/errors.md`)."""
    script = "import os; print(os.environ.get('TF_ENABLE_ONEDNN_OPTS'))"
    assert run(*options, "--quiet", "--era", "today", "-c", script).stdout.strip() == switch
