"""At the end: each legacy name that was used, where, how often, and what it became."""

from __future__ import annotations

import json

import pytest

from parallel_compat.command import main

SCRIPT = """from keras.layers import Dense
from keras.models import Sequential
from keras.utils import np_utils

for _ in range(3):
    labels = np_utils.to_categorical([0, 1], 2)
layer = Dense(output_dim=2)
"""


def test_names_places_and_counts(tmp_path, run):
    (tmp_path / "train.py").write_text(SCRIPT)
    ours = run("--report", "used.json", "train.py")
    assert ours.returncode == 0, ours.stderr
    report = ours.stderr[ours.stderr.index("parallel-compat: ") :].splitlines()
    assert report == [
        "parallel-compat: 2 legacy names used",
        "  train.py",
        "    :6  keras.utils.np_utils.to_categorical -> keras.utils.to_categorical (3 times)",
        "    :7  Dense(output_dim=) -> units=",
        "  Results as of keras-2.2.4: train.py (imports keras)",
        "  To rewrite them: parallel-compat migrate train.py    (shows the changes; --write makes them)",
    ]
    rows = json.loads((tmp_path / "used.json").read_text())["legacy_names"]  # np_utils and Dense start no device
    assert rows == [
        {
            "file": str(tmp_path / "train.py"),
            "line": 6,
            "name": "keras.utils.np_utils.to_categorical",
            "became": "keras.utils.to_categorical",
            "count": 3,
        },
        {"file": str(tmp_path / "train.py"), "line": 7, "name": "Dense(output_dim=)", "became": "units=", "count": 1},
    ]


def test_migrate_counts_the_same_uses_of_a_file(tmp_path, capsys):
    """`run` counts names, `migrate` places: the same number where each name is used in one place."""
    (tmp_path / "train.py").write_text(SCRIPT)
    assert main(["migrate", str(tmp_path / "train.py")]) == 0
    assert "2 legacy uses would be rewritten" in capsys.readouterr().err


@pytest.mark.slow
def test_the_hint_names_the_folder_of_the_project(tmp_path, run):
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "names.py").write_text("from keras.utils.np_utils import to_categorical\n")
    (tmp_path / "project" / "train.py").write_text("import names\nfrom keras.layers.core import Dense\n")
    assert "parallel-compat migrate project    (" in run("project/train.py").stderr


@pytest.mark.slow
def test_quiet_prints_nothing_and_still_writes(tmp_path, run):
    (tmp_path / "train.py").write_text(SCRIPT)
    ours = run("--quiet", "--report", "used.json", "train.py")
    assert "parallel-compat" not in ours.stderr
    assert len(json.loads((tmp_path / "used.json").read_text())["legacy_names"]) == 2


@pytest.mark.slow
def test_a_modern_script_is_not_reported(tmp_path, run):
    # `Adam` would be: its step is that of the era, and that is a difference worth a line.
    (tmp_path / "train.py").write_text("import keras\nkeras.layers.Dense(2)\nkeras.optimizers.AdamW(1e-3)\n")
    ours = run("--report", "used.json", "train.py")
    assert "parallel-compat" not in ours.stderr
    assert json.loads((tmp_path / "used.json").read_text())["legacy_names"] == []


MOVED = """import os, tempfile; import tensorflow as tf; folder = tempfile.mkdtemp(); os.chdir(folder); os.rmdir(folder)
with tf.device("/gpu:0"): print("sum", tf.reduce_sum(tf.ones((2, 2))).numpy())
import helper
"""


def test_the_error_comes_last_wherever_the_script_went(tmp_path, run):
    (tmp_path / "helper.py").write_text("from keras.layers import Dense\ndef make():\n    return Dense(output_dim=3)\n")
    (tmp_path / "train.py").write_text(MOVED + SCRIPT + "helper.make()\nDense(output_dim=3)\n1 / 0\n")
    ours = run("train.py")
    assert (ours.returncode, ours.stdout) == (1, "sum 4.0\n")  # on a device that there is not
    report = ours.stderr[ours.stderr.index("parallel-compat: 2 legacy names used") :].splitlines()
    assert report[1:6] == [  # by file, each name once
        "  helper.py",
        "    :3  Dense(output_dim=) -> units=",
        "  train.py",
        "    :9      keras.utils.np_utils.to_categorical -> keras.utils.to_categorical (3 times)",
        "    :10,12  Dense(output_dim=) -> units=",
    ]
    assert report[-1] == "ZeroDivisionError: division by zero"
    assert ours.stderr.count("legacy names used") == 1


@pytest.mark.slow
def test_a_star_import_is_one_line(tmp_path, run):
    (tmp_path / "train.py").write_text("from keras.layers import *\nDense(2)\n")
    ours = run("train.py")
    assert "    :1  from keras.layers import * -> " in ours.stderr


DEVICES = """import keras
import sys
from keras.utils import multi_gpu_model

model = keras.Sequential([keras.layers.Dense(3, input_shape=(8,))])
multi_gpu_model(model, gpus=int(sys.argv[1]))
"""


@pytest.mark.slow
def test_it_says_what_it_ran_on(tmp_path, run):
    (tmp_path / "train.py").write_text(DEVICES)
    ours = run("--replicas", "3", "--report", "used.json", "train.py", "3")
    assert "\n  Ran on 3 simulated CPU devices\n" in ours.stderr
    assert "parallel-compat: 1 legacy name used\n" in ours.stderr
    assert json.loads((tmp_path / "used.json").read_text())["devices"] == "3 simulated CPU devices"
    ours = run("--replicas", "3", "--report", "used.html", "train.py", "2")
    assert "\n  Ran on 2 of 3 simulated CPU devices (CPU:0, CPU:1)\n" in ours.stderr
    page = (tmp_path / "used.html").read_text()
    assert "<b>2 of 3 simulated CPU devices (CPU:0, CPU:1)</b>ran on" in page
    assert "<code>from keras.utils import multi_gpu_model</code>" in page


@pytest.mark.slow
def test_without_gpus_the_error_names_the_option_of_run(tmp_path, run):
    (tmp_path / "train.py").write_text(DEVICES)
    ours = run("train.py", "2")
    assert ours.returncode == 1
    assert "add `--replicas 2`: `parallel-compat run --replicas 2 ...`" in ours.stderr
    assert "simulate_devices" not in ours.stderr
    assert "\n  Ran on the CPU\n" in ours.stderr
