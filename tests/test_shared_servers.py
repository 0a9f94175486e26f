"""GPUs and their memory on shared servers. The tests' machine has no GPU: TensorFlow's answers are made up."""

from __future__ import annotations

import pytest
import tensorflow as tf

from parallel_compat import limit_gpu_memory, simulate_devices, use_gpus


class Machine:
    """Stands in for `tf.config` on a machine with some GPUs, and keeps what was set."""

    def __init__(self, monkeypatch, gpus, started=False):
        self.gpus = [tf.config.PhysicalDevice(f"/physical_device:GPU:{i}", "GPU") for i in range(gpus)]
        self.visible, self.growth, self.limits = list(self.gpus), {}, {}
        self.started = started
        monkeypatch.setattr(tf.config, "list_physical_devices", lambda kind=None: self.gpus)
        monkeypatch.setattr(tf.config, "get_visible_devices", lambda kind=None: self.visible)
        monkeypatch.setattr(tf.config, "set_visible_devices", self.set_visible)
        monkeypatch.setattr(tf.config, "get_logical_device_configuration", lambda device: None)
        monkeypatch.setattr(tf.config, "set_logical_device_configuration", self.set_limit)
        monkeypatch.setattr(tf.config.experimental, "set_memory_growth", self.set_growth)

    def check(self):
        if self.started:
            raise RuntimeError("Physical devices cannot be modified after being initialized")

    def set_visible(self, devices, kind):
        self.check()
        self.visible = devices

    def set_growth(self, device, value):
        self.check()
        self.growth[device.name] = value

    def set_limit(self, device, parts):
        self.check()
        self.limits[device.name] = [part.memory_limit for part in parts]


def test_use_gpus(monkeypatch):
    machine = Machine(monkeypatch, 4)
    assert use_gpus([1, 3]) == ["GPU:0", "GPU:1"]
    assert machine.visible == [machine.gpus[1], machine.gpus[3]]
    assert use_gpus([]) == []
    assert machine.visible == []


@pytest.mark.parametrize("ids", [[4], [-1], [0, 0], ["0"], [True]])
def test_gpus_that_are_not_there(monkeypatch, ids):
    Machine(monkeypatch, 4)
    with pytest.raises(ValueError, match=r"which has 4\. Received: ids="):
        use_gpus(ids)


def test_growth(monkeypatch):
    machine = Machine(monkeypatch, 2)
    assert limit_gpu_memory(growth=True) == ["GPU:0", "GPU:1"]
    assert machine.growth == {gpu.name: True for gpu in machine.gpus}


def test_megabytes(monkeypatch):
    machine = Machine(monkeypatch, 2)
    assert limit_gpu_memory(2048) == ["GPU:0", "GPU:1"]
    assert machine.limits == {gpu.name: [2048] for gpu in machine.gpus}


def test_simulated_parts_of_one_gpu_have_a_limit(monkeypatch):
    machine = Machine(monkeypatch, 1)
    assert simulate_devices(2, memory_limit=512) == ["GPU:0", "GPU:1"]
    assert list(machine.limits.values()) == [[512, 512]]
    simulate_devices(4)
    assert list(machine.limits.values()) == [[1024] * 4]


def test_several_gpus_are_not_simulated(monkeypatch):
    Machine(monkeypatch, 2)
    with pytest.raises(ValueError, match="at most one visible GPU"):
        simulate_devices(2)


@pytest.mark.parametrize("arguments", [{}, {"megabytes": 0}, {"megabytes": 1.5}, {"megabytes": 10, "growth": True}])
def test_wrong_limits(monkeypatch, arguments):
    Machine(monkeypatch, 1)
    with pytest.raises(ValueError, match="Expected either `megabytes`"):
        limit_gpu_memory(**arguments)


@pytest.mark.parametrize(
    "call", [lambda: use_gpus([0]), lambda: limit_gpu_memory(10), lambda: limit_gpu_memory(growth=True)]
)
def test_too_late(monkeypatch, call):
    Machine(monkeypatch, 1, started=True)
    with pytest.raises(RuntimeError, match="before TensorFlow starts"):
        call()
