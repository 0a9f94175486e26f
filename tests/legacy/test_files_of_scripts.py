"""What scripts do with files and configs apart from loading old ones."""

from __future__ import annotations

import textwrap
from pathlib import Path

import h5py
import keras
import numpy as np
import pytest

import parallel_compat.legacy.layers
import parallel_compat.legacy.metrics
from parallel_compat import ParallelModel
from parallel_compat.legacy import callbacks, layers, models, old_files
from tests import scripts

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


def K_one():
    raise AssertionError("a loaded function sees the names that it is given")


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
    from parallel_compat.legacy.callbacks import AltModelCheckpoint

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
    of_cudnn = model(parallel_compat.legacy.layers.CuDNNLSTM, parallel_compat.legacy.layers.CuDNNGRU)
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


@pytest.mark.parametrize("name", ["whole.h5", "whole.keras"])
def test_an_activation_that_is_a_function_of_tensorflow_is_found_again(tmp_path, name):
    config = {"module": "builtins", "class_name": "function", "config": "softmax_v2", "registered_name": "function"}
    assert old_files.functions_of_tensorflow()["softmax_v2"] is keras.activations.softmax
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, activation="softmax")])
    written = model.layers[0].get_config()
    model.layers[0].get_config = lambda: {**written, "activation": config}  # as Keras writes `tf.nn.softmax`
    path = str(tmp_path / name)
    keras.saving.save_model(model, path)
    loaded = models.load_model(path)
    x = np.ones((2, 4))
    np.testing.assert_array_equal(loaded.predict(x, verbose=0), model.predict(x, verbose=0))


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "SimpleRNN"])
def test_a_stateful_model_that_keras_3_saved_is_read(tmp_path, kind):
    recurrent = getattr(keras.layers, kind)
    model = keras.Sequential([keras.Input(batch_shape=(4, 2, 2)), recurrent(3, stateful=True), keras.layers.Dense(1)])
    path = str(tmp_path / "s.h5")
    keras.saving.save_model(model, path)
    loaded = models.load_model(path)
    assert loaded.layers[0].stateful
    x = np.ones((4, 2, 2))
    np.testing.assert_array_equal(loaded.predict(x, verbose=0), model.predict(x, verbose=0))
    assert not np.array_equal(loaded.predict(x, verbose=0), loaded.predict(x, verbose=0))  # it remembers
    text = models.model_from_json(model.to_json())
    assert text.layers[0].stateful


def test_skip_mismatch_skips_weights_one_by_one(tmp_path):
    """As Keras 2.2.4 and tf.keras 2.2 did: of a kernel of another shape the bias is loaded."""

    def net(units):
        model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(units, name="fc")])
        model.add(keras.layers.Dense(2, name="top"))
        return model

    before, after = net(4), net(5)
    before.set_weights([np.full(w.shape, 0.5) for w in before.get_weights()])
    after.set_weights([np.zeros(w.shape) for w in after.get_weights()])
    path = str(tmp_path / "a.h5")
    models.save_weights(before, path)
    with pytest.warns(UserWarning, match=r"'top'.*1 of its 2 weights are not changed"):
        models.load_weights(after, path, by_name=True, skip_mismatch=True)
    assert [float(w.max()) for w in after.get_weights()] == [0, 0, 0, 0.5]


def test_a_checkpoint_s_folder_is_made_as_tensorflow_made_it(tmp_path):
    x = keras.Input((2,))
    model = keras.Model(x, layers.Dense(1)(x))
    models.save_weights(model, tmp_path / "new" / "net")
    models.load_weights(model, tmp_path / "new" / "net")
    with pytest.raises(FileNotFoundError):
        models.save_weights(model, tmp_path / "other" / "net.h5")


def test_a_lambda_function_with_defaults_comes_back(tmp_path):
    """`Lambda(lambda x: x[..., i])` in a loop is migrated so; Keras 3.15 makes no function of a list of defaults."""
    x = keras.Input((2,))
    model = keras.Model(x, keras.layers.Subtract()([keras.layers.Lambda(lambda z, k=k: z[:, k])(x) for k in (1, 0)]))
    models.save_model(model, str(tmp_path / "m.h5"))
    loaded = models.load_model(str(tmp_path / "m.h5"), safe_mode=False)
    np.testing.assert_array_equal(loaded.predict(np.array([[1.0, 3.0]]), verbose=0), [2.0])


def test_keras_s_own_loader_gives_a_model_that_trains_on(tmp_path):
    """Whatever of this package a migrated script imports: here a module that needs no file of Keras."""
    script = """
        import keras, numpy as np
        from parallel_compat.legacy import ragged
        model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
        model.compile("adam", "mse")
        model.fit(np.ones((4, 2)), np.ones((4, 1)), verbose=0)
        model.save("m.h5")
        again = keras.models.load_model("m.h5")
        again.fit(np.ones((4, 2)), np.ones((4, 1)), verbose=0)
        print(int(again.optimizer.iterations))
    """
    assert scripts.python("-c", textwrap.dedent(script), folder=tmp_path).stdout == "2\n"


class Scaled(keras.layers.Layer):
    """Its config holds what it was made of as objects, as many layers of tf.keras had it."""

    def __init__(self, start="ones", penalty="l2", **keywords):
        super().__init__(**keywords)
        self.start, self.penalty = keras.initializers.get(start), keras.regularizers.get(penalty)

    def build(self, shape):
        self.scale = self.add_weight(shape=(shape[-1],), initializer=self.start, regularizer=self.penalty)

    def call(self, x):
        return x * self.scale

    def get_config(self):
        return {**super().get_config(), "start": self.start, "penalty": self.penalty}


@pytest.mark.parametrize("load_model", [models.load_model, keras.models.load_model])
def test_a_config_that_holds_an_initializer(tmp_path, load_model):
    x = keras.Input((2,))
    model = keras.Model(x, Scaled()(x))
    models.save_model(model, str(tmp_path / "m.h5"))
    loaded = load_model(str(tmp_path / "m.h5"), custom_objects={"Scaled": Scaled}, compile=False)
    assert type(loaded.layers[1].start) is keras.initializers.Ones
    assert type(loaded.layers[1].penalty) is keras.regularizers.L2
    np.testing.assert_array_equal(loaded.predict(np.ones((1, 2)), verbose=0), [[1.0, 1.0]])
