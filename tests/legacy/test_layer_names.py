"""`load_weights(by_name=True)` of a file of Keras 2, which counted unnamed layers from 1, into a model of Keras 3."""

from __future__ import annotations

import h5py
import keras
import numpy as np
import pytest
import tensorflow as tf

import parallel_compat
from parallel_compat.backend.keras3 import h5_files
from parallel_compat.legacy import models, saving


@pytest.fixture
def old_file(tmp_path):
    """Two layers that Keras 2.2.4 named `dense_1`, of ones, and `dense_2`, of twos."""

    def write(version="2.2.4", names=("dense_1", "dense_2")):
        layers = [keras.layers.Dense(3, name=name) for name in names]
        model = keras.Sequential([keras.Input((3,)), *layers])
        model.set_weights([np.full(w.shape, 1.0 + number // 2) for number, w in enumerate(model.weights)])
        with h5py.File(tmp_path / "old.h5", "w") as file:
            h5_files.write_weights(model, file)
            file.attrs["keras_version"] = version
        keras.utils.clear_session()
        return str(tmp_path / "old.h5")

    return write


def made(*names):
    return keras.Sequential([keras.Input((3,)), *(keras.layers.Dense(3, name=name) for name in names)])


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


@pytest.mark.parametrize("era", ["keras-2.2.4", "tf.keras-1.15", "tf.keras-2.2"])
def test_a_layer_of_tf_keras_is_renamed_by_its_private_name(era):
    """As TensorFlow 1.15.5 and 2.2.3 named them; Keras 2.2.4 has no such attribute."""
    with parallel_compat.legacy_names(era=era):
        from keras import layers, models

        x, dense = layers.Input((2,)), layers.Dense(1, name="a")
        model = models.Model(x, dense(x), name="first")
        model._name, dense._name = "generator", "b"
        y = layers.Input((2,))
        outer = models.Model(y, [model(y), layers.Dense(1, name="c")(y)])
        names = [model.name, model._name, dense.name, *model.output_names, *outer.output_names]
        outer.compile("sgd", "mse")
        logs = outer.fit(np.ones((4, 2)), [np.ones((4, 1))] * 2, verbose=0).history
        model._name = "other"
        names += outer.output_names
    if era == "keras-2.2.4":
        assert names == ["first", "generator", "a", "a", "first", "c", "first", "c"]
    else:
        assert names == ["generator", "generator", "b", "a", "generator", "c", "generator", "c"]
        assert sorted(logs) == ["c_loss", "generator_loss", "loss"]


def test_a_weight_whose_shape_is_a_number():
    """TensorFlow 1.15.5 and 2.2.3 take it for one axis."""
    with parallel_compat.legacy_names(era="tf.keras-1.15"):
        from keras import layers

        class Shift(layers.Layer):
            def build(self, shape):
                self.shift = self.add_weight(name="shift", shape=(3), initializer="ones")
                self.other = self.add_weight("other", np.int64(3), initializer="zeros")

            def call(self, x):
                return x + self.shift + self.other

        layer = Shift()
        assert np.array(layer(np.zeros((1, 3)))).tolist() == [[1.0, 1.0, 1.0]]
        assert [weight.shape for weight in layer.get_weights()] == [(3,), (3,)]


def test_no_number_of_a_model_is_that_of_one_within_a_sequential(era):
    """As the three stacks named them: what is put together again with each layer is a model of Keras 3's alone."""
    from keras import layers, models

    model = models.Sequential()
    for layer in layers.Embedding(5, 3), layers.GlobalMaxPooling1D(), layers.Dense(2), layers.Dense(1):
        model.add(layer)
    inputs = layers.Input((3,))
    assert models.Model(inputs, layers.Dense(2)(inputs)).name == ("model_1" if era == "keras-2.2.4" else "model")


# Of Keras 2.2.4 and TensorFlow 1.15.5 and 2.2.3: the layers, and the scopes of their weights.
@pytest.mark.parametrize(
    ("era", "first", "again", "third"),
    [
        (
            "keras-2.2.4",
            "input_1 dense_1 dense_2 / dense_1 dense_2",
            "input_1 dense_1 dense_2 / dense_1 dense_2",
            "input_2 dense_3 dense_4 / dense_3 dense_4",
        ),
        (
            "tf.keras-1.15",
            "input_1 dense dense_1 / dense dense_1",
            "input_1 dense dense_1 / dense dense_1",
            "input_2 dense_2 dense_3 / dense_2 dense_3",
        ),
        ("tf.keras-2.2", "input_1 dense dense_1 / dense dense_1", "input_2 dense dense_1 / dense_2 dense_1_1", None),
    ],
)
def test_each_graph_counts_its_own_layers(era, first, again, third):
    def names():
        x = keras.layers.Input((2,))
        first = keras.layers.Dense(2)(x)
        model = keras.models.Model(x, keras.layers.Dense(2)(first))
        scopes = [weight.name.partition("/")[0] for weight in model.weights[::2]]
        return " ".join([*(layer.name for layer in model.layers), "/", *scopes])

    with parallel_compat.legacy_names(era=era):
        keras.backend.clear_session()
        tf.compat.v1.reset_default_graph()
        assert names() == first
        tf.compat.v1.reset_default_graph()
        assert names() == again
        if third is None:
            return
        graph = tf.Graph()
        with graph.as_default():
            assert names() == first
        assert names() == third
        with graph.as_default():
            assert names() == third
