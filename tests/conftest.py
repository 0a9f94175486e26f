"""Every test process has four logical CPU devices; GPUs, where there are any, are hidden from it."""

from __future__ import annotations

import gc
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import keras
import pytest

import parallel_compat

parallel_compat.simulate_devices(4)


@pytest.fixture(autouse=True)
def _fresh_keras():
    """Each test starts from the same random numbers and from Keras's first layer names."""
    keras.utils.clear_session()
    # TensorFlow keeps some thousand objects of every model; without this each collection looks at all of them again.
    gc.freeze()
    keras.utils.set_random_seed(0)
    yield
    keras.config.set_dtype_policy("float32")
    install = sys.modules.get("parallel_compat.run.install")
    assert install is None or install._modules is None, "the test left the legacy names on"
