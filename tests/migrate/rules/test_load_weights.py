from __future__ import annotations

import pytest

from tests.migrate.check import check_noop, check_transformed, found

HEAD = "from keras.models import Sequential\nmodel = Sequential()\n"
AFTER = "from keras.models import Sequential\nimport parallel_compat.legacy.models\nmodel = Sequential()\n"


@pytest.mark.parametrize("arguments", ["'w.ckpt'", "folder + '/w', by_name=True"])
def test_becomes_a_function(arguments):
    check_transformed(
        f"{HEAD}model.load_weights({arguments})\n",
        f"{AFTER}parallel_compat.legacy.models.load_weights(model, {arguments})\n",
    )


def test_an_unknown_object_is_a_guess():
    assert found("import keras\nnet.load_weights('w')\n", "load-weights") == [(2, "unsafe")]


@pytest.mark.parametrize("path", ["'w.h5'", "'w.hdf5'", "'a.weights.h5'", "path"])
def test_leaves_alone(path):
    check_noop(f"{HEAD}model.load_weights({path})\n", rule="load-weights")
