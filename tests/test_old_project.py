"""A project of 2018, unmodified under `run` and rewritten by `migrate`: the same losses, and the template loads."""

from __future__ import annotations

import ast
import json
import re
import shutil
from pathlib import Path

import h5py
import numpy as np
import pytest

import parallel_compat
from parallel_compat.command import main
from tests import scripts

ROOT = Path(parallel_compat.__file__).parent.parent
PROJECT = ROOT / "examples" / "old_project"
EPOCHS = "2"

# Plain `python`, on two devices: where there are two GPUs nothing of this is needed.
PLAIN = (
    "import parallel_compat, runpy, sys; parallel_compat.simulate_devices(2); sys.path.insert(0, '.'); "
    "sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')"
)


def run(folder: Path, *command: str) -> str:
    done = scripts.python(*command, folder=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def sources(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*.*")
        if path.suffix in (".py", ".ipynb")
    }


def weights(path: Path) -> list[np.ndarray]:
    """Read the weights of a file in the layers' order: `run` numbers names as Keras 2 did, from 1."""
    with h5py.File(path) as file:
        layers = [file[name] for name in file.attrs["layer_names"]]
        return [layer[name][()] for layer in layers for name in layer.attrs["weight_names"]]


@pytest.fixture
def copy(tmp_path):
    return Path(shutil.copytree(PROJECT, tmp_path / "copy"))


@pytest.fixture
def migrated(copy):
    assert main(["migrate", "--write", "--unsafe", str(copy)]) == 0
    return copy


def test_it_is_old():
    """No import of this package in it, and no name that was not there in 2018."""
    for path, data in sources(PROJECT).items():
        assert b"parallel_compat" not in data, path
        assert b"tensorflow.keras" not in data, path


def test_every_import_of_the_rewritten_copy_is_there(migrated):
    from tests.legacy.test_table import resolve

    for path in migrated.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module.split(".")[0] in ("keras", "parallel_compat"):
                for alias in node.names:
                    resolve(f"{node.module}.{alias.name}")


def test_a_second_run_of_migrate_changes_nothing(migrated, capsys):
    before = sources(migrated)
    capsys.readouterr()
    main(["migrate", "--write", "--unsafe", "--format", "json", str(migrated)])
    assert sources(migrated) == before
    report = json.loads(capsys.readouterr().out)
    assert {file["status"] for file in report["files"]} == {"unchanged"}


def test_the_notebook_changes_in_its_code_alone(migrated):
    before = json.loads((PROJECT / "explore.ipynb").read_text())
    after = json.loads((migrated / "explore.ipynb").read_text())
    for document in (before, after):
        for cell in document["cells"]:
            if cell["cell_type"] == "code":
                cell.pop("source")
    assert before == after


def test_the_rewritten_project_runs_as_it_stands(copy, capsys):
    """As the README says it: `migrate --write`, then `python train.py`; "accuracy" is compiled in another file."""
    assert main(["migrate", "--write", str(copy)]) == 0
    error = capsys.readouterr().err
    assert "--unsafe" not in error
    assert "your attention" not in error
    assert main(["migrate", "--check", str(copy)]) == 0
    assert re.search(r"^training accuracy 0\.\d+$", run(copy, "train.py", "--epochs", "1"), re.MULTILINE)
    assert (copy / "out" / "model.h5").exists()


@pytest.mark.slow
def test_run_and_the_rewritten_copy_train_and_predict(migrated, tmp_path):
    unmodified = Path(shutil.copytree(PROJECT, tmp_path / "unmodified"))
    before = sources(unmodified)
    train = ("train.py", "--gpus", "2", "--epochs", EPOCHS)
    run(unmodified, "-m", "parallel_compat", "run", "--replicas", "2", *train)
    run(migrated, "-c", PLAIN, *train)
    assert sources(unmodified) == before
    assert [len(weights(each / "out" / "weights.h5")) for each in (unmodified, migrated)] == [14, 14]

    old = str(unmodified / "out" / "model.h5")
    first = run(unmodified, "-m", "parallel_compat", "run", "predict.py", old)
    second = run(migrated, "predict.py", old)
    accuracy = [re.search(r"accuracy ([\d.]+)", output).group(1) for output in (first, second)]
    assert accuracy[0] == accuracy[1]
    assert float(accuracy[0]) > 0.85


@pytest.mark.slow
def test_the_rewritten_copy_computes_as_the_original_but_for_moving_statistics(copy, tmp_path):
    """From the original's first weights on; `migrate` lists the difference."""
    out, before = tmp_path / "found.json", sources(copy)
    train = ("train.py", "--gpus", "2", "--epochs", EPOCHS)
    command = ("-m", "parallel_compat", "compare", "--unsafe", "--replicas", "2", "--json", str(out), *train)
    assert scripts.python(*command, folder=copy).returncode == 1
    assert sources(copy) == before
    found = json.loads(out.read_text())
    (curve,) = found["curves"]
    assert len(curve["old"]) == 28
    np.testing.assert_allclose(curve["new"], curve["old"], rtol=1e-5)
    assert [why["row"] for why in found["why"].values()] == ["`BatchNormalization`, moving statistics"]
    assert {each["what"] for _, each in found["findings"]} == {"val_acc", "val_loss", "val_top_two"}
