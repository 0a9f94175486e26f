"""Configurations of layers and models in the spelling of their time, and what is made of them.

`tests/data/legacy/configs.json` has `get_config()` of a layer of every class, as Keras 2.2.4, TensorFlow 1.15.5 and
2.2.3 printed it.
"""

from __future__ import annotations

import json
from pathlib import Path

import h5py
import keras
import numpy as np
import pytest

import parallel_compat
from parallel_compat.legacy import old_files

RECORDED = json.loads((Path(__file__).parents[1] / "data" / "legacy" / "configs.json").read_text())
OLD = ["keras-2.2.4", "tf.keras-1.15", "tf.keras-2.2"]
GIVEN = {
    "Activation": ["relu"],
    "ActivityRegularization": [0.1],
    "AlphaDropout": [0.1],
    "Bidirectional": ["LSTM"],
    "Dense": [2],
    "DepthwiseConv2D": [3],
    "Dot": [1],
    "Dropout": [0.5],
    "Embedding": [5, 2],
    "GaussianDropout": [0.1],
    "GaussianNoise": [0.1],
    "InputLayer": [(3,)],
    "Permute": [(2, 1)],
    "RNN": ["LSTMCell"],
    "RepeatVector": [3],
    "Reshape": [(2, 3)],
    "StackedRNNCells": ["LSTMCell"],
    "TimeDistributed": ["Dense"],
}
INNER = {"RNN": "c", "StackedRNNCells": "c"}


@pytest.fixture(params=OLD)
def era(request):
    with parallel_compat.legacy_names(era=request.param):
        yield request.param


def layer_of(layers, kind):
    given = GIVEN.get(kind)
    if given is None:
        if kind.startswith("SpatialDropout"):
            given = [0.5]
        elif kind.startswith(("Conv", "SeparableConv", "LocallyConnected")):
            given = [2, 3]
        else:
            given = [2] if kind.endswith(("RNN", "LSTM", "GRU", "Cell")) else []
    if given and isinstance(given[0], str) and hasattr(layers, given[0]):
        inside = getattr(layers, given[0])(2, name=INNER.get(kind, "d"))
        given = [[inside]] if kind == "StackedRNNCells" else [inside]
    return getattr(layers, kind)(*given, name="n")


def plain(config):
    return json.loads(json.dumps(config))


def test_layers(era):
    from keras import layers
    from tensorflow.keras import layers as of_tensorflow

    of_era = layers if era == "keras-2.2.4" else of_tensorflow
    kinds = [kind for kind in RECORDED[era] if " " not in kind and "." not in kind]
    assert len(kinds) > 70
    for kind in kinds:
        layer = layer_of(of_era, kind)
        config = layer.get_config()
        assert list(config.items()) == list(layer.get_config().items())
        assert plain(config) == RECORDED[era][kind], kind
        assert list(config) == list(RECORDED[era][kind]), kind
        assert plain(type(layer).from_config(config).get_config()) == plain(config), kind
        assert plain(of_era.deserialize(of_era.serialize(layer)).get_config()) == plain(config), kind


def test_initializers_and_regularizers(era):
    keras = keras_of(era)
    for name, recorded in RECORDED[era].items():
        of_class, _, function = name.replace(" ", ".").partition(".")
        if function:
            module = getattr(keras, of_class.rstrip("s") + "s")
            made = module.get(function) if " " in name or of_class == "constraints" else getattr(module, function)()
            assert module.serialize(made) == {"class_name": recorded[0], "config": recorded[1]}, name
            if function.lower() != "identity":
                assert made.get_config() == recorded[1], name


def convolutional(keras):
    layers = keras.layers
    x = layers.Input((8, 8, 1), name="in")
    y = layers.GlobalAveragePooling2D(name="g")(layers.Conv2D(2, 3, name="c", activation="hard_sigmoid")(x))
    return keras.models.Model(x, layers.Dense(2, name="d", kernel_regularizer="l2")(y), name="m")


def keras_of(era):
    import keras
    import tensorflow as tf

    return keras if era == "keras-2.2.4" else tf.keras


def test_the_input_of_a_model_is_changed_in_its_configuration(era):
    """The trick of the time by which a network took images of another size."""
    keras = keras_of(era)
    model = convolutional(keras)
    model.layers[0].batch_input_shape = model.layers[0]._batch_input_shape = (None, 12, 12, 1)
    wider = keras.models.model_from_json(model.to_json())
    assert wider.input_shape == (None, 12, 12, 1)
    config = convolutional(keras).get_config()
    config["layers"][0]["config"]["batch_input_shape"] = (None, 10, 10, 1)
    config["layers"][1]["config"]["filters"] = 5
    other = keras.models.Model.from_config(config)
    assert (other.input_shape, other.get_weights()[0].shape) == ((None, 10, 10, 1), (3, 3, 1, 5))
    wider.set_weights(model.get_weights())
    x = np.linspace(-1, 1, 144, dtype="float32").reshape(1, 12, 12, 1)
    kernel, bias, dense, _ = model.get_weights()
    patches = np.lib.stride_tricks.sliding_window_view(x[0, :, :, 0], (3, 3))
    hidden = np.clip(np.einsum("hwij,ijk->hwk", patches, kernel[:, :, 0]) * 0.2 + 0.5 + bias, 0, 1).mean((0, 1))
    np.testing.assert_allclose(wider.predict(x, verbose=0), hidden[None] @ dense, rtol=1e-5)
    model.compile("sgd", "mse")
    wider.compile("sgd", "mse")
    loss = [each.evaluate(np.zeros((1, *each.input_shape[1:])), np.ones((1, 2)), verbose=0) for each in (model, wider)]
    assert loss[0] == pytest.approx(loss[1], rel=1e-6)  # the regularizer included


def test_models(era):
    keras = keras_of(era)
    layers = keras.layers
    entry = json.loads(convolutional(keras).to_json())
    versions = {"keras-2.2.4": "2.2.4", "tf.keras-1.15": "2.2.4-tf", "tf.keras-2.2": "2.3.0-tf"}
    assert {name: entry[name] for name in entry if name != "config"} == {
        "class_name": "Model",
        "keras_version": versions[era],
        "backend": "tensorflow",
    }
    assert [each["inbound_nodes"] for each in entry["config"]["layers"]] == [
        [],
        [[["in", 0, 0, {}]]],
        [[["c", 0, 0, {}]]],
        [[["g", 0, 0, {}]]],
    ]
    assert (entry["config"]["input_layers"], entry["config"]["output_layers"]) == ([["in", 0, 0]], [["d", 0, 0]])

    sequential = keras.models.Sequential(
        [layers.Embedding(5, 2, input_length=3, mask_zero=True, name="e"), layers.GRU(3, name="r")], name="s"
    )
    config = sequential.get_config()
    shapes = [each["config"].get("batch_input_shape") for each in config["layers"]]
    assert shapes == [(None, 3), None]
    assert [each["class_name"] for each in config["layers"]] == ["Embedding", "GRU"]
    later = keras.models.Sequential([layers.Dense(2, name="a"), layers.Dense(1, name="b")], name="l")
    assert "build_input_shape" not in later.get_config()
    later.build((None, 4))
    assert later.get_config()["build_input_shape"] == (None, 4)

    a, b = layers.Input((3,), name="a"), layers.Input((3,), name="b")
    shared = layers.Dense(2, name="d")
    both = layers.concatenate([shared(a), shared(b)], name="both")
    inner = keras.models.Model([a, b], layers.Dropout(0.5, name="o")(both, training=True), name="inner")
    outer = keras.models.Model([a, b], layers.Dense(1, name="last")(inner([a, b])), name="outer")
    found = {each["name"]: each for each in outer.get_config()["layers"]}
    first = 1 if era != "today" else 0  # the definition of a model was the first of its calls
    assert found["last"]["inbound_nodes"] == [[["inner", first, 0, {}]]]
    of_inner = {each["name"]: each["inbound_nodes"] for each in found["inner"]["config"]["layers"]}
    assert of_inner["d"] == [[["a", 0, 0, {}]], [["b", 0, 0, {}]]]
    assert of_inner["both"] == [[["d", 0, 0, {}], ["d", 1, 0, {}]]]
    assert of_inner["o"] == [[["both", 0, 0, {"training": True}]]]

    # The outputs are those of models: as the three stacks printed them.
    z, z2 = layers.Input((3,), name="z"), layers.Input((3,), name="z2")
    x = layers.Input((3,))
    functional = keras.models.Model(x, layers.Dense(3, name="e")(x), name="f")
    stack = keras.models.Sequential([layers.Dense(3, input_shape=(3,))], name="q")
    chain = keras.models.Model([z, z2], [functional(z), functional(z2), functional(stack(z2)), stack(z)], name="chain")
    assert chain.get_config()["output_layers"] == [["f", 1, 0], ["f", 2, 0], ["f", 3, 0], ["q", 2, 0]]

    for model in (convolutional(keras), sequential, later, outer, chain):
        for again in (
            type(model).from_config(model.get_config()),
            keras.models.model_from_json(model.to_json()),
            keras.models.model_from_config({"class_name": type(model).__name__, "config": model.get_config()}),
        ):
            assert str(again.get_config()) == str(model.get_config())
            assert [each.shape for each in again.get_weights()] == [each.shape for each in model.get_weights()]


def test_states_and_masks_of_recurrent_layers_come_back(era):
    keras = keras_of(era)
    layers = keras.layers
    words, others = layers.Input((5,), name="i"), layers.Input((4, 3), name="j")
    hidden = layers.Embedding(7, 3, mask_zero=True, name="e")(words)
    _, h, c = layers.LSTM(2, return_state=True, name="enc")(hidden)
    model = keras.models.Model([words, others], layers.LSTM(2, name="dec")(others, initial_state=[h, c]), name="m")
    found = {each["name"]: each["inbound_nodes"] for each in model.get_config()["layers"]}
    assert found == {
        "i": [],
        "j": [],
        "e": [[["i", 0, 0, {}]]],
        "enc": [[["e", 0, 0, {}]]],
        "dec": [[["j", 0, 0, {}], ["enc", 0, 1, {}], ["enc", 0, 2, {}]]],
    }
    again = keras.models.Model.from_config(model.get_config())
    again.set_weights(model.get_weights())
    data = [np.array([[1, 2, 0, 0, 0], [3, 4, 5, 6, 0]]), np.linspace(-1, 1, 24).reshape(2, 4, 3)]
    np.testing.assert_allclose(again.predict(data, verbose=0), model.predict(data, verbose=0), rtol=1e-6)
    plain = keras.models.Model([words, others], layers.LSTM(2)(others), name="p")
    plain.set_weights(model.get_weights()[-3:])
    assert np.abs(plain.predict(data, verbose=0) - model.predict(data, verbose=0)).max() > 1e-3


def test_layers_of_the_user_without_a_configuration(era, tmp_path):
    """Their name is part of it, whatever their `__init__` calls its further arguments."""
    keras = keras_of(era)

    class Twice(keras.layers.Layer):
        def __init__(self, **kw):
            super().__init__(**kw)

        def call(self, x):
            return x * 2

    known = {"Twice": Twice}
    assert Twice(name="mine").get_config()["name"] == "mine"
    model = keras.models.Sequential([keras.layers.Dense(2, input_shape=(3,)), Twice()])
    model.save(tmp_path / "model.h5")
    for again in (
        keras.models.model_from_json(model.to_json(), known),
        keras.models.Sequential.from_config(model.get_config(), known),
        keras.models.load_model(tmp_path / "model.h5", known),
        keras.models.clone_model(model),
    ):
        assert [layer.name for layer in again.layers] == [layer.name for layer in model.layers]


def test_layers_of_the_user_whose_configuration_has_no_name(tmp_path):
    """As in TensorFlow 2.2's guide of the functional API."""
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        from tensorflow import keras

        class CustomDense(keras.layers.Layer):
            def __init__(self, units=32):
                super().__init__()
                self.units = units

            def build(self, input_shape):
                self.w = self.add_weight(shape=(input_shape[-1], self.units), initializer="ones", trainable=True)

            def call(self, inputs):
                return inputs @ self.w

            def get_config(self):
                return {"units": self.units}

        known = {"CustomDense": CustomDense}
        inputs = keras.Input((4,))
        model = keras.Model(inputs, CustomDense(10)(inputs))
        model.set_weights([np.arange(40.0).reshape(4, 10)])
        model.save(tmp_path / "model.h5")
        for again in (
            keras.Model.from_config(model.get_config(), custom_objects=known),
            keras.models.model_from_json(model.to_json(), known),
            keras.models.load_model(tmp_path / "model.h5", known),
            keras.models.clone_model(model),
        ):
            again.set_weights(model.get_weights())
            x = np.ones((2, 4), "float32")
            np.testing.assert_array_equal(again.predict(x, verbose=0), model.predict(x, verbose=0))
        loaded = keras.models.load_model(tmp_path / "model.h5", known)
        np.testing.assert_array_equal(loaded.get_weights()[0], model.get_weights()[0])


def test_layers_of_the_user(era):
    keras = keras_of(era)
    layers = keras.layers

    class Scale(layers.Layer):
        def __init__(self, factor=2.0, **keywords):
            super().__init__(**keywords)
            self.factor = factor

        def call(self, x):
            return x * self.factor

        def get_config(self):
            return {**super().get_config(), "factor": self.factor}

    class Wide(layers.Dense):
        def __init__(self, units, extra=1, **keywords):
            super().__init__(units, **keywords)
            self.extra = extra

        def get_config(self):
            return {**super().get_config(), "extra": self.extra}

    dtype = {"keras-2.2.4": {}, "tf.keras-1.15": {"dtype": None}, "tf.keras-2.2": {"dtype": "float32"}}[era]
    assert Scale(3.0, name="x").get_config() == {"name": "x", "trainable": True, **dtype, "factor": 3.0}
    of_first = Scale(3.0, name="x", input_shape=(4,)).get_config()
    assert of_first["batch_input_shape"] == (None, 4)
    wide = Wide(3, extra=4, name="w", kernel_regularizer="l1")
    expected = layers.Dense(3, name="w", kernel_regularizer="l1").get_config()
    assert list(wide.get_config().items()) == [*expected.items(), ("extra", 4)]
    assert Wide.from_config(wide.get_config()).extra == 4

    model = keras.models.Sequential([Scale(3.0, input_shape=(4,)), Wide(2, kernel_initializer="he_normal")])
    known = {"Scale": Scale, "Wide": Wide}
    again = keras.models.Sequential.from_config(model.get_config(), custom_objects=known)
    again.set_weights(model.get_weights())
    x = np.ones((2, 4), "float32")
    np.testing.assert_array_equal(again.predict(x, verbose=0), model.predict(x, verbose=0))
    with keras.utils.CustomObjectScope(known):
        assert keras.models.model_from_json(model.to_json()).layers[0].factor == 3.0
    with pytest.raises(ValueError, match="Scale"):
        keras.models.model_from_json(model.to_json())


@pytest.mark.one_in(2)
@pytest.mark.parametrize("held", [2, [3, 2], [{"class_name": "Dense", "config": {"units": 2}}]])
def test_layers_as_an_argument_of_a_layer_of_the_user(era, held, tmp_path):
    keras = keras_of(era)

    class Block(keras.layers.Layer):
        def __init__(self, layers=1, **keywords):
            super().__init__(**keywords)
            self.layers_given = layers

        def call(self, x):
            return x * 2.0

        def compute_output_shape(self, input_shape):
            return input_shape

        def get_config(self):
            return {**super().get_config(), "layers": self.layers_given}

    x = keras.layers.Input((4,))
    inner = keras.models.Model(x, Block(held, name="block")(keras.layers.Dense(3)(x)))
    y = keras.layers.Input((4,))
    model = keras.models.Model(y, keras.layers.TimeDistributed(Block(held))(keras.layers.RepeatVector(2)(inner(y))))
    known = {"Block": Block}
    model.save(str(tmp_path / "model.h5"))
    again = [
        keras.models.Model.from_config(model.get_config(), custom_objects=known),
        keras.models.model_from_json(model.to_json(), known),
        keras.models.load_model(str(tmp_path / "model.h5"), known),
    ]
    for each in again:
        assert each.layers[1].get_layer("block").layers_given == held
        assert each.layers[-1].layer.layers_given == held


def test_layers_as_an_argument_of_a_cell_of_the_user(era):
    keras = keras_of(era)

    class Cell(keras.layers.Layer):
        def __init__(self, layers=1, **keywords):
            super().__init__(**keywords)
            self.layers_given, self.state_size, self.output_size = layers, 3, 3

        def call(self, x, states):
            return x + states[0], [x + states[0]]

        def get_config(self):
            return {**super().get_config(), "layers": self.layers_given}

    rnn = [keras.layers.RNN(Cell([3, 2]), return_sequences=True), keras.layers.RNN([Cell([4]), Cell(5)])]
    model = keras.models.Sequential([keras.layers.Dense(3, input_shape=(2, 4)), *rnn])
    again = keras.models.model_from_json(model.to_json(), {"Cell": Cell})
    assert again.layers[1].cell.layers_given == [3, 2]
    assert [each.layers_given for each in again.layers[2].cell.cells] == [[4], 5]


def test_a_class_of_keras_among_custom_objects_is_none_of_the_user(era):
    keras = keras_of(era)
    model = keras.models.Sequential([keras.layers.LSTM(3, input_shape=(2, 4), implementation=1)])
    text = model.to_json()
    assert "implementation" in text
    again = keras.models.model_from_json(text, {"LSTM": keras.layers.LSTM})
    assert again.to_json() == text
    mine = type("Dense", (keras.layers.Dense,), {"__module__": __name__})
    assert old_files.target({"LSTM": keras.layers.LSTM, "Dense": mine}).own == {"Dense"}


def test_a_class_of_the_user_with_the_name_of_one_of_keras(era, tmp_path):
    keras = keras_of(era)

    class LayerNormalization(keras.layers.Layer):
        def __init__(self, eps=1e-9, **keywords):
            super().__init__(**keywords)
            self.eps = eps

        def build(self, input_shape):
            self.gamma = self.add_weight(name="gamma", shape=(3,), initializer="ones")
            super().build(input_shape)

        def call(self, x):
            return x * self.gamma + self.eps

        def compute_output_shape(self, input_shape):
            return input_shape

        def get_config(self):
            return {**super().get_config(), "eps": self.eps}

    model = keras.models.Sequential([keras.layers.Dense(3, input_shape=(4,)), LayerNormalization(0.5)])
    model.save(str(tmp_path / "model.h5"))
    x = np.ones((2, 4), "float32")
    with keras.utils.CustomObjectScope({"LayerNormalization": LayerNormalization}):
        again = keras.models.Sequential.from_config(model.get_config())
        assert again.layers[1].eps == 0.5
        loaded = keras.models.load_model(str(tmp_path / "model.h5"))
    np.testing.assert_array_equal(loaded.predict(x, verbose=0), model.predict(x, verbose=0))


def test_what_the_era_had_no_words_for_stays_as_it_is(era):
    keras = keras_of(era)
    layers = keras.layers
    x = layers.Input((4,), name="x")
    model = keras.models.Model(x, layers.Dense(2)(layers.Lambda(lambda t: t * 2)(x)))
    again = keras.models.Model.from_config(model.get_config())
    again.set_weights(model.get_weights())
    data = np.ones((2, 4), "float32")
    np.testing.assert_array_equal(again.predict(data, verbose=0), model.predict(data, verbose=0))


def test_files_are_written_as_keras_3_reads_them(era, tmp_path):
    keras = keras_of(era)
    model = convolutional(keras)
    model.save(str(tmp_path / "m.h5"))
    with h5py.File(tmp_path / "m.h5", "r") as file:
        written = json.loads(file.attrs["model_config"])
    assert written["config"]["layers"][0]["config"]["batch_shape"] == [None, 8, 8, 1]
    assert written["config"]["layers"][1]["config"]["activation"] != "hard_sigmoid"  # Keras 3's is another one


def test_causal_attention_and_time_major_come_back():
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        from tensorflow import keras

        for layer in (keras.layers.Attention(causal=True), keras.layers.LSTM(2, time_major=True)):
            config = layer.get_config()
            name = "causal" if "causal" in config else "time_major"
            assert config[name] is True
            assert getattr(type(layer).from_config(config), name) is True
            assert keras.layers.LSTM(2).get_config()["time_major"] is False


def test_an_unknown_initializer_is_refused(era):
    keras = keras_of(era)
    config = keras.layers.Dense(2).get_config()
    config["kernel_initializer"] = {"class_name": "Mine", "config": {}}
    with pytest.raises(ValueError, match="Mine"):
        keras.layers.Dense.from_config(config)


def test_normalization_over_several_axes_comes_back(tmp_path: Path) -> None:
    """TensorFlow 2.2.3 says the axes `[1, 2]`; Keras 3 reads them as the last one."""
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        inputs = keras.layers.Input((2, 3))
        model = keras.models.Model(inputs, keras.layers.LayerNormalization(axis=(-2, -1))(inputs))
        assert list(model.layers[1].get_config()["axis"]) == [1, 2]
        model.set_weights([np.arange(1.0, 7).reshape(2, 3), np.ones((2, 3))])
        model.save(str(tmp_path / "model.h5"))
        read = keras.models.load_model(str(tmp_path / "model.h5"))
        copies = [
            keras.models.Model.from_config(model.get_config()),
            keras.models.model_from_json(model.to_json()),
            keras.models.clone_model(model),
        ]
        for copy in copies:
            copy.set_weights(model.get_weights())
        x = np.random.RandomState(0).rand(1, 2, 3)
        for each in [read, *copies]:
            np.testing.assert_allclose(each.predict(x), model.predict(x), rtol=1e-6)


@pytest.mark.parametrize("era", ["keras-2.2.4", "tf.keras-1.15", "tf.keras-2.2"])
def test_wrappers_of_ones_own_come_back(era: str) -> None:
    """As in tf.keras 2.2's own `test_wrapper_from_config_no_mutation`."""
    with parallel_compat.legacy_names(era=era):

        class Twice(keras.layers.Wrapper):
            def call(self, inputs):
                return self.layer(inputs) * 2

        wrapper = Twice(keras.layers.Dense(3, activation="relu", kernel_initializer="he_normal"))
        config = wrapper.get_config()
        again = Twice.from_config(config)
        assert (type(again.layer), again.layer.units) == (keras.layers.Dense, 3)
        assert again.get_config() == config


@pytest.mark.parametrize(
    ("era", "expected"),
    [
        ("keras-2.2.4", ["dense_3", "dense_4", "dense_5"]),
        ("tf.keras-1.15", ["dense_2", "dense_3", "dense_4"]),
        ("tf.keras-2.2", ["dense_2", "dense_3", "dense_4"]),
    ],
)
def test_layers_whose_configurations_have_no_name_get_one(era, expected):
    """As the real stacks named them."""
    with parallel_compat.legacy_names(era=era):
        keras.backend.clear_session()
        dense = keras.layers.Dense
        config = keras.Sequential([dense(3, input_shape=(4,)), dense(2)], name="first").get_config()
        for layer in config["layers"]:
            layer["config"]["name"] = None
        model = keras.Sequential.from_config(config)
        alone = dense.from_config({"units": 2, "name": None})
    assert [*(layer.name for layer in model.layers), alone.name] == expected
    assert (model.name, model.input_shape, model.output_shape) == ("first", (None, 4), (None, 2))


def test_an_initializer_that_a_class_left_in_its_config_comes_back_as_a_dict(era, tmp_path):
    class Scaled(keras.layers.Layer):
        def __init__(self, initializer="ones", **keywords):
            super().__init__(**keywords)
            self.initializer = keras.initializers.get(initializer)

        def build(self, input_shape):
            self.scale = self.add_weight(name="scale", shape=(input_shape[-1],), initializer=self.initializer)
            super().build(input_shape)

        def call(self, x):
            return x * self.scale

        def get_config(self):
            return {**super().get_config(), "initializer": self.initializer}

    model = keras.Sequential([Scaled(keras.initializers.Constant(3.0), input_shape=(2,))])
    model.save(tmp_path / "scaled.h5")
    loaded = keras.models.load_model(tmp_path / "scaled.h5", custom_objects={"Scaled": Scaled})
    assert loaded.layers[-1].initializer.get_config()["value"] == 3.0
    np.testing.assert_array_equal(loaded.predict(np.ones((1, 2))), [[3.0, 3.0]])


def test_a_configuration_takes_what_every_constructor_took(era):
    keras = keras_of(era)
    for layer, given, shape in (
        (keras.layers.ZeroPadding2D(1), {"input_shape": (4, 4, 3)}, (None, 6, 6, 3)),
        (keras.layers.Dense(3), {"input_dim": 12}, (None, 3)),
        (keras.layers.Dense(3), {"batch_input_shape": (5, 12)}, (5, 3)),
        (keras.layers.Dense(1), {"input_shape": (2,), "weights": [np.ones((2, 1)), np.ones(1)]}, (None, 1)),
    ):
        model = keras.models.Sequential([type(layer).from_config({**layer.get_config(), **given})])
        assert model.built
        assert model.output_shape == shape
    np.testing.assert_array_equal(model.predict(np.ones((1, 2)), verbose=0), [[3.0]])


def test_a_class_derived_from_rnn_may_leave_its_cell_out_of_the_configuration(era):
    keras = keras_of(era)

    class Recurrent(keras.layers.RNN):
        def __init__(self, units, **keywords):
            super().__init__(keras.layers.SimpleRNNCell(units), **keywords)

        def get_config(self):
            config = {**super().get_config(), "units": self.cell.units}
            del config["cell"]
            return config

        @classmethod
        def from_config(cls, config, custom_objects=None):
            return cls(**config)

    model = keras.models.Sequential([Recurrent(2, input_shape=(3, 1))])
    again = type(model).from_config(model.get_config(), custom_objects={"Recurrent": Recurrent})
    again.set_weights(model.get_weights())
    np.testing.assert_array_equal(again.predict(np.ones((1, 3, 1))), model.predict(np.ones((1, 3, 1))))
