"""The report: whose Keras ran, why, on which devices, and what was mended for it."""

from __future__ import annotations

import json

SCRIPT = """from keras.layers import Dense
from keras.models import Sequential
import keras

print(keras.__version__, Sequential([Dense(2, input_shape=(3,))]).count_params())
"""
CERTAIN = "keras==2.2.4\ntensorflow==1.12\n"


def report(stderr):
    return stderr[stderr.index("parallel-compat: ") :].splitlines()


def test_it_says_which_keras_ran_why_and_where(tmp_path, forked):
    (tmp_path / "train.py").write_text(SCRIPT)
    (tmp_path / "requirements.txt").write_text(CERTAIN)
    ours = forked("--replicas", "3", "--report", "used.json", "train.py")
    assert ours.stdout == "2.2.4 8\n", ours.stderr
    first, second, third, last = report(ours.stderr)
    assert first.startswith("parallel-compat: ran Keras 2.2.4 (")
    assert "requirements.txt" in first
    assert second.startswith("  On 3 simulated GPUs on the CPU, with Python 3.")
    assert third.endswith(" fixes for today's libraries (--report FILE lists them)")
    assert last == "  To move it to Keras 3: parallel-compat migrate train.py"
    written = json.loads((tmp_path / "used.json").read_text())
    assert (written["era"], written["original"], written["certain"]) == ("keras-2.2.4", "Keras 2.2.4", True)
    assert len(written["mends"]) > 5
    assert not any("resume" in mend for mend in written["mends"])  # nobody asked for it
    assert written["versions"]["tensorflow"].removeprefix("tf_nightly ").startswith("2.")


def test_an_uncertain_choice_is_said_in_the_first_line_with_the_way_out(tmp_path, forked):
    (tmp_path / "train.py").write_text(SCRIPT)
    first = report(forked("train.py").stderr)[0]
    assert first.startswith("parallel-compat: assumed Keras 2.2.4: it imports keras, and nothing says which version")
    assert "--era keras-2.3" in first


def test_quiet_prints_nothing_and_still_writes_the_page(tmp_path, forked):
    (tmp_path / "train.py").write_text(SCRIPT)
    ours = forked("--quiet", "--report", "used.html", "train.py", "--epochs", "3")
    assert "parallel-compat" not in ours.stderr
    page = (tmp_path / "used.html").read_text()
    assert "Keras 2.2.4" in page
    assert "train.py --epochs 3" in page


def test_a_script_of_keras_3_is_run_as_it_is_and_not_reported(tmp_path, run):
    (tmp_path / "train.py").write_text("import keras\nprint(keras.__version__[0], keras.ops.sum([1, 2]) == 3)\n")
    ours = run("--report", "used.json", "train.py")
    assert ours.stdout.startswith("3 "), ours.stderr
    assert "parallel-compat" not in ours.stderr
    assert json.loads((tmp_path / "used.json").read_text())["original"] == ""


def test_the_error_comes_last_wherever_the_script_went(tmp_path, forked):
    (tmp_path / "train.py").write_text(
        "import os, tempfile\nimport keras\nfolder = tempfile.mkdtemp(); os.chdir(folder); os.rmdir(folder)\n1 / 0\n"
    )
    ours = forked("train.py")
    assert ours.returncode == 1
    assert ours.stderr.count("parallel-compat: assumed") == 1
    assert ours.stderr.splitlines()[-1] == "ZeroDivisionError: division by zero"


def test_a_project_of_python_2_is_told_before_anything_is_fetched_or_run(tmp_path, run):
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "train.py").write_text("import keras\nprint 'a'\n")
    (tmp_path / "old" / "data.py").write_text("import keras\nprint 'a'\n")
    (tmp_path / "old" / "today.py").write_text("import os, data\nprint('ran')\n")
    refused = run("old/train.py", PARALLEL_COMPAT_ORIGINALS=str(tmp_path / "cache"))
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr == (
        "parallel-compat run: train.py is Python 2 source (2 of 3 sources in its folder). Rewrite it first: "
        "`pip install fissix`, then `parallel-compat migrate --python2 --select python-2-names --write old`\n"
    )
    assert not (tmp_path / "cache").exists()
    of_a_module = run("--era", "today", "old/today.py")
    assert of_a_module.stderr.startswith("parallel-compat run: data.py is Python 2 source")
