"""Whose results a file gets: that of the Keras it imports, of its project, or the one that is chosen."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from names.test_eras import SOURCES

from parallel_compat.names import eras
from parallel_compat.run import install


@pytest.mark.parametrize("source", [source for source in SOURCES if "print " not in source])
def test_of_the_code_compiled_from_a_source(source):
    compiled = eras.evidence_of_code(compile(source, "<string>", "exec"))
    assert eras.verdict(compiled) == eras.verdict(eras.evidence_of_source(source))


ASK = """
import sys
from parallel_compat.run import callers
print(callers.era_of(sys._getframe()).value, callers.era_of_process().value)
def keras_is_imported():
    %s
"""


def test_of_code_without_a_file(run):
    standalone, of_tensorflow = ASK % "import keras", ASK % "import tensorflow.keras"
    assert run("-c", standalone).stdout.split() == ["keras-2.2.4"] * 2
    assert run("-", stdin=of_tensorflow).stdout.split() == ["tf.keras-2.2"] * 2
    assert run("--era", "tf.keras-1.15", "-c", standalone).stdout.split() == ["tf.keras-1.15"] * 2
    assert run("-c", ASK % "pass").stdout.split() == ["today"] * 2


def test_of_the_cells_of_a_notebook():
    code = """
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.run_cell("%load_ext parallel_compat")
shell.run_cell("def f():\\n    from tensorflow import keras", store_history=True)
ask = "import sys\\nfrom parallel_compat.run import callers\\nprint(callers.era_of(sys._getframe()))"
shell.run_cell(ask, store_history=True)
shell.run_cell("def g():\\n    import tensorflow as tf\\n    tf.Session()", store_history=True)
shell.run_cell(ask, store_history=True)
shell.run_cell("%legacy_names --era keras-2.2.4", store_history=True)
shell.run_cell(ask, store_history=True)
"""
    ours = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600, check=False)
    assert ours.stdout.split() == ["tf.keras-2.2", "tf.keras-1.15", "keras-2.2.4"], ours.stdout + ours.stderr


@pytest.mark.slow
def test_the_cells_of_a_notebook_are_read_once_for_many_calls():
    code = """
from IPython.core.interactiveshell import InteractiveShell
from parallel_compat.names import eras
read, real = [], eras.evidence_of_source
eras.evidence_of_source = lambda source: read.append(source) or real(source)
shell = InteractiveShell.instance()
shell.run_cell("%load_ext parallel_compat")
shell.run_cell("import sys; from tensorflow import keras", store_history=True)
shell.run_cell("from parallel_compat.run import callers", store_history=True)
many = "for _ in range(9): print(callers.era_of(sys._getframe()))"
shell.run_cell(many, store_history=True)
assert 0 < len(read) < 9, read
"""
    ours = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600, check=False)
    assert ours.stdout.split() == ["tf.keras-2.2"] * 9, ours.stdout + ours.stderr
    assert ours.returncode == 0, ours.stderr


def test_an_era_that_there_is_not(run):
    with pytest.raises(ValueError, match=r'Expected one of "keras-2.2.4", .* as `era`. Received: era=\'keras-2\''):
        install.install(era="keras-2")
    ours = run("--era", "keras-2", "train.py")
    assert ours.returncode == 2
    assert "keras-2.2.4" in ours.stderr


def test_each_file_of_a_script_and_each_object_has_its_own(tmp_path, run):
    (tmp_path / "of_tensorflow.py").write_text(
        "from tensorflow import keras\n\ndef optimizer():\n    return keras.optimizers.Adagrad()\n"
    )
    (tmp_path / "through.py").write_text(
        "from of_tensorflow import keras\n\ndef optimizer():\n    return keras.optimizers.Adagrad()\n"
    )
    (tmp_path / "helper.py").write_text("def add(model, layer):\n    model.add(layer)\n")
    (tmp_path / "errors.py").write_text("from keras.losses import MeanSquaredError\n")
    (tmp_path / "train.py").write_text(
        "import keras, helper, errors, of_tensorflow, through\n"
        "from parallel_compat.run.object_eras import era_of_object\n"
        "for optimizer in (keras.optimizers.Adagrad(), of_tensorflow.optimizer(), through.optimizer()):\n"
        "    print(era_of_object(optimizer).value, round(float(optimizer.learning_rate), 5))\n"
        "model = keras.Sequential()\n"
        "helper.add(model, keras.layers.Dense(1, input_dim=2))\n"
        "model.compile('sgd', errors.MeanSquaredError())\n"
        "clone = keras.models.clone_model(model)\n"
        "for each in (model, model.layers[0], model.optimizer, clone, model.loss, clone.layers[0]):\n"
        "    print(era_of_object(each).value)\n"
    )
    ours = run("--report", "used.json", "train.py")
    assert ours.stdout.splitlines() == [
        "keras-2.3 0.01", *["tf.keras-2.2 0.001"] * 2, *["keras-2.3"] * 6
    ], ours.stderr  # fmt: skip
    rows = json.loads((tmp_path / "used.json").read_text())["eras"]
    assert {row["file"].rpartition("/")[2]: (row["era"], row["why"]) for row in rows} == {
        "train.py": ("keras-2.3", "imports keras, and keras.losses.MeanSquaredError in errors.py"),
        "of_tensorflow.py": ("tf.keras-2.2", "tf.keras, and no name of TensorFlow 1"),
        "helper.py": ("keras-2.3", "imports no Keras: as train.py"),
        "through.py": ("tf.keras-2.2", "imports no Keras: as of_tensorflow.py"),
    }
    why = "imports keras, and keras.losses.MeanSquaredError in errors.py"
    assert f"  Results as of keras-2.3: train.py ({why})\n" in ours.stderr
    assert "  Results as of tf.keras-2.2: of_tensorflow.py (tf.keras, and no name of TensorFlow 1)\n" in ours.stderr
