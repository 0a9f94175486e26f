"""Child processes of the script have the legacy names, and their uses are in the report."""

from __future__ import annotations

import json

import pytest

SCRIPT = """import multiprocessing
import sys


def labels(i):
    from keras.utils.np_utils import to_categorical

    return to_categorical([i], 3).tolist()


if __name__ == "__main__":
    multiprocessing.set_start_method(sys.argv[1])
    with multiprocessing.Pool(2) as pool:
        print(pool.map(labels, range(3)))
        pool.close()
        pool.join()
"""


@pytest.mark.slow
@pytest.mark.parametrize("method", ["spawn", "fork", pytest.param("forkserver", marks=pytest.mark.slow)])
def test_multiprocessing(tmp_path, run, method):
    (tmp_path / "train.py").write_text(SCRIPT)
    ours = run("--report", "used.json", "train.py", method)
    assert ours.stdout == "[[[1.0, 0.0, 0.0]], [[0.0, 1.0, 0.0]], [[0.0, 0.0, 1.0]]]\n", ours.stderr
    rows = json.loads((tmp_path / "used.json").read_text())["legacy_names"]
    assert {(row["line"], row["name"]) for row in rows} == {(6, "keras.utils.np_utils.to_categorical")}


@pytest.mark.slow
def test_a_python_that_the_script_starts(tmp_path, run):
    (tmp_path / "child.py").write_text("from keras.utils.np_utils import to_categorical\nprint('child')\n")
    (tmp_path / "train.py").write_text(
        "import subprocess, sys\nsubprocess.run([sys.executable, 'child.py'], check=True)\n"
    )
    ours = run("--report", "used.json", "train.py")
    assert ours.stdout == "child\n", ours.stderr
    assert [row["line"] for row in json.loads((tmp_path / "used.json").read_text())["legacy_names"]] == [1]
