from __future__ import annotations

import pytest

from tests.migrate.check import check_noop, check_transformed, found

HEAD = "from keras.models import Sequential\nmodel = Sequential()\n"
IMPORT = "from parallel_compat.legacy.models import load_weights\n"
AFTER = f"from keras.models import Sequential\n{IMPORT}model = Sequential()\n"


@pytest.mark.parametrize(
    "arguments", ["'w.ckpt'", "path", "folder + '/w', by_name=True", "path, by_name=True, skip_mismatch=True"]
)
def test_becomes_a_function(arguments):
    check_transformed(
        f"{HEAD}model.load_weights({arguments})\n",
        f"{AFTER}load_weights(model, {arguments})\n",
    )


def test_an_unknown_object_is_a_guess():
    assert found("import keras\nnet.load_weights('w')\n", "load-weights") == [(2, "unsafe")]


def test_only_keras_loads_by_name():
    assert found("import keras\nnet.load_weights('w.h5', by_name=True)\n", "load-weights") == [(2, "rewritten")]


@pytest.mark.parametrize(
    "path", ["'w.h5', by_name=False", "'w.weights.h5', by_name=True", "'w.h5'", "'w.hdf5'", "'a.weights.h5'"]
)
def test_leaves_alone(path):
    check_noop(f"{HEAD}model.load_weights({path})\n", rule="load-weights")
