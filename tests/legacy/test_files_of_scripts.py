"""What scripts do with files and configs apart from loading old ones."""

from __future__ import annotations

import base64
import marshal
from pathlib import Path

import h5py
import keras
import numpy as np
import pytest

from parallel_compat import ParallelModel
from parallel_compat.legacy import callbacks, layers, models

OLD = Path(__file__).parents[1] / "data" / "old"


def test_a_model_with_masks_comes_back_from_hdf5(tmp_path):
    """Its operations on masks stand among its layers; `keras.saving` reads it as well while the core is in use."""
    assert ParallelModel
    x = keras.Input((5,), dtype="int32")
    hidden = layers.LSTM(4, return_sequences=True)(layers.Embedding(7, 3, mask_zero=True)(x))
    model = keras.Model(x, layers.LSTM(2)(hidden))
    model.compile("adam", "mse")
    data = np.array([[1, 2, 0, 0, 0], [3, 4, 5, 6, 0]])
    model.fit(data, np.ones((2, 2)), verbose=0)
    path = str(tmp_path / "m.h5")
    models.save_model(model, path)
    for load in (keras.models.load_model, keras.saving.load_model):
        loaded = load(path)
        np.testing.assert_allclose(loaded.predict(data, verbose=0), model.predict(data, verbose=0), atol=1e-6)
        assert int(loaded.optimizer.iterations) == 1


def test_configs_hold_no_loss_of_the_script_s_own():
    def own(y_true, y_pred):
        return keras.ops.mean((y_true - y_pred) ** 2, axis=-1)

    inner = keras.Sequential([layers.Dense(3, input_shape=(4,))])
    inner.compile("sgd", own)
    x = keras.Input((4,))
    model = keras.Model(x, layers.Dense(1)(inner(x)))
    model.compile("sgd", own, metrics=[lambda y_true, y_pred: y_pred])
    clone = keras.models.clone_model(model)
    assert (clone.compiled, model.compiled, inner.compiled) == (False, True, True)
    assert models.model_from_json(model.to_json()).output_shape == (None, 1)
    assert keras.Model.from_config(model.get_config()).output_shape == (None, 1)


def test_a_config_of_keras_2_as_python_objects():
    from keras.models import model_from_config

    dense = {"name": "d", "units": 3, "batch_input_shape": (None, 4), "activation": "relu"}
    model = model_from_config({"class_name": "Sequential", "config": [{"class_name": "Dense", "config": dense}]})
    assert model.output_shape == (None, 3)


def test_functions_as_bytecode():
    from keras.utils.generic_utils import func_dump, func_load

    by = 3
    assert func_load(*func_dump(lambda x, y=1: x * by + y))(2) == 7
    assert func_load(list(func_dump(lambda x: np.abs(x) + K_one())), globs={"np": np, "K_one": lambda: 1})(-2) == 3
    foreign = base64.encodebytes(marshal.dumps((lambda: 1).__code__)).decode()
    with pytest.raises(ValueError, match="--allow-lambdas"):
        func_load(foreign)


def K_one():
    raise AssertionError("a loaded function sees the names that it is given")


def test_a_model_in_a_group_of_a_file(tmp_path):
    import h5py
    from keras.models import load_model, save_model

    model = keras.Sequential([layers.Dense(2, input_shape=(3,))])
    model.compile("sgd", "mse")
    with h5py.File(str(tmp_path / "many.h5")) as file:
        group = file.create_group("one")
        save_model(model, group)
        assert (sorted(file), "model_weights" in group) == (["one"], True)
        again = load_model(group)
    np.testing.assert_array_equal(again.get_weights()[0], model.get_weights()[0])
    assert again.loss == "mse"


def test_rows_of_a_dataset_in_a_file(tmp_path):
    import h5py
    from keras.utils.io_utils import HDF5Matrix

    path = str(tmp_path / "rows.h5")
    with h5py.File(path) as file:
        file["x"] = np.arange(10)
    rows = HDF5Matrix(path, "x", start=2, end=6)
    assert (rows[:].tolist(), rows[1:4].tolist(), rows[[3, 0]].tolist()) == ([2, 3, 4, 5], [3, 4, 5], [5, 2])
    for key in (4, slice(1, 5), [0, 4], np.array([4])):
        with pytest.raises(IndexError):
            rows[key]
    assert HDF5Matrix(path, "x", end=6)[-1] == 9  # as in each era: of the file, not of the matrix


def test_h5_dict(tmp_path):
    from keras.engine.saving import h5dict
    from keras.utils.io_utils import H5Dict

    path = str(tmp_path / "x.h5")
    store = H5Dict(path, mode="w")
    store["group"]["array"] = np.arange(3)
    store["names"] = ["x" * 1000] * 200  # longer than one attribute may be
    store["text"], store["bytes"] = "t", [b"a", b"b"]
    store.close()
    store = H5Dict(path, mode="r")
    np.testing.assert_array_equal(store["group"]["array"], [0, 1, 2])
    assert (store["names"], store["text"], store["bytes"]) == (["x" * 1000] * 200, "t", [b"a", b"b"])
    assert "group" in store
    assert "nothing" not in store
    with pytest.raises(ValueError, match="mode 'r'"):
        store["x"] = 1
    store.close()
    plain = {}
    h5dict(plain)["key"]["value"] = np.ones(2)
    np.testing.assert_array_equal(H5Dict(plain)["key"]["value"], [1, 1])


def test_a_checkpoint_calls_the_methods_of_the_model(tmp_path):
    """Wrappers of models override them."""
    calls = []

    class Wrapper(keras.Model):
        def save(self, filepath, overwrite=True):
            calls.append(("save", Path(filepath).name, overwrite))

        def save_weights(self, filepath, overwrite=True):
            calls.append(("save_weights", Path(filepath).name, overwrite))

    x = keras.Input((2,))
    for kind in (Wrapper, keras.Model):
        model = kind(x, layers.Dense(1)(x))
        model.compile("sgd", "mse")
        checkpoints = [
            callbacks.ModelCheckpoint(str(tmp_path / "whole")),
            callbacks.ModelCheckpoint(str(tmp_path / "weights"), save_weights_only=True),
        ]
        model.fit(np.ones((2, 2)), np.ones(2), verbose=0, callbacks=checkpoints)
    assert calls == [("save", "whole", True), ("save_weights", "weights", True)]
    assert all(h5py.is_hdf5(tmp_path / name) for name in ("whole", "weights"))


def test_a_checkpoint_of_another_model_writes_it_with_the_trained_optimizer(tmp_path):
    from alt_model_checkpoint.keras import AltModelCheckpoint

    written = []

    class Template(keras.Model):
        def save(self, filepath, overwrite=True):
            written.append(self.optimizer)

    x = keras.Input((2,))
    template = Template(x, layers.Dense(1)(x))
    template.compile("sgd", "mse")
    trained = keras.Model(x, template(x))
    trained.compile("adam", "mse")
    own = template.optimizer
    callback = AltModelCheckpoint(str(tmp_path / "m.h5"), template)
    trained.fit(np.ones((2, 2)), np.ones((2, 1)), verbose=0, callbacks=[callback])
    assert written == [trained.optimizer]
    assert template.optimizer is own


def test_weights_of_cudnn_s_layers_in_plain_ones_and_back(tmp_path):
    """As `preprocess_weights_for_loading` of Keras 2 converted them, in order and by name."""
    recorded = np.load(OLD / "keras224_cudnn.npz")

    def model(lstm, gru, **gates):
        x = keras.Input((5, 3), name="x")
        hidden = keras.layers.Bidirectional(lstm(4, return_sequences=True, **gates), name="both")(x)
        hidden = gru(3, return_sequences=True, **gates, **({"reset_after": True} if gates else {}), name="gru")(hidden)
        hidden = lstm(3, **gates, name="lstm")(hidden)
        return keras.Model(x, layers.Dense(2, name="out")(hidden))

    path = str(OLD / "keras224_cudnn.template_weights.h5")
    plain = model(keras.layers.LSTM, keras.layers.GRU, recurrent_activation="sigmoid")
    of_cudnn = model(keras.layers.CuDNNLSTM, keras.layers.CuDNNGRU)
    for by_name in (False, True):
        for each in (plain, of_cudnn):
            each.set_weights([np.full(value.shape, 0.5) for value in each.get_weights()])
            models.load_weights(each, path, by_name=by_name)
            np.testing.assert_allclose(each.predict(recorded["x_0"], verbose=0), recorded["predict_0"], atol=1e-6)
    models.save_weights(plain, str(tmp_path / "plain.h5"))
    of_cudnn.set_weights([np.full(value.shape, 0.5) for value in of_cudnn.get_weights()])
    models.load_weights(of_cudnn, str(tmp_path / "plain.h5"))
    np.testing.assert_allclose(of_cudnn.predict(recorded["x_0"], verbose=0), recorded["predict_0"], atol=1e-6)

    def other_gru(units, **keywords):
        return layers.GRU(units, **{**keywords, "reset_after": False})

    without = model(keras.layers.LSTM, other_gru, recurrent_activation="sigmoid")
    with pytest.raises(ValueError, match=r"'gru'.*reset_after=True"):
        models.load_weights(without, path)


def test_a_model_from_the_class_and_config_of_another():
    """How reinforcement learning made its target models."""
    from keras.models import model_from_config

    inputs = keras.Input((3,))
    functional = keras.Model(inputs, layers.Dense(2)(layers.Lambda(doubled)(layers.Lambda(lambda x: x + 1)(inputs))))
    for model in functional, keras.Sequential([layers.Dense(2, input_shape=(3,))]):
        config = {"class_name": model.__class__.__name__, "config": model.get_config()}
        clone = model_from_config(config, custom_objects={})
        clone.set_weights(model.get_weights())
        x = np.ones((2, 3))
        np.testing.assert_array_equal(clone.predict(x, verbose=0), model.predict(x, verbose=0))


def doubled(x):
    return 2 * x


LAMBDAS = """
import keras
from keras.layers import Dense, Input, Lambda

def model_of(parts, factor):
    def doubled(x):
        return x * factor

    x = Input((4,))
    columns = [Lambda(lambda x, part=part: x[:, part : part + 2] * factor)(x) for part in parts]
    return keras.models.Model(x, keras.layers.add([*columns, Lambda(doubled)(columns[0])]))
"""


@pytest.mark.parametrize("of_file", ["m.h5", "m.keras"])
def test_a_script_reads_the_lambda_layers_that_it_saved(tmp_path, of_file):
    """Keras 2.2.4 ran their bytecode: with the defaults, and the values closed over, of the time of saving."""
    user = {"__name__": "user"}
    exec(LAMBDAS, user)
    path = str(tmp_path / of_file)
    x = np.arange(8.0).reshape(2, 4)
    model = user["model_of"]([0, 2], 10.0)
    expected = model.predict(x, verbose=0)
    np.testing.assert_allclose(expected, 10 * x[:, :2] + 10 * x[:, 2:] + 100 * x[:, :2])
    models.save_model(model, path)
    del model
    keras.backend.clear_session()
    user["model_of"]([1], 7.0).save(str(tmp_path / "other.h5"))
    np.testing.assert_allclose(models.load_model(path).predict(x, verbose=0), expected)
    if of_file == "m.h5":
        with h5py.File(path, "r+") as file:
            config = file.attrs["model_config"]
            file.attrs["model_config"] = config.replace('"code": "4', '"code": "5', 1)
            assert file.attrs["model_config"] != config
        with pytest.raises(ValueError, match="--allow-lambdas"):
            models.load_model(path)
