"""`run --resume`: an unmodified script that is killed goes on, with the results of one that was not."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

PROJECT = Path(__file__).parents[2]
SCRIPT = """
import json, os, random, signal, sys
import numpy as np
import tensorflow as tf
random.seed(3)
np.random.seed(1)
tf.set_random_seed(2)
from keras.callbacks import Callback, ReduceLROnPlateau
from keras.layers import Dense, Dropout, Input
from keras.models import Model
from keras.optimizers import SGD
from keras.utils import multi_gpu_model

out, kill = sys.argv[1], int(sys.argv[2])
batches = 0

class Count(Callback):
    def on_batch_end(self, batch, logs=None):
        global batches
        batches += 1
        if batches == kill:
            os.kill(os.getpid(), signal.SIGKILL)

x, y = np.random.rand(30, 4), np.random.rand(30, 2)
inputs = Input((4,))
template = Model(inputs, Dense(2)(Dropout(0.2)(Dense(5, activation='tanh')(inputs))))
parallel = multi_gpu_model(template, gpus=2)
parallel.compile(SGD(lr=0.1, decay=0.01, momentum=0.9), 'mse', metrics=['mae'])
callbacks = [ReduceLROnPlateau(monitor='loss', patience=1, min_delta=1.), Count()]
first = parallel.fit(x, y, batch_size=10, epochs=3, verbose=0, callbacks=callbacks)

def generator():
    while True:
        chosen = np.random.permutation(30)[:10]
        yield x[chosen], y[chosen]

second = parallel.fit_generator(generator(), 3, epochs=3, verbose=0, callbacks=[Count()])
template.save_weights(out + '.npz.h5')
np.savez(out, *template.get_weights())
json.dump([first.history, second.history], open(out + '.json', 'w'), default=float)
"""


def start(command, **how):
    environment = {**os.environ, "PYTHONPATH": str(PROJECT)}
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False, **how)


def command(folder, out, kill, *more):
    script = folder / "train.py"
    script.write_text(SCRIPT)
    options = ["--replicas", "2", "--quiet", "--resume", str(folder / f"state of {out}"), *more]
    return [sys.executable, "-m", "parallel_compat", "run", *options, str(script), str(folder / out), str(kill)]


def results(folder, out):
    with np.load(folder / f"{out}.npz") as file:
        return json.loads((folder / f"{out}.json").read_text()), [file[name] for name in file.files]


def assert_same(found, expected):
    assert found[0] == expected[0]
    for one, other in zip(found[1], expected[1], strict=True):
        assert np.array_equal(one, other)


@pytest.mark.slow
def test_a_killed_script_goes_on(tmp_path):
    whole = start(command(tmp_path, "whole", -1))
    assert whole.returncode == 0, whole.stderr
    # In the second epoch of the first training, whose order goes on from that of the first epoch; then in the second
    # epoch of the second training, after 4 batches that were left of the first one and 5 more.
    for batches, told in ((6, ""), (4 + 6, "training 1 goes on at epoch 2 of 3, batch 3")):
        killed = start(command(tmp_path, "killed", batches, "--every", "2"))
        assert killed.returncode == -signal.SIGKILL, killed.stderr
        assert told in killed.stderr
    resumed = start(command(tmp_path, "killed", -1))
    assert resumed.returncode == 0, resumed.stderr
    assert "training 1 had ended" in resumed.stderr
    assert "training 2 goes on at epoch 2 of 3, batch 3" in resumed.stderr
    assert_same(results(tmp_path, "killed"), results(tmp_path, "whole"))


@pytest.mark.slow
def test_a_script_that_is_killed_at_twenty_moments_goes_on(tmp_path):
    moments = random.Random(0)
    began = time.monotonic()
    assert start(command(tmp_path, "whole", -1)).returncode == 0
    length = time.monotonic() - began
    for _ in range(20):
        process = subprocess.Popen(command(tmp_path, "killed", -1), env={**os.environ, "PYTHONPATH": str(PROJECT)})
        try:
            process.wait(timeout=moments.uniform(0.5, 1.0) * length)
        except subprocess.TimeoutExpired:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
    assert start(command(tmp_path, "killed", -1)).returncode == 0
    assert_same(results(tmp_path, "killed"), results(tmp_path, "whole"))


@pytest.mark.slow
def test_a_loop_of_the_scripts_own_is_told(tmp_path):
    (tmp_path / "loop.py").write_text(
        "import numpy as np\nfrom keras.layers import Dense\nfrom keras.models import Sequential\n"
        "model = Sequential([Dense(1, input_dim=2)])\nmodel.compile('sgd', 'mse')\n"
        "for _ in range(2):\n    model.train_on_batch(np.ones((4, 2)), np.ones((4, 1)))\n"
        "raise SystemExit(3)\n"
    )
    options = ["run", "--quiet", "--resume", str(tmp_path / "state"), str(tmp_path / "loop.py")]
    done = start([sys.executable, "-m", "parallel_compat", *options])
    assert done.stderr.count("Received: `train_on_batch`, a loop of the script's own, which begins anew") == 1
    assert "kept nothing: the script did not call `fit`" in done.stderr
    assert done.returncode == 3


@pytest.mark.slow
def test_a_process_that_the_script_starts_keeps_no_state_of_its_own(tmp_path):
    training = (
        "import numpy as np\nfrom keras.layers import Dense\nfrom keras.models import Sequential\n"
        "model = Sequential([Dense(1, input_dim=2)])\nmodel.compile('sgd', 'mse')\n"
        "model.fit(np.ones((4, 2)), np.ones((4, 1)), verbose=0)\n"
    )
    (tmp_path / "child.py").write_text(training)
    (tmp_path / "parent.py").write_text(
        "import subprocess, sys\nsubprocess.run([sys.executable, 'child.py'], check=True)\n"
    )
    options = ["run", "--quiet", "--resume", str(tmp_path / "state"), str(tmp_path / "parent.py")]
    done = start([sys.executable, "-m", "parallel_compat", *options], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "state").exists()
    assert "kept nothing" not in done.stderr
