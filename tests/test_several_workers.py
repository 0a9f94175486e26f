"""Two processes on this machine train to the weights of two local replicas."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import keras
import numpy as np
import pytest

from parallel_compat import parallelize
from parallel_compat.run.worker_processes import free_ports
from tests.one_device import classes, difference

WORKER = """
import json, os, sys
folder, index, ports = sys.argv[1], int(sys.argv[2]), sys.argv[3].split(",")
workers = [f"127.0.0.1:{port}" for port in ports]
os.environ["TF_CONFIG"] = json.dumps({"cluster": {"worker": workers}, "task": {"type": "worker", "index": index}})
import tensorflow as tf
from parallel_compat import multi_gpu_model, parallelize, workers
{start}
import keras, numpy as np
sys.path.insert(0, os.path.dirname(sys.argv[4]))
from tests.several_workers_model import build, samples_computed, train
keras.utils.set_random_seed(index)  # the chief's weights count
parallel = {parallel}(build())
result = train(parallel)
np.savez(f"{folder}/{index}.npz", *parallel.get_weights())
computed = samples_computed({parallel})
json.dump([computed, *result, parallel.merge_choices, parallel.is_chief], open(f"{folder}/{index}.json", "w"))
"""


STRATEGY = (
    "strategy = tf.distribute.MultiWorkerMirroredStrategy()",
    "(lambda model: parallelize(model, strategy=strategy))",
)
ONE_DEVICE = (
    "workers.join(tf.distribute.cluster_resolver.TFConfigClusterResolver(), devices=1)",
    "(lambda model: multi_gpu_model(model, gpus=1))",
)


@pytest.mark.slow
@pytest.mark.parametrize(("start", "parallel"), [STRATEGY, ONE_DEVICE], ids=["strategy", "gpus=1"])
def test_two_workers(start, parallel, tmp_path):
    from tests.several_workers_model import build, samples_computed, train

    here = str(Path(__file__).resolve())
    addresses = ",".join(map(str, free_ports(2)))
    worker = WORKER.replace("{start}", start).replace("{parallel}", parallel)
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", worker, str(tmp_path), str(index), addresses, here],
            env={**os.environ, "CUDA_VISIBLE_DEVICES": ""},
            stderr=subprocess.PIPE,
            text=True,
        )
        for index in (0, 1)
    ]
    errors = [process.communicate(timeout=300)[1] for process in processes]
    assert [process.returncode for process in processes] == [0, 0], errors

    keras.utils.set_random_seed(0)
    local = parallelize(build(), 2)
    expected = train(local)
    share = ([0.0, 1.0, 5.0, 6.0], [2.0, 3.0, 4.0, 7.0, 8.0, 9.0])
    assert set(map(tuple, samples_computed(lambda model: parallelize(model, 2)).values())) == {tuple(range(10))}
    for index in (0, 1):
        computed, *result, choices, chief = json.loads((tmp_path / f"{index}.json").read_text())
        saved = np.load(tmp_path / f"{index}.npz")
        assert difference([saved[name] for name in saved.files], local.get_weights()) < 1e-5
        assert difference(result, expected) < 1e-4
        assert chief == (index == 0)
        assert computed == dict.fromkeys(("arrays", "Sequence", "generator", "tf.data"), share[index])
        assert choices == local.merge_choices
        assert (choices["probs"]["loss"], choices["mask"]["loss"]) == ("samples", "merged")
    assert parallelize(build(), 2).is_chief
    assert classes(2)
