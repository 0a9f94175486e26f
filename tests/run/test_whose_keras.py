"""Each script gets the Keras and the TensorFlow of its time, and so do the processes that it starts."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

ASK = """
import json, tensorflow as tf, {keras}
print(json.dumps([{keras}.__version__, tf.__version__, {eager}, {keras}.__name__, bool(tf.{name})]))
"""


@pytest.mark.parametrize(
    ("era", "keras", "version", "tensorflow", "name"),
    [
        ("keras-2.2.4", "keras", "2.2.4", "1.15.5", "placeholder"),
        ("keras-2.3", "keras", "2.3.1", "1.15.5", "Session"),
        ("tf.keras-1.15", "tensorflow.keras", "2.2.4-tf", "1.15.5", "log"),
        ("tf.keras-2.2", "tensorflow.keras", "2.3.0-tf", "2.2.3", "function"),
    ],
)
def test_the_versions_of_each_era(tmp_path, run, forked, era, keras, version, tensorflow, name):
    eager = "tf.executing_eagerly()"
    (tmp_path / "ask.py").write_text(ASK.format(keras=keras, eager=eager, name=name))
    of_2 = era == "tf.keras-2.2"  # it and Keras 2.2.4 are started, the others forked
    ours = (run if of_2 or era == "keras-2.2.4" else forked)("--quiet", "--era", era, "ask.py")
    assert ours.returncode == 0, ours.stderr
    answer = json.loads(ours.stdout.splitlines()[-1])
    assert answer[:3] == [version, tensorflow, of_2]
    assert answer[4] is True


def test_standalone_keras_and_tf_keras_in_one_script(tmp_path, forked):
    (tmp_path / "both.py").write_text(
        "import keras, tensorflow as tf\nfrom tensorflow.keras import layers\n"
        "print(keras.__version__, tf.keras.__version__, keras.layers.Dense is layers.Dense)\n"
    )
    ours = forked("--quiet", "both.py")
    assert ours.stdout == "2.2.4 2.2.4-tf False\n", ours.stderr


STEPS_OF_ADAM = """
import numpy as np, tensorflow as tf
import keras
from keras.layers import Dense
from keras.models import Sequential

tf.random.set_seed(3)
np.random.seed(3)
x = np.random.rand(64, 5)
model = Sequential([Dense(8, activation="relu", input_shape=(5,)), Dense(1)])
model.compile("sgd", "mse", metrics=["mae"])
losses = model.fit(x, x.sum(1), epochs=2, batch_size=16, verbose=0).history["loss"]
assert all(isinstance(loss, float) for loss in losses)  # as json.dump asks
one = Sequential([Dense(1, use_bias=False, kernel_initializer="zeros", input_shape=(1,))])
one.compile("adam", "mse")
one.train_on_batch(np.ones((4, 1)), np.ones((4, 1)))
print(keras.__version__, tf.__version__, tf.executing_eagerly(), *losses, float(one.get_weights()[0][0, 0]))
"""


def test_keras_2_3_on_tensorflow_2(tmp_path, forked):
    """The losses are those of Keras 2.3.1 on TensorFlow 2.2.3; Adam's first step is the learning rate."""
    (tmp_path / "train.py").write_text(STEPS_OF_ADAM)
    (tmp_path / "requirements.txt").write_text("keras==2.3.1\ntensorflow==2.1\n")
    ours = forked("--quiet", "train.py")
    assert ours.returncode == 0, ours.stderr
    version, tensorflow, eager, *numbers = ours.stdout.split()
    assert (version, tensorflow, eager) == ("2.3.1", "2.2.3", "True")
    np.testing.assert_allclose([float(n) for n in numbers], [4.250893, 2.836565, 0.001], rtol=2e-5)


def test_import_keras_beside_tf_keras(tmp_path, forked):
    """With TensorFlow 2.2 it is Keras 2.4, another name of `tf.keras`; 1.15 had no such thing."""
    code = "import keras, tensorflow as tf; print(keras.__version__, keras.models.Model is tf.keras.Model)"
    assert forked("--quiet", "--era", "tf.keras-2.2", "-c", code).stdout == "2.4.3 True\n"
    refused = forked("--quiet", "--era", "tf.keras-1.15", "-c", code)
    assert "--era keras-2.2.4, which has both" in refused.stderr.splitlines()[-1]


CHILDREN = """
import multiprocessing, subprocess, sys


def version(i):
    import keras

    return keras.__version__


if __name__ == "__main__":
    multiprocessing.set_start_method(sys.argv[1])
    with multiprocessing.Pool(1) as pool:
        print(pool.map(version, range(2)))
    print(subprocess.check_output([sys.executable, "-c", "import keras; print(keras.__version__)"], text=True).strip())
"""


@pytest.mark.parametrize("method", ["spawn", pytest.param("fork", marks=pytest.mark.slow)])
def test_child_processes_have_the_same(tmp_path, run, method):
    (tmp_path / "train.py").write_text(CHILDREN)
    ours = run("--quiet", "--era", "keras-2.2.4", "train.py", method)
    assert ours.stdout == "['2.2.4', '2.2.4']\n2.2.4\n", ours.stderr


def test_code_on_standard_input_is_read_for_its_era(run):
    ours = run("--quiet", "-", stdin="import tensorflow as tf\nprint(tf.Session.__name__, tf.__version__)\n")
    assert ours.stdout == "Session 1.15.5\n", ours.stderr


@pytest.mark.parametrize(
    ("options", "environment", "by"),
    [
        (("--workers", "2"), {}, "--workers"),
        ((), {"SLURM_STEP_NUM_TASKS": "2", "SLURM_PROCID": "0"}, "Slurm"),
        ((), {"TF_CONFIG": json.dumps({"cluster": {"worker": ["a:1", "b:1"]}})}, "TF_CONFIG"),
    ],
)
def test_workers_of_an_old_script_are_refused_with_the_way_out(tmp_path, run, options, environment, by):
    (tmp_path / "train.py").write_text("import keras\nfrom keras.utils import multi_gpu_model\n")
    ours = run(*options, "train.py", **environment)
    assert ours.returncode == 2
    said = " ".join(ours.stderr.split())
    assert f"an old script, and {by}." in said
    assert "parallel-compat migrate --write SCRIPT" in said


def test_a_script_never_runs_with_another_keras_if_the_original_cannot_be_put_in_place(tmp_path, python):
    told = json.dumps({"prefix": sys.prefix, "era": "keras-0.1", "startup_log": True})
    startup = str(Path(__file__).parents[2] / "parallel_compat" / "run" / "startup")
    ended = python("-c", "print('ran')", PARALLEL_COMPAT_RUN=told, PYTHONPATH=startup)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "'keras-0.1' is not a valid Era" in ended.stderr


def test_devices_are_simulated_where_tensorflow_is_imported_before_keras(tmp_path, run):
    (tmp_path / "train.py").write_text(
        "import tensorflow as tf\nfrom parallel_compat.legacy import backend as K\nimport keras\n"
        "print(len(tf.config.list_logical_devices()))\n"
    )
    ours = run("--replicas", "2", "train.py")
    assert ours.stdout == "2\n", ours.stderr
