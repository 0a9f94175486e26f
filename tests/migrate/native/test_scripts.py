"""Scripts of 2018 and 2019 as native code: they run where there is no parallel_compat, and train the same weights."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from parallel_compat.command import main
from parallel_compat.compare import recorder_command
from parallel_compat.names.native_differences import DIFFERENCES
from tests.data.old_programs import KERAS_2, TENSORFLOW_2
from tests.migrate.native.check import run_alone

ROOT = Path(__file__).parents[3]
DATA = ROOT / "tests" / "data"
# Fewer turns of the same loops: that they run is tested, not how fast.
SHORTER = [
    ("range(300)", "range(3)"),
    ("range(150)", "range(5)"),
    ("range(30)", "range(3)"),
    ("4, 30)", "4, 3)"),
    ("sys.argv[1]", "1"),
]
VAE = """
import numpy as np
from keras import backend as K
from keras.layers import Dense, Input, Lambda
from keras.models import Model

def sampling(args):
    mean, log_variance = args
    noise = K.random_normal(shape=(K.shape(mean)[0], 2), mean=0., stddev=1.)
    return mean + K.exp(0.5 * log_variance) * noise

inputs = Input(shape=(8,))
hidden = Dense(6, activation='relu')(inputs)
mean, log_variance = Dense(2)(hidden), Dense(2)(hidden)
z = Lambda(sampling, output_shape=(2,))([mean, log_variance])
vae = Model(inputs, Dense(8, activation='sigmoid')(z))

def loss(y_true, y_pred):
    return K.sum(K.binary_crossentropy(y_true, y_pred), axis=-1)

vae.compile('rmsprop', loss)
x = np.random.rand(32, 8)
first = vae.fit(x, x, epochs=3, verbose=0).history['loss']
assert np.all(np.isfinite(first))
print('finished')
"""
BENCHMARKS = {path.stem: path.read_text("utf-8") for path in (ROOT / "benchmarks" / "scripts").glob("*.py")}
SCRIPTS = {
    "keras_2": KERAS_2,
    "tensorflow_2": TENSORFLOW_2,
    "vae_trained": VAE,
    "several_models": (DATA / "recordings" / "script.py").read_text("utf-8"),
    "digits": (ROOT / "examples" / "digits_2018.py").read_text("utf-8"),
    **BENCHMARKS,
}
TOGETHER = """
import runpy, sys
import keras
for name in sys.argv[1:]:
    print("begin", name, flush=True)
    sys.argv = [name] + (["--epochs", "1", "--replicas", "2"] if name == "digits.py" else [])
    runpy.run_path(name, run_name="__main__")
    keras.utils.clear_session()
    print("end", name, flush=True)
"""


def migrated(folder: Path, scripts: dict[str, str]) -> None:
    for name, text in scripts.items():
        # What is for machines without GPUs in the example is of this package.
        kept = [line for line in text.splitlines(keepends=True) if "# no GPU" not in line]
        (folder / f"{name}.py").write_text("".join(kept), encoding="utf-8")
    assert main(["migrate", "--to", "native", "--unsafe", "--write", str(folder)]) == 0
    left = [path.name for path in folder.glob("*.py") if "parallel_compat" in path.read_text("utf-8")]
    assert left == []


@pytest.mark.slow  # on one device: one of them asserts what BatchNormalization does not keep on two, as its finding says
def test_old_scripts_run_where_there_is_no_parallel_compat(tmp_path):
    shorter = {}
    for name, text in SCRIPTS.items():
        for old, new in SHORTER if name in BENCHMARKS else ():
            text = text.replace(old, new)
        shorter[name] = text
    assert len(shorter) >= 11
    migrated(tmp_path, shorter)
    (tmp_path / "together.py").write_text(TOGETHER)
    output = run_alone(tmp_path, 1, "together.py", *(f"{name}.py" for name in shorter))
    assert [name for name in shorter if f"end {name}.py" not in output] == []


BOTH = """
import runpy, sys
for script, gpus in zip(sys.argv[1::2], sys.argv[2::2]):
    sys.argv = [f"{script}.py", gpus, f"{script}.{gpus}.npz"]
    runpy.run_path(f"{script}.py", run_name="__main__")
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "runs",
    [
        (("numbers_2018", "1"), ("numbers_2018", "2")),
        pytest.param((("optimizers_2018", "1"), ("optimizers_2018", "2")), marks=pytest.mark.slow),
    ],
    ids=["default", "optimizers"],
)
def test_what_is_trained_is_what_keras_2_trained(runs, tmp_path):
    """On one device, and on two replicas: they divide each batch, and each loss has one value per sample."""
    scripts = {script for script, _ in runs}
    migrated(tmp_path, {name: (DATA / "native" / f"{name}.py").read_text("utf-8") for name in scripts})
    (tmp_path / "both.py").write_text(BOTH)
    run_alone(tmp_path, 2, "both.py", *itertools.chain(*runs))
    for script, replicas in runs:
        theirs = np.load(DATA / "native" / f"{script}.keras-2.2.4.npz")
        ours = np.load(tmp_path / f"{script}.{replicas}.npz")
        assert set(ours) == set(theirs)
        for name in theirs:
            if name.startswith("Adagrad") and replicas == "2":
                continue  # it has a `clipnorm`: the finding says that each replica's share is limited
            tolerance = 1e-5 if script == "numbers_2018" else 2e-6
            np.testing.assert_allclose(ours[name], theirs[name], atol=tolerance, err_msg=f"{name} on {replicas}")


@pytest.mark.slow
def test_compare_finds_run_and_the_native_code_equal(tmp_path):
    source = (DATA / "native" / "numbers_2018.py").read_text("utf-8")
    # Two projects: in one `SGD(learning_rate=)` of the native code would be evidence of Keras 2.3.
    for folder in ("native", "old"):
        (tmp_path / folder).mkdir()
    migrated(tmp_path / "native", {"numbers_2018": source})
    (tmp_path / "old" / "numbers_2018.py").write_text(source)
    recorder = str(recorder_command.write(tmp_path))
    run_alone(tmp_path / "native", 1, recorder, "--out", "native.h5", "numbers_2018.py", "1", "native.npz")
    done = subprocess.run(
        [sys.executable, "-m", "parallel_compat", "compare", "../native/native.h5", "numbers_2018.py", "1", "r.npz"],
        cwd=tmp_path / "old", capture_output=True, text=True, timeout=600, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    assert done.stdout.splitlines()[-1].startswith("equal: ")


@pytest.mark.slow
def test_the_figures_of_the_findings_are_measured():
    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / "native_differences.py")],
        capture_output=True, text=True, timeout=900, check=True,
    )  # fmt: skip
    found = json.loads(done.stdout)
    said = " ".join(difference.text for difference in DIFFERENCES)
    page = (ROOT / "docs" / "guide" / "which_way.md").read_text("utf-8")
    for name in ("uneven", "clipnorm", "clipvalue", "masks", "BatchNormalization"):
        figure = f"{found[name]:.0e}".replace("e-0", "e-")
        assert figure in said, name
        assert figure in page, name
    for name in ("dice of the batch", "dice by replica"):
        assert f"{found[name]:.2f}" in said, name
        assert f"{found[name]:.2f}" in page, name
    assert round(found["one number"], 3) == 2
    assert (found["copied masks"], found["predict_on_batch"]) == (1, 16)
