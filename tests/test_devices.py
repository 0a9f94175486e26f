"""Which devices `gpus=` means, and what is refused."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf

from parallel_compat import available_devices, multi_gpu_model, parallelize, simulate_devices
from parallel_compat import devices as devices_module
from tests.one_device import mlp


def devices(parallel):
    return [name.split("device:")[1] for name in parallel.strategy.extended.worker_devices]


@pytest.mark.parametrize(
    ("gpus", "expected"),
    [
        (2, [0, 1]),
        (4, [0, 1, 2, 3]),
        (np.int64(3), [0, 1, 2]),
        ([1, 3], [1, 3]),
        ((3, 0), [3, 0]),
        ([np.int64(1), 2], [1, 2]),
        (None, [0, 1, 2, 3]),
        (0, [0, 1, 2, 3]),
    ],
)
def test_gpus(gpus, expected):
    assert devices(multi_gpu_model(mlp(), gpus)) == [f"CPU:{i}" for i in expected]


@pytest.mark.parametrize(
    "gpus", [1, [0], (2,), -1, 5, [0, 4], [0, -1], [1, 1], True, "2", "all", 2.0, [0.0, 1.0], ["0"]]
)
def test_wrong_gpus_are_a_value_error(gpus):
    # ValueError, because old scripts fall back to one device on it.
    with pytest.raises(ValueError, match=r"Expected .*Received: gpus="):
        multi_gpu_model(mlp(), gpus=gpus)


@pytest.mark.parametrize("gpus", [1, [0]])
def test_one_of_several_workers_may_have_one_device(gpus, monkeypatch):
    monkeypatch.setattr(devices_module, "_fewest", 1)
    assert devices_module.devices_of_gpus(gpus) == ["CPU:0"]
    assert devices_module.check_devices(["CPU:0"]) == ["CPU:0"]


def test_the_error_says_which_devices_exist():
    with pytest.raises(ValueError, match=r"gpus=8.*'CPU:0', 'CPU:1', 'CPU:2', 'CPU:3'.*run --replicas 8"):
        multi_gpu_model(mlp(), gpus=8)


def test_one_device_is_not_told_to_reduce_the_number():
    with pytest.raises(ValueError, match="On one device train the model itself") as raised:
        multi_gpu_model(mlp(), gpus=1)
    assert "Reduce" not in str(raised.value)


def test_the_old_signature():
    model = mlp()
    assert devices(multi_gpu_model(model, 2, True, False)) == ["CPU:0", "CPU:1"]
    parallel = multi_gpu_model(model=model, gpus=2, cpu_merge=False, cpu_relocation=True)
    assert parallel.template is model


@pytest.mark.parametrize("names", [["CPU:0", "CPU:2"], ("cpu:0", "/cpu:2"), ["/device:CPU:0", "/device:CPU:2"]])
def test_device_names(names):
    assert devices(parallelize(mlp(), devices=names)) == ["CPU:0", "CPU:2"]


@pytest.mark.parametrize("names", [["CPU:0"], ["CPU:0", "CPU:0"], ["CPU:0", "CPU:9"], "CPU:0", [0, 1], []])
def test_wrong_device_names_are_refused(names):
    with pytest.raises(ValueError, match="Expected `devices`"):
        parallelize(mlp(), devices=names)


def test_a_ready_strategy():
    strategy = tf.distribute.MirroredStrategy(["CPU:1", "CPU:2"])
    assert parallelize(mlp(), strategy=strategy).strategy is strategy


@pytest.mark.parametrize("strategy", ["mirrored", tf.distribute.get_strategy()])
def test_a_strategy_without_replicas_is_refused(strategy):
    with pytest.raises(ValueError, match="Expected `strategy`"):
        parallelize(mlp(), strategy=strategy)


def test_contradictory_arguments_are_refused():
    with pytest.raises(ValueError, match=r"one of `gpus`, `devices` and `strategy`\. Received: gpus, devices"):
        parallelize(mlp(), 2, devices=["CPU:0", "CPU:1"])


def test_models_on_the_same_devices_share_a_strategy():
    assert parallelize(mlp(), 2).strategy is parallelize(mlp(), devices=["CPU:0", "CPU:1"]).strategy


def test_available_devices():
    assert available_devices() == ["CPU:0", "CPU:1", "CPU:2", "CPU:3"]


@pytest.mark.parametrize("n", [1, 0, True, 2.0, "2", None])
def test_simulating_less_than_two_is_refused(n):
    with pytest.raises(ValueError, match="Expected `n`"):
        simulate_devices(n)


def test_simulating_again():
    assert simulate_devices(4) == available_devices()  # as they are: fine
    with pytest.raises(RuntimeError, match="before TensorFlow starts"):
        simulate_devices(3)


def test_memory_limit_needs_a_gpu():
    with pytest.raises(ValueError, match="Expected `memory_limit`"):
        simulate_devices(4, memory_limit=100)


@pytest.mark.slow
def test_without_devices_the_error_says_how_to_simulate():
    code = (
        "import keras, parallel_compat\n"
        "model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])\n"
        "try: parallel_compat.multi_gpu_model(model, gpus=2)\n"
        "except ValueError as error: print(error)"
    )
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "simulate_devices" in output
    assert "gpus=2" in output


def test_importing_does_not_start_tensorflow():
    code = (
        "import sys, parallel_compat; dir(parallel_compat); print('tensorflow' in sys.modules, 'keras' in sys.modules)"
    )
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert output.split() == ["False", "False"]


def test_one_device_is_no_parallel_model():
    with pytest.raises(ValueError, match="On one device train the model itself"):
        parallelize(mlp(), 1)


def test_a_misspelled_argument_is_told_the_right_one():
    with pytest.raises(TypeError, match=r"gpu=2\. `gpus` is the number of devices"):
        multi_gpu_model(mlp(), gpu=2)
