"""`load_weights(by_name=True)` of a file of Keras 2, which counted unnamed layers from 1, into a model of Keras 3."""

from __future__ import annotations

import h5py
import keras
import numpy as np
import pytest

from parallel_compat.backend.keras3 import h5_files
from parallel_compat.legacy import layers, models, saving


@pytest.fixture
def old_file(tmp_path):
    """Two layers that Keras 2.2.4 named `dense_1`, of ones, and `dense_2`, of twos."""

    def write(version="2.2.4", names=("dense_1", "dense_2")):
        made = [keras.layers.Dense(3, name=name) for name in names]
        model = keras.Sequential([keras.Input((3,)), *made])
        model.set_weights([np.full(w.shape, 1.0 + number // 2) for number, w in enumerate(model.weights)])
        with h5py.File(tmp_path / "old.h5", "w") as file:
            h5_files.write_weights(model, file)
            file.attrs["keras_version"] = version
        keras.utils.clear_session()
        return str(tmp_path / "old.h5")

    return write


def made(*names):
    return keras.Sequential([keras.Input((3,)), *(layers.Dense(3, name=name) for name in names)])


def values(model):
    return [float(layer.get_weights()[0].mean()) for layer in model.layers]


def test_layers_that_keras_named_take_their_own_weights(old_file):
    path, model = old_file(), made(None, None)
    models.load_weights(model, path, by_name=True)
    assert [layer.name for layer in model.layers] == ["dense", "dense_1"]
    assert values(model) == [1.0, 2.0]


def test_so_does_the_old_function(old_file):
    path, model = old_file(), made(None, None)
    with h5py.File(path, "r") as file:
        saving.load_weights_from_hdf5_group_by_name(file, model.layers)
    assert values(model) == [1.0, 2.0]


def test_names_that_were_given_are_kept(old_file):
    path, model = old_file(), made("dense_1", "dense_2")
    models.load_weights(model, path, by_name=True)
    assert values(model) == [1.0, 2.0]
    path, model = old_file(names=("dense", "dense_1")), made("dense", "dense_1")
    models.load_weights(model, path, by_name=True)
    assert values(model) == [1.0, 2.0]


@pytest.mark.parametrize("version", ["2.2.4-tf", "2.4.0", "3.15.1"])
def test_tf_keras_counted_as_keras_3_does(old_file, version):
    path, model = old_file(version, names=("dense", "dense_1")), made(None, None)
    models.load_weights(model, path, by_name=True)
    assert values(model) == [1.0, 2.0]


def test_names_that_may_be_either_are_refused(old_file):
    path, model = old_file(), made("dense_1")
    with pytest.raises(ValueError, match=r"'dense_1', which is the file's 'dense_1' if the name was given, and its"):
        models.load_weights(model, path, by_name=True)


# Of Keras 2.2.4 and TensorFlow 1.15.5 and 2.2.3: the layers, and the scopes of their weights.
