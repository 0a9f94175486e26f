"""Every test process has four logical CPU devices; GPUs, where there are any, are hidden from it."""

from __future__ import annotations

import gc
import os
import sys
import zlib
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import keras
import pytest

import parallel_compat
from parallel_compat.recover import reader
from parallel_compat.training import replicas, weight_exchange
from tests.forked_reading import Forked
from tests.one_device import plain_graphs

parallel_compat.simulate_devices(4)

# How long `python -m pytest` takes.
MINUTES = 10


# What is tried with weights from one device, and passed on from device to device; the second is marked as slow, except
# for what is named here.
BOTH_WAYS = {
    "training/test_added_losses": (),
    "training/test_batch_normalization": (),
    "training/test_batch_sizes": (),
    "training/test_losses": (),
    "training/test_masks_and_weights": (),
    "training/test_one_set_of_weights": (
        "test_seen_in_every_batch",
        "test_template_trains",
        "test_two_models_trained_in_turn",
    ),
    "training/test_optimizers": tuple(
        f"test_feature[mirrored-Adam-{name}" for name in ("use_ema]", "gradient_", "global_")
    ),
    "evidence/test_oracle": ("test_the_same_numbers[mirrored-batch_norm", "test_the_same_numbers[mirrored-add_loss"),
    "training/test_precision_and_execution": (),
    "training/test_random_layers": (),
    "test_saving": (),
    "training/test_written_weights": (),
}


def name_of(module):
    """Return the path of a module of tests below this folder, without its suffix."""
    return Path(module.__file__).relative_to(Path(__file__).parent).with_suffix("").as_posix()


def pytest_xdist_auto_num_workers(config):
    """Several processes for whole folders; none, which start at once, for tests that are named."""
    paths = [Path(argument.partition("::")[0]) for argument in config.args]
    named = len(paths) <= 3 and all(path.is_file() for path in paths)
    return 0 if named or config.option.keyword else 3


def pytest_report_header(config):
    if all(Path(argument).name == "tests" for argument in config.args) and not config.option.keyword:
        return f"all tests: about {MINUTES} minutes on two cores; one file or `-k NAME` starts at once"
    return None


def pytest_generate_tests(metafunc):
    if name_of(metafunc.module) in BOTH_WAYS:
        metafunc.parametrize("_weights", ["one device", "mirrored"], indirect=True)


def pytest_collection_modifyitems(items):
    for item in items:
        always = BOTH_WAYS.get(name_of(item.module))
        if "mirrored" in item.nodeid and always is not None and not item.name.startswith(always):
            item.add_marker(pytest.mark.slow)
        # By a hash of the case's name: of every n-th in order one argument would always be left out.
        one_in = item.get_closest_marker("one_in")
        if one_in is not None and zlib.crc32(item.name.encode()) % one_in.args[0]:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(autouse=True)
def _weights(request, monkeypatch):
    """How weights come to the replicas where a test does not say it; on logical devices that is "one device"."""
    if getattr(request, "param", "one device") == "mirrored":
        chosen = weight_exchange.check_weights
        monkeypatch.setattr(
            replicas,
            "check_weights",
            lambda weights, strategy: chosen("mirrored" if weights == "auto" else weights, strategy),
        )
        monkeypatch.setattr(weight_exchange, "SMALL", 0)  # the tests' models are small


@pytest.fixture(autouse=True)
def _fresh_keras():
    """Each test starts from the same random numbers and from Keras's first layer names."""
    keras.utils.clear_session()
    # TensorFlow keeps some thousand objects of every model; without this each collection looks at all of them again.
    gc.freeze()
    keras.utils.set_random_seed(0)
    yield
    keras.config.set_dtype_policy("float32")


@pytest.fixture(autouse=True)
def _forked_reading(request, monkeypatch):
    """Files are read by processes that are forked, but where the reading is attacked."""
    if sys.platform == "linux" and not name_of(request.module).startswith("evidence/attacks"):
        monkeypatch.setattr(reader, "start", Forked)


@pytest.fixture(name="plain_graphs")
def _plain_graphs():
    with plain_graphs():
        yield
