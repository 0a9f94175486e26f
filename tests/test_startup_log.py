"""TensorFlow's start-up lines are left out of stderr, and what the user writes there is not."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]
LOG = re.compile(r"^(WARNING: All log messages before absl|[IWE]\d{4} \d\d:)", re.MULTILINE)

# Before, during and after the import, by Python, by the descriptor, by a child and by TensorFlow itself.
TALKS = """
import os, subprocess, sys, threading, time
print("mine: before", file=sys.stderr)
done = threading.Event()
def meanwhile():
    while "tensorflow" not in sys.modules:
        time.sleep(0.001)
    os.write(2, b"I0 mine: during, E0000 and no log line\\n")
    subprocess.run([sys.executable, "-S", "-c", "import os; os.write(2, b'mine: a child\\\\n')"])
    done.set()
threading.Thread(target=meanwhile).start()
import tensorflow as tf
done.wait()
print("mine: after", file=sys.stderr)
tf.config.list_logical_devices()
tf.print("mine: TensorFlow's print")
os.write(2, b"mine: no end of line")
"""
SAID = [
    "mine: before", "I0 mine: during, E0000 and no log line", "mine: a child", "mine: after",
    "mine: TensorFlow's print", "mine: no end of line",
]  # fmt: skip


def started(*arguments: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    inherited = {name: value for name, value in os.environ.items() if name != "TF_CPP_MIN_LOG_LEVEL"}
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, capture_output=True, text=True, timeout=300, check=False,
        env={**inherited, "PYTHONPATH": str(PROJECT), **environment},
    )  # fmt: skip


@pytest.mark.slow
def test_run_leaves_out_the_lines_of_tensorflow_alone(tmp_path):
    (tmp_path / "train.py").write_text(TALKS)
    ours = started("-m", "parallel_compat", "run", "train.py", folder=tmp_path)
    assert ours.stderr.splitlines() == SAID
    theirs = started("-m", "parallel_compat", "run", "--verbose", "train.py", folder=tmp_path)
    assert LOG.search(theirs.stderr)
    assert [line for line in theirs.stderr.splitlines() if line in SAID] == SAID


def test_recover_and_inspect(tmp_path):
    old = PROJECT / "tests" / "data" / "oracle" / "h5" / "sgd_even.parallel.h5"
    assert started("-m", "parallel_compat", "inspect", str(old), folder=tmp_path).stderr == ""
    ours = started("-m", "parallel_compat", "recover", str(old), "-o", "new.keras", folder=tmp_path)
    assert (ours.returncode, ours.stderr) == (0, "")


@pytest.mark.skipif(os.name != "posix", reason="the descriptor is filtered on POSIX systems only")
def test_what_ends_the_import_is_told(tmp_path):
    """A processor without AVX: TensorFlow says so and aborts. The descriptor is the user's again after an error."""
    (tmp_path / "tensorflow").mkdir()
    module = tmp_path / "tensorflow" / "__init__.py"
    told = "F0000 00:00:1.5 7 cpu.cc:1] The TensorFlow library was compiled to use AVX instructions.\n"
    module.write_text(f"import os\nos.write(2, {told!r}.encode())\nos.abort()\n")
    program = "from parallel_compat import startup_log; startup_log.leave_out()\n"
    folder = {"folder": tmp_path, "PYTHONPATH": f"{tmp_path}{os.pathsep}{PROJECT}"}
    ended = started("-c", program + "import tensorflow", **folder)
    assert ended.returncode < 0
    assert told in ended.stderr
    module.write_text("raise ImportError('broken')\n")
    kept = (
        "import os\nbefore = os.fstat(2)\ntry:\n    import tensorflow\nexcept ImportError as error:\n    print(error)\n"
    )
    ended = started("-c", program + kept + "print(os.path.samestat(os.fstat(2), before))", **folder)
    assert ended.stdout == "broken\nTrue\n"
