"""The old scripts of these tests and of the benchmarks, rewritten by `migrate --write`, run to their end."""

from __future__ import annotations

from pathlib import Path

import pytest

from parallel_compat.command import main
from tests import scripts
from tests.data.old_programs import KERAS_2, TENSORFLOW_2

ROOT = Path(__file__).parents[1]
# Fewer turns of the same loops: that they run is tested, not how fast.
SHORTER = [("range(300)", "range(3)"), ("range(150)", "range(5)"), ("range(30)", "range(3)"), ("CALLS if", "3 if")]
SHORTER += [("4, 4, 30)", "4, 4, 3)")]
SCRIPTS = {path.stem: path.read_text("utf-8") for path in (ROOT / "benchmarks" / "scripts").glob("*.py")}
# On two devices, as `multi_gpu_model(gpus=2)` in them asks; where there are two GPUs nothing of this is needed.
START = "import parallel_compat, runpy, sys; parallel_compat.simulate_devices(2); sys.argv = sys.argv[1:]; "


def migrated(folder: Path, source: str, *options: str) -> None:
    for old, new in SHORTER:
        source = source.replace(old, new)
    (folder / "script.py").write_text(source)
    assert main(["migrate", "--write", *options, str(folder / "script.py")]) == 0


def run(folder: Path, *arguments: str) -> str:
    start = START + "runpy.run_path(sys.argv[0], run_name='__main__')"
    done = scripts.python("-c", start, "script.py", *arguments, folder=folder)
    assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-3000:]
    return done.stdout


def test_a_program_for_standalone_keras(tmp_path):
    migrated(tmp_path, KERAS_2)
    assert run(tmp_path).splitlines()[-1] == "finished"


@pytest.mark.slow
def test_a_program_for_tensorflow_2(tmp_path):
    migrated(tmp_path, TENSORFLOW_2, "--unsafe")  # whether `mean.reset_states()` is Keras's cannot be proven
    assert run(tmp_path).splitlines()[-1] == "finished"


@pytest.mark.slow
@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_of_the_benchmarks(name, tmp_path):
    migrated(tmp_path, SCRIPTS[name])
    assert run(tmp_path, "1").splitlines()[-1].startswith("{")  # the seconds, as JSON
