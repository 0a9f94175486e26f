"""`run` on several workers: one script, several processes, the results and files of one."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from parallel_compat.run import workers

if TYPE_CHECKING:
    from pathlib import Path

RUN = [sys.executable, "-m", "parallel_compat", "run", "--quiet"]
CPU = {"CUDA_VISIBLE_DEVICES": ""}

# Nothing is seeded at first: all workers draw the same all the same. TensorFlow is imported first, as most scripts do.
TRAIN = """
import json, os, sys
import numpy as np
import tensorflow as tf
from keras.callbacks import CSVLogger, ModelCheckpoint, TensorBoard
from keras.layers import Dense, Input
from keras.models import Sequential, load_model
from keras.optimizers import Adam
from parallel_compat import multi_gpu_model

data = np.load(sys.argv[2])
x, y, weights = data["x"], data["y"], [data[name] for name in ("a", "b", "c", "d")]
model = Sequential([Input((8,)), Dense(6, activation="tanh"), Dense(3, activation="softmax")])
model.set_weights(weights)
parallel = multi_gpu_model(model, gpus=int(sys.argv[1]))
parallel.compile(Adam(0.05, global_clipnorm=1.0), "categorical_crossentropy", metrics=["acc"])
callbacks = [ModelCheckpoint("best.keras", save_best_only=True), CSVLogger("log.csv"), TensorBoard("logs")]
settings = {"batch_size": 31, "epochs": 3, "verbose": 0, "shuffle": False, "validation_split": 0.2}
history = parallel.fit(x, y, callbacks=callbacks, **settings)

def batches():
    while True:
        for i in range(0, 90, 7):
            yield x[i : i + 7], y[i : i + 7]

more = parallel.fit(batches(), steps_per_epoch=4, epochs=1, verbose=0)
drawn = [np.random.rand(), int(next(iter(tf.data.Dataset.range(10000).shuffle(10000))))]
np.random.seed(5)
tf.random.set_seed(5)
dataset = tf.data.Dataset.from_tensor_slices((x.astype("float32"), y.astype("float32"))).shuffle(97).batch(31)
settings = {"epochs": 2, "verbose": 0, "class_weight": {0: 1.0, 1: 2.0, 2: 0.5}}
in_order = {"batch_size": 31, "shuffle": False, **settings}
shuffled = [parallel.fit(dataset, **settings).history, parallel.fit(x, y, **in_order).history]
model.save_weights("last.weights.h5")
model.load_weights("last.weights.h5")
results = {
    "history": history.history, "generator": more.history, "shuffled": shuffled,
    "evaluate": parallel.evaluate(x, y, verbose=0),
    "batch": parallel.train_on_batch(x[:10], y[:10]), "predict": parallel.predict(x[:9], verbose=0).tolist(),
    "weights": [each.tolist() for each in model.get_weights()],
    "best": [each.tolist() for each in load_model("best.keras").get_weights()],
    "drawn": drawn, "files": sorted(os.listdir(".")),
}
print(json.dumps(results, default=float))
"""


@pytest.fixture
def script(tmp_path):
    import numpy as np

    (tmp_path / "train.py").write_text(TRAIN)
    random = np.random.default_rng(0)
    arrays = {name: 0.3 * random.normal(size=shape) for name, shape in zip("abcd", [(8, 6), 6, (6, 3), 3], strict=True)}
    np.savez(tmp_path / "data.npz", x=random.random((97, 8)), y=np.eye(3)[random.integers(0, 3, 97)], **arrays)
    return tmp_path


def started(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    folder.mkdir(exist_ok=True)
    command = [*RUN, *arguments]
    return subprocess.run(
        command, cwd=folder, env={**os.environ, **CPU, **environment}, capture_output=True, text=True, timeout=300
    )


def printed(done: subprocess.CompletedProcess[str]) -> dict[int, dict]:
    """What each worker printed, without what they draw and list."""
    assert done.returncode == 0, done.stderr[-3000:]
    found = {}
    for line in done.stdout.splitlines():
        prefix, brace, rest = line.partition("{")
        if brace:
            found[int(prefix.split()[1].rstrip("] ")) if prefix else -1] = json.loads("{" + rest)
    return found


def close(a, b) -> bool:
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(close(a[key], b[key]) for key in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(close, a, b))
    return abs(a - b) < 1e-5 if isinstance(a, float) else a == b


@pytest.mark.slow  # the core's two workers are in `test_several_workers.py`
def test_two_workers_compute_what_one_machine_does(script):
    """Two workers with two devices each, and four replicas in one process: a script that says nothing of workers."""
    data = str(script / "data.npz")
    one = printed(started(script / "one", "--replicas", "4", "../train.py", "4", data))[-1]
    temporary = script / "temporary"
    temporary.mkdir()
    options = ["--workers", "2", "--replicas", "2", "../train.py", "2", data]
    two = printed(started(script / "two", *options, TMPDIR=str(temporary)))
    assert not list(temporary.glob("parallel-compat-*"))
    assert two.keys() == {0, 1}
    assert two[0]["drawn"] == two[1]["drawn"]
    for results in (one, *two.values()):
        results.pop("drawn")
    assert close(one, two[0])
    assert close(one, two[1])
    rows = [(script / folder / "log.csv").read_text().splitlines() for folder in ("one", "two")]
    assert [len(each) for each in rows] == [4, 4]


def test_a_worker_that_fails_ends_the_others(tmp_path):
    (tmp_path / "train.py").write_text(
        "import json, os, time\n"
        "if json.loads(os.environ['TF_CONFIG'])['task']['index'] == 1:\n"
        "    while not os.path.exists('begun'):\n"
        "        time.sleep(0.01)\n"
        "    raise SystemExit(3)\n"
        "print('begun')\n"
        "open('begun', 'w').close()\n"
        "time.sleep(600)\n"
    )
    begun = time.monotonic()
    done = started(tmp_path, "--workers", "3", "train.py")
    assert time.monotonic() - begun < 60
    assert done.returncode == 3
    assert "worker 1 ended with exit code 3; the others are stopped" in done.stderr
    assert "] begun" in done.stdout


@pytest.mark.slow
def test_workers_that_were_fed_different_batches_are_refused(script):
    text = (script / "train.py").read_text()
    (script / "train.py").write_text(text.replace('= data["x"]', '= data["x"] + os.getpid()'))
    done = started(script / "two", "--workers", "2", "--replicas", "2", "../train.py", "2", str(script / "data.npz"))
    assert done.returncode == 1
    assert "Expected the same global batch on all workers" in done.stderr


@pytest.mark.slow
def test_other_devices_than_those_of_each_worker_are_refused(script):
    done = started(script / "two", "--workers", "2", "--replicas", "3", "../train.py", "2", str(script / "data.npz"))
    assert done.returncode == 1
    assert "Expected 3 device(s), CPU:0, CPU:1, CPU:2, in a model on several workers" in done.stderr


@pytest.mark.slow
def test_only_the_chief_writes_under_slurm(script):
    """Two tasks of a step, each in a folder of its own, so that it shows who writes."""
    step = {"SLURM_JOB_ID": str(os.getpid()), "SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "2"}
    step |= {"SLURM_STEP_NODELIST": "localhost", "SLURM_STEP_TASKS_PER_NODE": "2"}
    text = (script / "train.py").read_text().replace('model.load_weights("last.weights.h5")', "")
    (script / "train.py").write_text(text.replace('load_model("best.keras").get_weights()', "[]"))
    processes = []
    for index in range(2):
        folder = script / str(index)
        folder.mkdir()
        command = [*RUN, "--replicas", "2", "../train.py", "2", str(script / "data.npz")]
        environment = {**os.environ, **CPU, **step, "SLURM_PROCID": str(index)}
        processes.append(subprocess.Popen(command, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True))
    errors = [process.communicate(timeout=300)[1] for process in processes]
    assert [process.returncode for process in processes] == [0, 0], errors
    assert sorted(os.listdir(script / "0")) == ["best.keras", "last.weights.h5", "log.csv", "logs"]
    assert os.listdir(script / "1") == []


def test_what_says_that_there_are_several_workers():
    one = {"cluster": {"worker": ["a:1"]}, "task": {"type": "worker", "index": 0}}
    two = {"cluster": {"chief": ["a:1"], "worker": ["b:1"], "ps": ["c:1"]}, "task": {"type": "worker", "index": 0}}
    assert workers.found({}) is None
    assert workers.found({"TF_CONFIG": "no JSON"}) is None
    assert workers.found({"TF_CONFIG": json.dumps(one)}) is None
    assert workers.found({"TF_CONFIG": json.dumps(two)}) == "TF_CONFIG"
    assert workers.found({"SLURM_STEP_NUM_TASKS": "4", "SLURM_PROCID": "3"}) == "Slurm"
    assert workers.found({"SLURM_NTASKS": "4", "SLURM_PROCID": "0"}) is None  # a batch script, not yet `srun`


def test_all_workers_of_a_job_draw_alike():
    a, b = ({"SLURM_JOB_ID": "7", "SLURM_STEP_ID": "0", "SLURM_PROCID": task} for task in "01")
    assert workers.alike(a) == workers.alike(b)
    assert workers.alike(a) != workers.alike({**a, "SLURM_JOB_ID": "8"})
    assert workers.alike({**a, "PYTHONHASHSEED": "5"})["PYTHONHASHSEED"] == "5"


def test_a_script_on_stdin_is_refused_at_once(tmp_path):
    done = started(tmp_path, "--workers", "2", "-")
    assert done.returncode == 2
    assert "expected a file" in done.stderr


@pytest.mark.slow
def test_when_a_worker_is_killed_the_same_command_goes_on(script):
    """Either worker, at ten moments; the last run ends with the results of one that was not killed."""
    data = str(script / "data.npz")
    options = ["--workers", "2", "--replicas", "2", "--resume", "state", "../train.py", "2", data]
    began = time.monotonic()
    whole = printed(started(script / "whole", *options))
    length = time.monotonic() - began
    moments = random.Random(0)
    folder = script / "killed"
    folder.mkdir()
    for number in range(10):
        command = [*RUN, *options]
        own = subprocess.Popen(command, cwd=folder, env={**os.environ, **CPU}, stdout=subprocess.PIPE, text=True)
        time.sleep(moments.uniform(0.4, 1.0) * length)
        children = subprocess.run(["pgrep", "-P", str(own.pid)], capture_output=True, text=True).stdout.split()
        if len(children) == 2:
            os.kill(int(children[number % 2]), signal.SIGKILL)
            assert own.wait(60) in (0, 128 + signal.SIGKILL, 1)  # 1: the other one saw it first
        own.communicate(timeout=300)
    resumed = printed(started(folder, *options))
    for results in (*whole.values(), *resumed.values()):
        results.pop("drawn")
    assert close(whole[0], resumed[0])
    assert close(whole[1], resumed[1])
