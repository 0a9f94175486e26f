"""`np.random` is drawn from for a model's weights as Keras 2.2.4 did."""

from __future__ import annotations

import functools
import sys

import keras
import numpy as np
import pytest

import parallel_compat
from parallel_compat.names.eras import Era


@pytest.fixture
def of_keras_2_2_4():
    parallel_compat.install(era=Era.KERAS_2_2_4)
    yield
    parallel_compat.uninstall()


# What Keras 2.2.4 drew next, after `np.random.seed(7)` and a model of one such layer.
NEXT = {
    "Dense": (lambda: keras.layers.Dense(3), (5,), 189636),
    "LSTM, orthogonal": (lambda: keras.layers.LSTM(2), (4, 3), 110271),
    "Embedding": (lambda: keras.layers.Embedding(4, 2), (3,), 189636),
    "seeded": (
        lambda: keras.layers.Dense(3, kernel_initializer=keras.initializers.glorot_normal(seed=3)),
        (5,),
        585903,
    ),
    "two": (
        lambda: keras.layers.Dense(3, kernel_initializer="truncated_normal", bias_initializer="random_uniform"),
        (5,),
        573977,
    ),
    "SeparableConv2D": (lambda: keras.layers.SeparableConv2D(2, 2), (4, 4, 1), 573977),
}


@pytest.mark.usefixtures("of_keras_2_2_4")
def test_weights_draw_from_numpy_as_in_keras_2_2_4():
    drawn = {}
    for name, (layer, shape, _) in NEXT.items():
        np.random.seed(7)
        keras.models.Sequential([keras.layers.InputLayer(shape), layer()])
        drawn[name] = np.random.randint(1000000)
    assert drawn == {name: number for name, (_, _, number) in NEXT.items()}


# What Keras 2.2.4 drew next, after `np.random.seed(7)`, a model of such a layer, a prediction and a step: the function
# of a Lambda layer was called once for its tensor, and once for its shape.
AFTER_OPERATIONS = {"random_uniform": 573977, "random_binomial": 573977, "truncated_normal": 573977, "seeded": 585903}
AFTER_OWN_LAYER = 189636


@pytest.mark.usefixtures("of_keras_2_2_4")
def test_operations_draw_when_they_are_made():
    from keras import backend as K

    class Noisy(keras.layers.Layer):
        def call(self, x):
            return x + K.random_normal(K.shape(x))

    functions = {
        "random_uniform": lambda t: t * K.random_uniform(K.shape(t)),
        "random_binomial": lambda t: t * K.random_binomial(K.shape(t), 0.5),
        "truncated_normal": lambda t: t * K.truncated_normal(K.shape(t)),
        "seeded": lambda t: t + K.random_normal(K.shape(t), seed=3),
    }
    made = {name: functools.partial(keras.layers.Lambda, function) for name, function in functions.items()}
    drawn = {}
    for name, make in {**made, "own layer": Noisy}.items():
        np.random.seed(7)
        x = keras.layers.Input((4,))
        model = keras.models.Model(x, make()(x))
        model.compile("sgd", "mse")
        model.predict(np.ones((2, 4)), verbose=0)
        model.train_on_batch(np.ones((2, 4)), np.ones((2, 4)))
        drawn[name] = np.random.randint(1000000)
    assert drawn == {**AFTER_OPERATIONS, "own layer": AFTER_OWN_LAYER}


@pytest.mark.usefixtures("of_keras_2_2_4")
def test_a_lambda_with_an_output_shape_draws_when_it_is_made():
    from keras import backend as K

    np.random.seed(7)
    x = keras.layers.Input((4,))
    noisy = keras.layers.Lambda(lambda t: t + K.random_normal(K.shape(t)), output_shape=(4,))
    model = keras.models.Model(x, noisy(x))
    model.compile("sgd", "mse")
    model.predict(np.ones((2, 4)))
    assert np.random.randint(1000000) == 189636


@pytest.mark.usefixtures("of_keras_2_2_4")
def test_a_model_made_of_a_configuration_draws_once(tmp_path):
    """What Keras 2.2.4 drew next: three seeds were drawn, for two kernels and a mask."""
    layers = [keras.layers.Dense(3, input_dim=2), keras.layers.Dropout(0.5), keras.layers.Dense(2)]
    model = keras.models.Sequential(layers)
    model.compile("sgd", "mse")
    model.save(str(tmp_path / "model.h5"))
    for make in (
        lambda: keras.models.Sequential.from_config(model.get_config()),
        lambda: keras.models.model_from_json(model.to_json()),
        lambda: keras.models.load_model(str(tmp_path / "model.h5")),
        lambda: keras.models.clone_model(model),
    ):
        np.random.seed(7)
        made = make()
        made.compile("sgd", "mse")
        made.train_on_batch(np.ones((2, 2)), np.ones((2, 2)))
        assert np.random.randint(1000000) == 839891


@pytest.mark.usefixtures("of_keras_2_2_4")
def test_initializers_that_take_a_shape_alone():
    """As in copies of one-shot Siamese networks; the sums are those of Keras 2.2.4."""
    from keras import backend as K
    from keras.layers import Conv2D, Dense, Flatten, Input

    def initialize(shape, name=None):
        return K.variable(np.random.normal(0.5, 1e-2, size=shape), name=name)

    np.random.seed(3)
    x = Input((8, 8, 1))
    y = Flatten()(Conv2D(2, 3, kernel_initializer=initialize, bias_initializer=initialize)(x))
    model = keras.models.Model(x, Dense(3, kernel_initializer=lambda shape: K.ones(shape))(y))
    sums = [float(weight.sum()) for weight in model.get_weights()]
    np.testing.assert_allclose(sums, [8.9831, 0.99881, 216.0, 0.0], atol=1e-5)


def _layers_with_masks():
    """Layers of the user's that call layers which draw, each with what Keras 2.2.4 drew after it and its Dense."""
    layers = keras.layers

    class Block(layers.Layer):
        def __init__(self):
            super().__init__()
            self.wide, self.dropped = layers.Dense(5), layers.Dropout(0.5)
            self.narrow, self.noise = layers.Dense(6), layers.GaussianNoise(0.3)

        def call(self, x):
            return self.noise(self.narrow(self.dropped(self.wide(x))))

    class OfKnownShape(Block):
        def compute_output_shape(self, input_shape):
            return input_shape

    class Listing(layers.Layer):
        def __init__(self):
            super().__init__()
            self.dropped = layers.Dropout(0.5)

        def build(self, input_shape):
            self._trainable_weights = []
            super().build(input_shape)

        def call(self, x):
            return self.dropped.call(x)

        def compute_output_shape(self, input_shape):
            return input_shape

    class Chosen(layers.Layer):
        def call(self, x, training=None):
            from keras import backend as K

            return K.in_train_phase(lambda: K.dropout(x, 0.5), x, training=training)

        def compute_output_shape(self, input_shape):
            return input_shape

    return {"block": Block, "of known shape": OfKnownShape, "listing": Listing, "chosen": Chosen}


# After `np.random.seed(1)`, a Dense, such a layer and another Dense: the last kernel's sum of absolute values, and the
# next `np.random.randint(1000)`.
BESIDE = {
    "block": (1.78491, 144),
    "of known shape": (1.78491, 144),
    "listing": (3.74, 905),
    "chosen": (3.74, 905),
}


@pytest.mark.usefixtures("of_keras_2_2_4")
def test_layers_that_a_layer_of_the_users_calls_draw_by_turns_with_weights():
    from keras import backend as K

    drawn = {}
    for name, kind in _layers_with_masks().items():
        K.clear_session()
        np.random.seed(1)
        inputs = keras.layers.Input((6,))
        model = keras.models.Model(inputs, keras.layers.Dense(1)(kind()(keras.layers.Dense(6)(inputs))))
        drawn[name] = round(float(np.abs(model.get_weights()[-2]).sum()), 5), np.random.randint(1000)
    assert drawn == BESIDE


@pytest.mark.usefixtures("of_keras_2_2_4")
@pytest.mark.parametrize("training", [None, False])
def test_what_never_trains_draws_nothing(training):
    """After `K.set_learning_phase(0)`, or where a call says so."""
    from keras import backend as K

    np.random.seed(1)
    inputs = keras.layers.Input((6,))
    if training is None:
        K.set_learning_phase(0)
        keras.layers.LSTM(2, dropout=0.5)(keras.layers.Input((4, 3)))  # its two kernels
        keras.layers.Dropout(0.5)(inputs)
    else:
        keras.layers.Dropout(0.5)(keras.layers.Dense(2)(keras.layers.Dense(2)(inputs)), training=False)
    drawn = np.random.randint(1000)
    K.clear_session()  # and the phase is free
    np.random.seed(1)
    keras.layers.LSTM(2)(keras.layers.Input((4, 3))) if training is None else np.random.randint(10_000_000, size=2)
    assert drawn == np.random.randint(1000)


# What Keras 2.2.4 lost in three steps that moved nothing, after `np.random.seed(1)`.
OF_OWN_MODEL = {"masks": [1.671641, 1.55232, 2.336934], "operation": [1.822495, 3.999537, 1.857522]}


@pytest.mark.usefixtures("of_keras_2_2_4")
@pytest.mark.parametrize("kind", list(OF_OWN_MODEL))
def test_a_model_of_a_class_of_the_users_draws_with_its_first_batch(kind, monkeypatch):
    monkeypatch.setattr("parallel_compat.resume.Resume.is_made", False)
    from keras import backend as K

    class Own(keras.Model):
        def __init__(self):
            super().__init__()
            self.wide, self.narrow = keras.layers.Dense(5), keras.layers.Dense(1)
            self.dropped = keras.layers.Dropout(0.5)

        def call(self, x):
            h = self.wide(x)
            return self.narrow(self.dropped(h) if kind == "masks" else h + K.random_normal(K.shape(h)))

    K.clear_session()
    np.random.seed(1)
    x = np.linspace(0, 1, 48, dtype="float32").reshape(8, 6)
    model = Own()
    model.compile(keras.optimizers.SGD(lr=0.0), "mse")
    losses = [model.train_on_batch(x, x[:, :1]) for _ in range(3)]
    np.testing.assert_allclose(losses, OF_OWN_MODEL[kind], rtol=1e-5)


@pytest.mark.usefixtures("of_keras_2_2_4")
def test_call_of_a_recurrent_layer_drops_where_the_model_trains():
    class Around(keras.layers.Wrapper):
        def build(self, input_shape=None):
            self.layer.build(input_shape)
            self.layer.built = True
            super().build()

        def call(self, x):
            return self.layer.call(x)

        def compute_output_shape(self, input_shape):
            return self.layer.compute_output_shape(input_shape)

    layers = keras.layers
    inputs = layers.Input((4, 3))
    both = [Around(layers.GRU(2, dropout=0.9))(inputs), Around(layers.TimeDistributed(layers.Dropout(0.9)))(inputs)]
    model = keras.models.Model(inputs, both)
    model.compile(keras.optimizers.SGD(lr=0.0), "mse")
    x = np.linspace(0, 1, 96, dtype="float32").reshape(8, 4, 3)
    targets = [np.zeros((8, 2)), x]
    assert np.all(np.abs(np.subtract(model.train_on_batch(x, targets), model.test_on_batch(x, targets))) > 1e-4)


def _discriminator(keras):
    x = keras.layers.Input((4,))
    hidden = keras.layers.Dropout(0.4)(keras.layers.Dense(6)(x))
    hidden = keras.layers.GaussianNoise(0.5)(keras.layers.Dense(5)(hidden))
    return keras.models.Model(x, keras.layers.Dense(1)(hidden))


def _gan(keras):
    inner = _discriminator(keras)
    x = keras.layers.Input((4,))
    return [keras.models.Model(x, inner(keras.layers.Dropout(0.2)(x))), inner]


def _two_deep(keras):
    inner = _discriminator(keras)
    x, y = keras.layers.Input((4,)), keras.layers.Input((4,))
    middle = keras.models.Model(x, inner(keras.layers.Dense(4)(x)))
    return [keras.models.Model(y, middle(y)), middle, inner]


def _called_twice(keras):
    inner, dropped = _discriminator(keras), keras.layers.Dropout(0.5)
    x, y = keras.layers.Input((4,)), keras.layers.Input((4,))
    return [keras.models.Model([x, y], keras.layers.subtract([inner(dropped(x)), inner(dropped(y))])), inner]


# The losses of each model by turns, in Keras 2.2.4 on TensorFlow 1.15.5 with `tf.enable_resource_variables()`.
OF_PLACES = {
    "_gan": [[1.397776, 1.2467042], [0.6554766, 0.428124], [0.4297751, 0.3625608]],
    "_two_deep": [
        [6.2598763, 0.5894333, 3.4711535],
        [0.6114512, 0.4639236, 0.3943888],
        [0.553641, 0.477596, 0.5147209],
    ],
    "_called_twice": [[5.7869353, 4.0352988], [2.9578373, 1.3358283], [0.5059731, 0.4415996]],
}


@pytest.mark.usefixtures("of_keras_2_2_4")
@pytest.mark.parametrize("make", [_gan, _two_deep, _called_twice])
def test_each_place_of_a_layer_in_models_draws_for_itself(make, monkeypatch):
    from keras import backend as K

    monkeypatch.setattr("parallel_compat.resume.Resume.is_made", False)
    K.clear_session()
    np.random.seed(1)
    made = make(keras)
    for model in made:
        model.compile(keras.optimizers.SGD(lr=0.1), "mse")
    x = np.sin(np.arange(48)).reshape(12, 4)
    data = [[x, x[::-1]] if len(model.inputs) > 1 else x for model in made]
    turns = [*zip(made, data, strict=True)] * 3
    losses = [model.train_on_batch(each, x[:, :1]) for model, each in turns]
    np.testing.assert_allclose(losses, np.ravel(OF_PLACES[make.__name__]), rtol=2e-5)


@pytest.mark.usefixtures("of_keras_2_2_4")
def test_a_model_called_on_the_same_tensors_again_draws_on_with_its_first_call(monkeypatch):
    """It returned what that call had. The losses are those of Keras 2.2.4."""
    monkeypatch.setattr("parallel_compat.resume.Resume.is_made", False)
    np.random.seed(7)
    sys.modules["tensorflow"].compat.v1.set_random_seed(3)
    x, y = keras.layers.Input((4,)), keras.layers.Input((4,))
    inner = keras.models.Model(x, keras.layers.Dropout(0.5)(x))

    def compiled():
        model = keras.models.Model(y, keras.layers.Dense(1, kernel_initializer="ones", use_bias=False)(inner(y)))
        model.compile(keras.optimizers.SGD(0.0), "mse")
        return model

    first, second = compiled(), compiled()
    data = np.arange(12).reshape(3, 4) / 10
    losses = [model.train_on_batch(data, np.zeros((3, 1))) for model in (first, second, first, second)]
    np.testing.assert_allclose(losses, [16.533333, 4.613333, 7.013332, 12.493333], rtol=1e-5)


@pytest.mark.usefixtures("of_keras_2_2_4")
def test_integers_are_those_that_an_operation_of_a_graph_drew(monkeypatch):
    from keras import backend as K

    monkeypatch.setattr("parallel_compat.resume.Resume.is_made", False)
    np.random.seed(7)
    sys.modules["tensorflow"].compat.v1.set_random_seed(3)
    x = keras.layers.Input((4,))
    drawn = keras.layers.Lambda(lambda t: K.cast(K.random_uniform(K.shape(t)[:1], 0, 1000, dtype="int32"), "float32"))
    model = keras.models.Model(x, drawn(x))
    numbers = [model.predict(np.ones((3, 4))).tolist() for _ in range(2)]
    assert numbers == [[486, 293, 199], [464, 232, 645]]
    assert np.random.randint(10**6) == 573977


@pytest.mark.usefixtures("of_keras_2_2_4")
def test_random_variables_have_the_values_of_then_and_keep_them_in_a_layer(monkeypatch):
    from keras import backend as K

    monkeypatch.setattr("parallel_compat.resume.Resume.is_made", False)
    np.random.seed(7)
    sys.modules["tensorflow"].compat.v1.set_random_seed(3)
    np.testing.assert_allclose(K.eval(K.random_normal_variable((3,), 0, 1)), [0.12896, 1.75271, 1.10082], atol=1e-5)
    assert np.random.randint(10**6) == 189636
    np.testing.assert_allclose(K.eval(K.random_uniform_variable((3,), -1, 2)), [0.95399, -0.16088, 0.37896], atol=1e-5)
    assert np.random.randint(10**6) == 535030
    x = keras.layers.Input((3,))
    state = np.random.get_state()
    # The function is called, and called for its shape.
    *_, next_drawn = [np.random.randint(10**9), np.random.randint(10**9), np.random.randint(10**6)]
    np.random.set_state(state)
    kept = keras.layers.Lambda(lambda t: t * 0 + K.random_normal_variable((2, 3), 0, 1) + K.in_train_phase(t, t))(x)
    assert np.random.randint(10**6) == next_drawn
    model = keras.models.Model(x, keras.layers.Dense(1, kernel_initializer="ones")(kept))
    model.compile(keras.optimizers.SGD(0.0), "mse")
    predicted = model.predict(np.ones((2, 3)))
    loss = model.train_on_batch(np.ones((2, 3)), np.zeros((2, 1)))
    assert loss == pytest.approx(np.mean(predicted**2), rel=1e-5)
    np.testing.assert_array_equal(model.predict(np.ones((2, 3))), predicted)
