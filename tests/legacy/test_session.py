"""Sessions and device listings: what chose GPUs has that effect, what ran a graph is refused."""

from __future__ import annotations

import keras
import numpy as np
import pytest
import tensorflow as tf

import parallel_compat
from parallel_compat.legacy import backend as K
from parallel_compat.legacy import device_lib, session
from parallel_compat.legacy.hparams import HParams


@pytest.fixture
def settings(monkeypatch):
    """A machine with three GPUs, whose settings are written down."""
    gpus = [tf.config.PhysicalDevice(f"/physical_device:GPU:{i}", "GPU") for i in range(3)]
    calls = []
    visible = list(gpus)
    monkeypatch.setattr(tf.config, "list_physical_devices", lambda kind=None: list(gpus))
    monkeypatch.setattr(tf.config, "get_visible_devices", lambda kind=None: list(visible))

    def set_visible(devices, kind):
        visible[:] = devices
        calls.append(("visible", [device.name[-1] for device in devices]))

    monkeypatch.setattr(tf.config, "set_visible_devices", set_visible)
    monkeypatch.setattr(
        tf.config.experimental, "set_memory_growth", lambda gpu, on: calls.append(("growth", gpu.name[-1], on))
    )
    monkeypatch.setattr(session.device_options, "set_memory_fraction", lambda part: calls.append(("part", part)))
    return calls


def test_gpu_options_have_their_effect(settings):
    config = session.ConfigProto(gpu_options=session.GPUOptions(per_process_gpu_memory_fraction=0.5))
    config.gpu_options.allow_growth = True
    config.gpu_options.visible_device_list = "1,2"
    K.set_session(session.Session(config=config))
    assert settings == [("visible", ["1", "2"]), ("growth", "1", True), ("growth", "2", True), ("part", 0.5)]


def test_no_gpu_at_all(settings):
    session.Session(config=session.ConfigProto(device_count={"GPU": 0}))
    assert settings == [("visible", [])]


def test_a_configuration_that_comes_too_late_says_so(monkeypatch):
    def late(*_arguments, **_keywords):
        raise RuntimeError("started")

    monkeypatch.setattr(session, "limit_gpu_memory", late)
    config = session.ConfigProto()
    config.gpu_options.allow_growth = True
    with pytest.warns(UserWarning, match="after TensorFlow had started .* configure the session before"):
        session.Session(config=config)


def test_a_session_reads_values():
    weight = keras.Variable(np.ones(2))
    with session.Session() as current:
        assert current.run([tf.constant(3), weight])[1].tolist() == [1, 1]
        with pytest.raises(NotImplementedError, match="Call the model or the function directly"):
            current.run(tf.constant(1), feed_dict={"x": 1})
        with pytest.raises(NotImplementedError, match="no TensorFlow 1 graph"):
            current.run(keras.Input((2,)))


def test_listings_name_what_parallelize_would_use():
    count = len(parallel_compat.available_devices())
    assert count == 4
    names = [f"/device:GPU:{i}" for i in range(count)]
    assert device_lib.get_available_gpus() == names
    assert [d.name for d in device_lib.list_local_devices() if d.device_type == "GPU"] == names
    assert [d.name for d in K.get_session().list_devices() if "GPU" in d.name] == names
    assert device_lib.get_available_devices() == ["/cpu:0", *(f"/gpu:{i}" for i in range(count))]
    assert device_lib.normalize_device_name("/device:GPU:1") == "/gpu:1"
    assert device_lib.normalize_device_name("/job:localhost/replica:0/task:0/device:CPU:0") == "/cpu:0"


def test_settings_of_contrib():
    settings = HParams(rate=0.1, units=[4, 2], bias=True, name="a")
    assert settings.parse("rate=1,units=[8,8],bias=false").values() == {
        "rate": 1.0, "units": [8, 8], "bias": False, "name": "a",
    }  # fmt: skip
    settings.add_hparam("steps", 3)
    settings.set_hparam("name", "b")
    assert (settings.steps, settings.get("name"), settings.get("none", 5), "units" in settings) == (3, "b", 5, True)
    assert HParams().override_from_dict({}).parse_json("{}").to_json() == "{}"
    settings.del_hparam("steps")
    assert "steps" not in repr(settings)
    for wrong, said in ((lambda: settings.parse("other=1"), "other"), (lambda: settings.parse("bias=5"), "bias")):
        with pytest.raises(ValueError, match=said):
            wrong()
    with pytest.raises(ValueError, match="reserved"):
        settings.add_hparam("rate", 1)
    with pytest.raises(KeyError):
        settings.set_hparam("none", 1)
