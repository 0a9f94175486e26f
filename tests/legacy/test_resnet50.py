"""ResNet50 until 2018: its layers under their names of then, and files that were saved with it."""

from __future__ import annotations

import h5py
import keras
import numpy as np
import pytest

import parallel_compat
from parallel_compat.names import resnet50


def network(then, top="predictions"):
    """Return a network with the layers of ResNet50, two filters each, with the names and in the order of then or now.

    Then the shortcut came last, in the sum as well.
    """
    names = {since: name for name, since in resnet50.given_names().items()}

    def part(kind, x, name, **arguments):
        return getattr(keras.layers, kind)(**arguments, name=names[name] if then else name)(x)

    def convolution(x, name, filters=2):
        x = part("Conv2D", x, f"{name}_conv", filters=filters, kernel_size=1)
        return part("BatchNormalization", x, f"{name}_bn")

    inputs = keras.Input((4, 4, 3))
    x = keras.layers.Activation("relu", name=None if then else "conv1_relu")(convolution(inputs, "conv1"))
    for stage, blocks in ((2, 3), (3, 4), (4, 6), (5, 3)):
        for number in range(1, blocks + 1):
            name = f"conv{stage}_block{number}"
            shortcut = convolution(x, f"{name}_0") if number == 1 and not then else x
            y = x
            for step in (1, 2, 3):
                y = convolution(y, f"{name}_{step}")
            if number == 1 and then:
                shortcut = convolution(x, f"{name}_0")
            x = keras.layers.Add(name=None if then else f"{name}_add")([y, shortcut] if then else [shortcut, y])
            x = keras.layers.Activation("relu", name=None if then else f"{name}_out")(x)
    x = keras.layers.Dense(2, name=top)(keras.layers.GlobalAveragePooling2D()(x))
    return keras.Model(inputs, x)


def filled(model):
    random = np.random.RandomState(0)
    model.set_weights([random.rand(*w.shape) for w in model.get_weights()])
    return model


def written(write, path, config=None):
    write(path)
    with h5py.File(path, "r+") as file:
        file.attrs["keras_version"] = "2.2.4"
        if config is not None:
            file.attrs["model_config"] = config
    return path


X = np.random.RandomState(1).rand(2, 4, 4, 3)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.* is of a ResNet50 of 2018")
@pytest.mark.parametrize("by_name", [pytest.param(False, marks=pytest.mark.slow), True])
@pytest.mark.parametrize("whole", [pytest.param(False, marks=pytest.mark.slow), True])
@pytest.mark.parametrize("top", [pytest.param("predictions", marks=pytest.mark.slow), "other"])
def test_a_file_of_then_is_loaded_by_the_names(whole, by_name, top, tmp_path):
    with parallel_compat.legacy_names(era="keras-2.2.4"):
        old = filled(network(then=True))
        write, config = (old.save, old.to_json()) if whole else (old.save_weights, None)
        path = written(write, tmp_path / "old.h5", config)
        model = network(then=False, top=top)
        model.load_weights(path, by_name=by_name)
        if by_name and top == "other":  # which the file does not have
            model.get_layer("other").set_weights(old.get_layer("predictions").get_weights())
        np.testing.assert_allclose(model.predict(X), old.predict(X), rtol=1e-5)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.* is of a ResNet50 of 2018")
def test_a_file_of_a_model_around_it(tmp_path):
    with parallel_compat.legacy_names(era="keras-2.2.4"):
        old, model = (keras.Sequential([network(then), keras.layers.Dense(1)]) for then in (True, False))
        model.load_weights(written(filled(old).save_weights, tmp_path / "old.h5"))
        np.testing.assert_allclose(model.predict(X), old.predict(X), rtol=1e-5)


@pytest.mark.slow
def test_its_epsilon_is_told(tmp_path):
    with parallel_compat.legacy_names(era="keras-2.2.4"):
        path = written(network(then=True).save_weights, tmp_path / "old.h5")
        for by_name in (False, True):
            with pytest.warns(parallel_compat.ParallelCompatWarning, match="epsilon=1e-3"):
                network(then=False).load_weights(path, by_name=by_name)


def test_its_layers_are_found_by_their_names_of_then():
    with parallel_compat.legacy_names(era="keras-2.2.4"):
        model = network(then=False)
        found = [model.get_layer(name).name for name in ("activation_49", "res4a_branch1", "bn_conv1")]
        assert found == ["conv5_block3_out", "conv4_block1_0_conv", "conv1_bn"]
        with pytest.raises(ValueError, match="No such layer: activation_98"):
            model.get_layer("activation_98")
        with pytest.raises(ValueError, match="No such layer: activation_49"):
            keras.Sequential([keras.layers.Dense(1)]).get_layer("activation_49")


def test_a_file_with_no_name_of_the_model_is_told(tmp_path):
    with parallel_compat.legacy_names(era="keras-2.2.4"):
        one, other = (keras.Sequential([keras.layers.Dense(1, input_shape=(2,), name=name)]) for name in "ab")
        one.save_weights(tmp_path / "one.h5")
        with pytest.warns(parallel_compat.ParallelCompatWarning, match="nothing was loaded"):
            other.load_weights(tmp_path / "one.h5", by_name=True)


# Read off Keras-Applications 1.0.8 with TensorFlow 1.15.5, and TensorFlow 2.2.3.
@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("era", "network", "names"),
    [
        ("keras-2.2.4", "DenseNet121", {"conv1/conv", "conv1/bn", "conv1/relu", "fc1000"}),
        ("tf.keras-1.15", "ResNet50", {"probs", "conv1_conv"}),
        ("tf.keras-1.15", "MobileNet", {"act_softmax", "conv1_pad"}),
        ("keras-2.2.4", "MobileNetV2", {"Logits", "Conv1_pad"}),
        ("tf.keras-2.2", "DenseNet121", {"conv1/conv", "predictions"}),
        ("tf.keras-2.2", "MobileNetV2", {"predictions"}),
        ("today", "DenseNet121", {"conv1_conv", "predictions"}),
        ("tf.keras-2.2", "InceptionResNetV2", {"block35_1", "block8_10", "block17_20_ac"}),
    ],
)
def test_networks_name_their_layers_as_then(era, network, names):
    with parallel_compat.legacy_names(era=era):
        model = getattr(keras.applications, network)(weights=None)
    assert names <= {layer.name for layer in model.layers}


@pytest.mark.slow
@pytest.mark.parametrize("era", ["keras-2.2.4", "tf.keras-1.15", "tf.keras-2.2"])
def test_a_large_nasnet_has_a_size(era):
    with parallel_compat.legacy_names(era=era):
        model = keras.applications.NASNetLarge(weights=None, include_top=False)
    assert (model.name, model.input_shape, model.count_params()) == ("NASNet", (None, 331, 331, 3), 84916818)
