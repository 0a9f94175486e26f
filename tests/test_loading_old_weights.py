"""`load_weights` on a parallel model takes what a parallel or a single model wrote, of Keras 2 or 3, and says which."""

from __future__ import annotations

from pathlib import Path

import keras
import numpy as np
import pytest

import parallel_compat
from parallel_compat import parallelize

ORACLE = Path(__file__).parent / "data" / "oracle" / "h5"


def mlp(units=16):
    inputs = keras.Input((8,))
    hidden = keras.layers.Dense(units, activation="relu")(inputs)
    return keras.Model(inputs, keras.layers.Dense(3, activation="softmax")(hidden))


@pytest.mark.parametrize("kind", ["parallel", "parallel_weights", "template", "template_weights"])
def test_either_kind_of_old_file(kind, capsys):
    parallel = parallelize(mlp(), 2)
    found = parallel.load_weights(ORACLE / f"sgd_even.{kind}.h5")
    assert found.parallel == kind.startswith("parallel")
    assert found.weights == 4
    assert ("a parallel model over 2 devices" in capsys.readouterr().out) == found.parallel
    recorded = np.load(ORACLE / "sgd_even.npz")
    np.testing.assert_allclose(parallel.predict(recorded["x_0"], verbose=0), recorded["predict_0"], atol=1e-6)


def test_a_file_that_does_not_fit_changes_nothing():
    parallel = parallelize(mlp(units=5), 2)
    before = parallel.get_weights()
    with pytest.raises(parallel_compat.CheckpointError):
        parallel.load_weights(ORACLE / "sgd_even.parallel.h5")
    for one, other in zip(before, parallel.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", ["new.weights.h5", "new.h5", "new.keras"])
def test_todays_files(tmp_path, name):
    source = parallelize(mlp(), 2)
    if name.endswith(".weights.h5"):
        source.save_weights(tmp_path / name)
    else:
        source.save(tmp_path / name)
    parallel = parallelize(mlp(), 3)
    parallel.load_weights(tmp_path / name)
    for one, other in zip(source.get_weights(), parallel.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_keras_own_ways_are_kept():
    """Matching by name, which Keras does, is asked for by name."""
    parallel = parallelize(mlp(), 2)
    with pytest.raises(ValueError, match="shape"):
        parallelize(mlp(units=5), 2).load_weights(ORACLE / "sgd_even.template_weights.h5", skip_mismatch=False)
    parallel.load_weights(ORACLE / "sgd_even.template_weights.h5", skip_mismatch=True)
