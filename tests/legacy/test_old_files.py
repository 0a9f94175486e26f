"""Whole models in files of Keras 2: what they predict, what they were compiled for, how training goes on."""

from __future__ import annotations

import json
from pathlib import Path

import h5py
import keras
import numpy as np
import pytest

from parallel_compat.legacy import backend as K
from parallel_compat.legacy import layers, models, optimizers
from parallel_compat.legacy.metrics import metric_function

FILES = Path(__file__).parents[1] / "data" / "old_models"

MEAN = ["total:0", "count:0"]
MEAN_OF_OWN = ["net/own/total:0", "net/own/count:0"]


def load(name, **keywords):
    return models.load_model(str(FILES / f"{name}.h5"), **keywords)


@pytest.mark.parametrize("name", ["sgd", "adam", "rmsprop", "rnn"])
def test_a_compiled_model_predicts_and_trains_as_before(name):
    data = np.load(FILES / f"{name}.npz")
    model = load(name)
    np.testing.assert_allclose(model.predict(data["x"]), data["before"], atol=1e-6)
    rows, epochs = (7, 3) if name == "rnn" else (32, 2)
    batch = 32 if name == "rnn" else 8
    history = model.fit(
        data["x"][:rows], data["y"][:rows], batch_size=batch, epochs=epochs, shuffle=False, verbose=0
    ).history
    # Without the optimizer's moments the first loss differs in the second digit.
    np.testing.assert_allclose(history["loss"], data["loss"], rtol=1e-3)
    if name != "rnn":
        np.testing.assert_allclose(
            history["mae" if "mae" in history else "mean_absolute_error"], data["mae"], rtol=1e-3
        )


def test_the_optimizer_goes_on_where_it_was():
    model = load("sgd")
    config = model.optimizer.get_config()
    assert (config["decay"], config["momentum"], config["nesterov"]) == pytest.approx((0.01, 0.9, True))
    assert int(model.optimizer.iterations) == 8
    with h5py.File(FILES / "sgd.h5") as file:
        group = file["optimizer_weights"]
        names = [n.decode() for n in group.attrs["weight_names"]]
        moments = [np.array(group[n]) for n in names[1:]]
    ours = [v.numpy() for v in model.optimizer.variables if v.path.endswith("_momentum")]
    for moment, variable in zip(moments, ours, strict=True):
        np.testing.assert_array_equal(moment, variable)


@pytest.mark.parametrize("name", ["tf22_lstm", "tf22_functional_bn"])
def test_files_of_tensorflow_2(name):
    data = np.load(FILES / f"{name}.npz")
    prediction = next(key for key in data.files if "pred" in key)
    model = load(f"{name}.template", compile=False)
    np.testing.assert_allclose(model.predict(data["x"]), data[prediction], atol=1e-6)


def test_a_model_that_calls_a_nested_one_twice():
    model = load("siamese_outputs.template", compile=False)
    outputs = model.predict([np.ones((2, 4)), np.ones((2, 4))])
    # Both calls see the same input; the third output adds them.
    smallest, other, added = sorted(outputs, key=lambda output: float(np.abs(output).sum()))
    np.testing.assert_allclose(smallest, other, atol=1e-6)
    np.testing.assert_allclose(added, smallest + other, atol=1e-6)


def test_weights_alone_are_no_model(tmp_path):
    with h5py.File(tmp_path / "weights.h5", "w") as file:
        file.attrs["layer_names"] = []
    with pytest.raises(ValueError, match="Received: only weights"):
        models.load_model(str(tmp_path / "weights.h5"))


def test_json_of_keras_2(tmp_path):
    with h5py.File(FILES / "rnn.h5") as file:
        text = file.attrs["model_config"]
    text = text.decode() if isinstance(text, bytes) else text
    model = models.model_from_json(text)
    assert [type(layer).__name__ for layer in model.layers] == ["Embedding", "LSTM", "GRU"]
    again = models.model_from_json(model.to_json())
    assert again.input_shape == model.input_shape == (None, 6)
    json.loads(model.to_json())


def test_bytecode_of_keras_2_is_refused():
    text = (FILES / "lambda.json").read_text()
    with pytest.raises(ValueError, match="the Lambda layer 'root', whose function is stored as bytecode"):
        models.model_from_json(text)


def test_code_in_lambda_layers_is_run_if_the_script_has_it(tmp_path):
    """As under `run`: the functions are this module's, also those that no layer was made with in this process."""
    factor = 3.0
    made = [layers.Lambda(lambda x: K.abs(x) * np.pi, name="root", input_shape=(3,))]
    made.append(layers.Lambda(lambda x: tripled(x) * factor, output_shape=lambda shape: shape))
    model = keras.Sequential(made)
    path = str(tmp_path / "model.h5")
    models.save_model(model, path)
    x = -np.ones((2, 3))
    np.testing.assert_allclose(models.load_model(path).predict(x), 9 * np.pi * np.ones((2, 3)), rtol=1e-6)
    again = models.model_from_json(model.to_json())
    np.testing.assert_allclose(again.predict(x), 9 * np.pi * np.ones((2, 3)), rtol=1e-6)


def test_foreign_code_in_lambda_layers_is_run_where_that_is_allowed(tmp_path):
    function = eval("lambda x: abs(x) * by", {"by": 2})
    path = str(tmp_path / "model.h5")
    models.save_model(keras.Sequential([layers.Lambda(function, name="root", input_shape=(3,))]), path)
    with pytest.raises(ValueError, match=r"the Lambda layer 'root', whose.*safe_mode=False"):
        models.load_model(path, custom_objects={"by": 2})
    loaded = models.load_model(path, custom_objects={"by": 2}, safe_mode=False)
    np.testing.assert_allclose(loaded.predict(-np.ones((2, 3))), 2 * np.ones((2, 3)))


def tripled(x):
    return 3 * x


def test_saved_under_any_name_and_read_back(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = keras.Sequential([layers.Dense(2, input_shape=(3,), activation="hard_sigmoid")])
    model.compile(optimizers.Adam(lr=0.01, decay=0.1), "mse", metrics=["mae"])
    x, y = np.random.rand(4, 3), np.random.rand(4, 2)
    model.fit(x, y, verbose=0)
    for name in ("m.h5", "m.hdf5", "m.model", "m", "m.keras"):
        models.save_model(model, name)
        loaded = models.load_model(name)
        np.testing.assert_allclose(loaded.predict(x), model.predict(x), atol=1e-6)
        assert int(loaded.optimizer.iterations) == 1
    for name in ("w.h5", "w.hdf5", "w.ckpt", "w", "w.weights.h5"):
        models.save_weights(model, name)
        other = keras.Sequential([layers.Dense(2, input_shape=(3,), activation="hard_sigmoid")])
        models.load_weights(other, name)
        np.testing.assert_allclose(other.predict(x), model.predict(x), atol=1e-6)


def test_weights_by_name(tmp_path):
    first = keras.Sequential([layers.Dense(2, input_shape=(3,), name="kept"), layers.Dense(1, name="old")])
    models.save_weights(first, str(tmp_path / "w.h5"))
    second = keras.Sequential([layers.Dense(2, input_shape=(3,), name="kept"), layers.Dense(4, name="new")])
    models.load_weights(second, str(tmp_path / "w.h5"), by_name=True)
    np.testing.assert_array_equal(first.layers[0].get_weights()[0], second.layers[0].get_weights()[0])


@pytest.mark.parametrize("name", ["w.h5", "m.h5"])
def test_kernels_of_another_shape(name, tmp_path):
    """A dense classifier over the whole picture becomes a convolution, which takes pictures of any size."""
    dense = [layers.Conv2D(3, 2, input_shape=(4, 4, 2), name="a"), layers.Flatten()]
    classifier = keras.Sequential([*dense, layers.Dense(5, name="b")])
    classifier.compile("sgd", "mse")
    path = str(tmp_path / name)
    (models.save_weights if name == "w.h5" else models.save_model)(classifier, path)
    everywhere = [layers.Conv2D(3, 2, input_shape=(None, None, 2), name="a"), layers.Conv2D(5, 3, name="b")]
    convolutional = keras.Sequential(everywhere)
    for by_name in (False, True):
        with pytest.raises(ValueError, match=r"(?i)shape"):
            models.load_weights(convolutional, path, by_name=by_name)
        convolutional.set_weights([np.zeros_like(weight) for weight in convolutional.get_weights()])
        models.load_weights(convolutional, path, by_name=by_name, reshape=True)
        x = np.random.rand(2, 4, 4, 2)
        np.testing.assert_allclose(convolutional.predict(x)[:, 0, 0], classifier.predict(x), atol=1e-6)
    wider = keras.Sequential([everywhere[0], layers.Conv2D(5, 2, name="b")])
    with pytest.raises(ValueError, match="shape"):
        models.load_weights(wider, path, by_name=True, reshape=True)
    models.save_model(convolutional, str(tmp_path / "m.keras"))
    with pytest.raises(ValueError, match="is no HDF5 file of Keras 2"):
        models.load_weights(convolutional, str(tmp_path / "m.keras"), reshape=True)


def test_a_failed_write_leaves_the_file_before(tmp_path, monkeypatch):
    from parallel_compat.backend.keras3 import h5_files

    model = keras.Sequential([layers.Dense(2, input_shape=(3,))])
    models.save_weights(model, str(tmp_path / "w.h5"))
    before = (tmp_path / "w.h5").read_bytes()

    def fail(model, file):
        file.attrs["layer_names"] = []
        raise OSError("disk full")

    monkeypatch.setattr(h5_files, "write_weights", fail)
    with pytest.raises(OSError, match="disk full"):
        models.save_weights(model, str(tmp_path / "w.h5"))
    assert (tmp_path / "w.h5").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["w.h5"]


def hits(y_true, y_pred):
    return K.sum(K.round(y_pred) * y_true) / K.sum(y_true)


def test_metric_functions_of_a_file_get_targets_as_keras_2_gave_them(tmp_path):
    model = keras.Sequential([keras.Input((3,)), layers.Dense(1, kernel_initializer="ones")])
    model.compile("sgd", "mse", metrics=[metric_function(hits)])
    path = str(tmp_path / "model.h5")
    models.save_model(model, path)
    loaded = models.load_model(path, custom_objects={"hits": hits})
    assert loaded.evaluate(np.ones((4, 3)), np.array([1, 0, 1, 1]), verbose=0) == pytest.approx([5.25, 3.0])
