"""Errors of Keras about what is around it end with one line that says what it is and what to do."""

from __future__ import annotations

import h5py
import numpy as np
import pytest
import tensorflow as tf

from parallel_compat import devices
from parallel_compat.run import remedies

OF_ORIGINALS = (
    "To call `multi_gpu_model` with `gpus=4`, we expect the following devices to be available: ['/cpu:0', '/gpu:0', "
    "'/gpu:1', '/gpu:2', '/gpu:3']. However this machine only has: {}. Try reducing `gpus`."
)


@pytest.mark.parametrize(
    ("there", "said"),
    [
        ("['/cpu:0']", "this process has no GPU."),
        ("['/cpu:0', '/gpu:0']", "this process has 1 GPU."),
        ("['/cpu:0', '/gpu:0', '/gpu:1']", "this process has 2 GPUs."),
    ],
)
def test_too_few_devices(there, said):
    line = remedies.remedy(ValueError(OF_ORIGINALS.format(there)))
    assert said in line
    assert line.endswith("parallel-compat run --replicas 4 SCRIPT")


def test_each_door_names_its_own_option():
    for error in (OF_ORIGINALS.format("['/cpu:0']"), "Expected the devices [0, 3] for `gpus`, for multi-GPU usage"):
        assert remedies.remedy(ValueError(error), "pytest --legacy-replicas {}").endswith("pytest --legacy-replicas 4")


def test_an_operation_on_a_device_that_is_not_there():
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        with tf.device("/gpu:31"):
            product = tf.matmul(tf.ones([2, 2]), tf.ones([2, 2]))
        with tf.device("/gpu:70"):
            tf.random.uniform([2, 2])
        with pytest.raises(tf.errors.InvalidArgumentError) as raised:
            session.run(product)
    line = remedies.remedy(raised.value)
    assert "this process has no GPU 31. To try the same code on simulated GPUs: " in line
    assert line.endswith("run --replicas 71 SCRIPT")


def test_the_core_says_it_itself():
    with pytest.raises(ValueError, match=r"TensorFlow sees .* Try: `parallel-compat run --replicas"):
        devices.devices_of_gpus(99)
    assert remedies.remedy(ValueError("Expected the devices [0, 3] for `gpus`, for multi-GPU usage")) is None


def whole(path):
    with h5py.File(path, "w") as file:
        file["weights"] = np.ones((100, 100))


def cut(path):
    whole(path)
    path.write_bytes(path.read_bytes()[:4000])


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda path: path.write_bytes(b""), "an empty file"),
        (lambda path: path.write_bytes(b"version https://git-lfs.github.com/spec/v1\n"), "git lfs pull"),
        (lambda path: path.write_bytes(b"<!DOCTYPE html><html></html>"), "a web page"),
        (lambda path: path.write_bytes(b"\x80\x04\x95" + b"x" * 90), "Reading a pickle executes its code"),
        (lambda path: path.write_bytes(b"\x1f\x8b\x08" + b"x" * 90), "a compressed file"),
        (lambda path: path.write_bytes(b"nonsense and more"), "not an HDF5 file (it holds 17 bytes"),
        (cut, "the file is truncated: it holds 4,000 of "),
    ],
)
def test_a_damaged_file_is_named_with_what_it_is(tmp_path, make, said):
    path = tmp_path / "model.h5"
    make(path)
    with pytest.raises(OSError, match="nable to") as raised:
        h5py.File(str(path), "r")
    line = remedies.remedy(raised.value)
    assert f"{path}: " in line
    assert said in line


def test_a_file_that_is_taken_for_a_folder(tmp_path):
    (tmp_path / "model.h5").write_bytes(b"")

    def parse_saved_model(export_dir):
        raise OSError(f"SavedModel file does not exist at: {export_dir}/{{saved_model.pbtxt|saved_model.pb}}")

    with pytest.raises(OSError, match="SavedModel") as raised:
        parse_saved_model(str(tmp_path / "model.h5"))
    assert "an empty file" in remedies.remedy(raised.value)


def test_tensorflow_is_not_installed(tmp_path, python):
    (tmp_path / "train.py").write_text("import keras\n")
    code = (
        "import importlib.util as u, sys\nfound = u.find_spec\n"
        "u.find_spec = lambda name, package=None: None if name == 'tensorflow' else found(name, package)\n"
        "from parallel_compat.command import main\nsys.exit(main(['run', '--era', 'keras-2.2.4', 'train.py']))\n"
    )
    ours = python("-c", code)
    assert ours.returncode == 2
    assert "Expected tensorflow and keras to be installed" in ours.stderr
    assert "pip install 'parallel-compat[tensorflow]'" in ours.stderr
