"""Model files of the originals: the single template, whole or not at all, and no foreign code."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import h5py
import pytest

from parallel_compat.command import main
from tests import scripts

PROJECT = Path(__file__).parents[2]
ERAS = [
    ("keras-2.2.4", "keras"),
    pytest.param("keras-2.3", "keras", marks=pytest.mark.slow),
    pytest.param("tf.keras-1.15", "tensorflow.keras", marks=pytest.mark.slow),
    ("tf.keras-2.2", "tensorflow.keras"),
]

PARALLEL = """
import json, os
import numpy as np
from {keras} import backend as K
from {keras}.callbacks import ModelCheckpoint
from {keras}.layers import Dense, Input, Lambda
from {keras}.models import Model, load_model, model_from_json
from {keras}.utils import multi_gpu_model

x, y = np.random.rand(11, 8), np.random.rand(11, 3)
inputs = Input((8,))
net = Model(inputs, Dense(3)(Lambda(lambda t: t * 2.0)(inputs)), name="net")
parallel = multi_gpu_model(net, gpus=2)
parallel.compile("adam", "mse", metrics=["mae"])
callbacks = [ModelCheckpoint("whole.h5"), ModelCheckpoint("weights.h5", save_weights_only=True)]
parallel.fit(x, y, batch_size=5, epochs=2, verbose=0, callbacks=callbacks)
loaded = load_model("whole.h5")
single = loaded.get_layer("net")
answer = [loaded.layers[-2].name, [type(layer).__name__ for layer in single.layers]]
answer.append(int(K.get_value(loaded.optimizer.iterations)))
states = zip(loaded.optimizer.get_weights(), parallel.optimizer.get_weights())
answer.append(max(float(np.abs(a - b).max()) for a, b in states))
described = model_from_json(parallel.to_json())
described.load_weights("weights.h5")
predicted = [loaded.predict(x), described.predict(x)]
answer.append(float(np.abs(np.array(predicted) - parallel.predict(x)).max()))
expected = net.get_weights()
net.set_weights([w + 1 for w in expected])
parallel.load_weights("weights.h5")
answer.append(max(float(np.abs(a - b).max()) for a, b in zip(net.get_weights(), expected)))
loaded.fit(x, y, verbose=0)
answer.append(bool(np.isfinite(parallel.train_on_batch(x[:1], y[:1])).all()))
answer.append(sorted(name for name in os.listdir(".") if ".tmp" in name))
print(json.dumps(answer))
"""


def run(folder, *arguments):
    return scripts.run("--quiet", *arguments, folder=folder)


@pytest.mark.parametrize(("era", "keras"), ERAS)
def test_a_parallel_model_saves_its_template_through_any_callback(tmp_path, era, keras):
    (tmp_path / "train.py").write_text(PARALLEL.format(keras=keras))
    done = run(tmp_path, "--era", era, "--replicas", "2", "train.py")
    assert done.returncode == 0, done.stderr
    name, layers, steps, state, distance, weights, trained, temporary = json.loads(done.stdout.splitlines()[-1])
    assert (name, layers, steps) == ("net", ["InputLayer", "Lambda", "Dense"], 6)
    assert max(state, distance, weights) < 1e-6
    with h5py.File(tmp_path / "whole.h5") as file:
        assert len(file["model_weights"]) == 3  # its layers: the file has no towers
    assert (trained, temporary) == (True, [])  # a batch of one sample for two towers trains


def test_a_parallel_model_s_file_loads_as_the_single_one_where_there_are_fewer_gpus(tmp_path):
    (tmp_path / "train.py").write_text(
        PARALLEL.format(keras="keras").replace("Lambda(lambda t: t * 2.0)(inputs)", "inputs")
    )
    assert run(tmp_path, "--era", "keras-2.2.4", "--replicas", "2", "train.py").returncode == 0
    code = "from keras.models import load_model; print(load_model('whole.h5').name)"
    alone = run(tmp_path, "--era", "keras-2.2.4", "-c", code)
    assert alone.stdout == "net\n", alone.stderr
    assert "--replicas 2" in alone.stderr
    # `recover` reads it, too.
    assert main(["recover", str(tmp_path / "whole.h5"), "-o", str(tmp_path / "single.keras")]) == 0
    damaged = run(tmp_path, "--era", "keras-2.2.4", "-c", DAMAGED)
    assert damaged.stdout == "11111\n", damaged.stderr


# A billion GPUs would be a set of a billion names.
DAMAGED = """
import h5py
from keras.models import load_model
for noted in ("1000000000", "{", '["a"]', "[[1]]", 5):
    with h5py.File("whole.h5", "r+") as file:
        file.attrs["_parallel_compat_gpus"] = noted
    try:
        load_model("whole.h5")
    except ValueError as error:
        print(str(error).count("Expected the ids of GPUs"), end="")
print()
"""
# TensorFlow's DebugIdentity writes what it gets to a place that the model's config names.
OPERATIONS = """
import base64, json, os
import numpy as np
from tensorflow.keras.models import model_from_json

float32, url = {"type": "DT_FLOAT"}, base64.b64encode(b"file://" + os.getcwd().encode() + b"/written").decode()
of_files = {"T": float32, "tensor_name": {"s": "eDow"}, "debug_urls": {"list": {"s": [url]}}}
x = {"class_name": "InputLayer", "name": "x", "inbound_nodes": []}
x["config"] = {"name": "x", "batch_input_shape": [None, 2]}
for operation, attributes in (("Neg", {"T": float32}), ("DebugIdentity", of_files)):
    node = {"name": "op", "op": operation, "input": ["x"], "attr": attributes}
    layer = {"class_name": "TensorFlowOpLayer", "name": "tf_op_layer_op", "inbound_nodes": [[["x", 0, 0, {}]]],
             "config": {"name": "op", "node_def": node, "constants": {}}}
    ends = {"input_layers": [["x", 0, 0]], "output_layers": [["tf_op_layer_op", 0, 0]]}
    model = {"class_name": "Model", "config": {"name": "model", "layers": [x, layer], **ends}}
    print(model_from_json(json.dumps(model)).predict(np.ones((1, 2))).tolist())
"""


@pytest.mark.parametrize("era", ["tf.keras-2.2", pytest.param("tf.keras-1.15", marks=pytest.mark.slow)])
def test_an_operation_that_does_more_than_compute_is_refused(tmp_path, era):
    (tmp_path / "loads.py").write_text(OPERATIONS)
    refused = run(tmp_path, "--era", era, "loads.py")
    assert refused.stdout == "[[-1.0, -1.0]]\n", refused.stderr
    assert "operation 'DebugIdentity'" in refused.stderr.splitlines()[-1]
    assert not (tmp_path / "written").exists()
    assert run(tmp_path, "--era", era, "--allow-lambdas", "loads.py").returncode == 0
    assert (tmp_path / "written").exists()


SAVES = """
import numpy as np
from {keras}.layers import Lambda
from {keras}.models import Sequential, load_model
Sequential([Lambda(lambda x: x * 3.0, input_shape=(1,))]).save("model.h5")
print(load_model("model.h5").predict(np.ones((1, 1)))[0, 0])
"""
LOADS = """
import numpy as np
from {keras}.models import load_model
another = lambda x: x * 4.0
print(load_model("model.h5").predict(np.ones((1, 1)))[0, 0])
"""


@pytest.mark.parametrize(("era", "keras"), ERAS)
def test_code_in_a_file_runs_if_the_script_has_it_or_the_user_allows_it(tmp_path, era, keras):
    (tmp_path / "saves.py").write_text(SAVES.format(keras=keras))
    (tmp_path / "loads.py").write_text(LOADS.format(keras=keras))
    saved = run(tmp_path, "--era", era, "saves.py")
    assert saved.stdout.endswith("3.0\n"), saved.stderr
    assert "--allow-lambdas" in run(tmp_path, "--era", era, "loads.py").stderr.splitlines()[-1]
    assert run(tmp_path, "--era", era, "--allow-lambdas", "loads.py").stdout.endswith("3.0\n")


def test_code_of_another_python_is_refused_by_name(tmp_path):
    """Python 3.6's code of `lambda x: x * 2`, which crashes or misleads this Python if it is run."""
    (tmp_path / "saves.py").write_text(SAVES.format(keras="keras"))
    assert run(tmp_path, "--era", "keras-2.2.4", "saves.py").returncode == 0
    old = (
        "4wEAAAAAAAAAAQAAAAIAAABDAAAAcwgAAAB8AGQBFABTACkCTukCAAAAqQApAdoBeHICAAAAcgIA\n"
        "AADaCDxzdHJpbmc+2gg8bGFtYmRhPgMAAABzAAAAAA==\n"
    )
    with h5py.File(tmp_path / "model.h5", "r+") as file:
        config = json.loads(file.attrs["model_config"])
        config["config"]["layers"][0]["config"]["function"][0] = old
        file.attrs["model_config"] = json.dumps(config).encode()
    (tmp_path / "loads.py").write_text(LOADS.format(keras="keras"))
    refused = run(tmp_path, "--era", "keras-2.2.4", "--allow-lambdas", "loads.py")
    assert refused.returncode == 1
    assert "code of Python 3.0 to 3.7" in refused.stderr.splitlines()[-1]


SAVING = """
import numpy as np
from keras.layers import Dense
from keras.models import Sequential
model = Sequential([Dense(400, input_dim=400)])
model.compile("sgd", "mse")
model.save("model.h5")
print("ready", flush=True)
while True:
    model.save("model.h5")
"""


@pytest.mark.parametrize("times", [2, pytest.param(40, marks=pytest.mark.slow)])
def test_a_killed_process_loses_no_checkpoint(tmp_path, times):
    (tmp_path / "saves.py").write_text(SAVING)
    command = [sys.executable, "-m", "parallel_compat", "run", "--quiet", "--era", "keras-2.2.4", "saves.py"]
    moments = random.Random(0)
    for _ in range(times):
        with subprocess.Popen(
            command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(PROJECT)}, stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            time.sleep(moments.uniform(0, 0.3))
            process.send_signal(signal.SIGKILL)
        with h5py.File(tmp_path / "model.h5") as file:
            assert list(file["model_weights"]) == ["dense_1"]
