"""Models that are classes of the user's own: in each era they train as the functional model of the same layers does."""

from __future__ import annotations

import numpy as np
import pytest

import parallel_compat

PROGRAM = """
import numpy as np
import keras
from keras.layers import BatchNormalization, Dense, Dropout, Input
from keras.models import Model
from keras.utils import multi_gpu_model

def parts():
    return [Dense(3, activation="tanh", kernel_initializer="ones"), BatchNormalization(), Dropout(0.0), Dense(2)]

class Own(Model):
    def __init__(self):
        super(Own, self).__init__()
        self.first, self.normal, self.drop, self.last = parts()

    def call(self, x):
        return self.last(self.drop(self.normal(self.first(x))))

def functional():
    inputs = hidden = Input((4,))
    for layer in parts():
        hidden = layer(hidden)
    return Model(inputs, hidden)

def trained(model, x, y):
    model.predict(x)  # builds
    model.set_weights([np.linspace(-1, 1, w.size).reshape(w.shape) ** 2 + 0.1 for w in model.get_weights()])
    model.compile(keras.optimizers.SGD(0.1), "mse", metrics=["mae"])
    found = [model.train_on_batch(x, y), model.test_on_batch(x, y)]
    found.append(list(model.fit(x, y, batch_size=3, epochs=2, shuffle=False, verbose=0).history["loss"]))
    return [*found, model.evaluate(x, y, verbose=0), model.predict(x), *model.get_weights()]

def untrained(x, y, way):
    model = Own()
    model.compile("sgd", "mse")
    return getattr(model, way)(x, y)
"""
X, Y = np.random.RandomState(0).rand(7, 4), np.random.RandomState(1).rand(7, 2)


@pytest.fixture(params=["keras-2.2.4", "tf.keras-1.15", "tf.keras-2.2"])
def user(request):
    with parallel_compat.legacy_names(era=request.param):
        names = {"__name__": "user"}
        exec(PROGRAM, names)
        yield names


def test_they_train_as_a_functional_model(user):
    own, functional = (user["trained"](model, X, Y) for model in (user["Own"](), user["functional"]()))
    for ours, theirs in zip(own, functional, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("way", ["fit", "train_on_batch", "evaluate", "test_on_batch"])
def test_the_first_batch_builds_them(user, way):
    assert user["untrained"](X, Y, way)


FIRST_BATCHES = """
import numpy as np
import keras
from keras.layers import BatchNormalization, Dense, LSTM, Masking
from keras.models import Model, Sequential

class Masked(Model):
    def __init__(self):
        super(Masked, self).__init__()
        self.mask = Masking()
        self.steps = LSTM(3, return_sequences=True, kernel_initializer="ones", recurrent_initializer="zeros")
        self.last = Dense(2, kernel_initializer="ones")

    def call(self, x):
        return self.last(self.steps(self.mask(x)))

def three():
    return Dense(3, kernel_initializer=keras.initializers.Constant(0.3))

class Listed(Model):
    def __init__(self):
        super(Listed, self).__init__()
        self.found = [three()]
        self.found.append(BatchNormalization())
        self.pair = (three(), three())
        self.kept = Dense(3, kernel_initializer="ones")
        self.both = [self.kept]
        self.last = Dense(2, kernel_initializer="ones")

    def call(self, x):
        for layer in (*self.found, *self.pair, *self.both, self.last):
            x = layer(x)
        return x

class Normalised(Model):
    def __init__(self):
        super(Normalised, self).__init__()
        self.normal = BatchNormalization()
        self.last = Dense(2, kernel_initializer="ones")

    def call(self, x):
        return self.last(self.normal(x))

def trained(model, x, y):
    model.compile(keras.optimizers.SGD(1e-3), "mse")
    found = [float(model.train_on_batch(x * (1 + n), y)) for n in range(3)]
    return found + [float(model.test_on_batch(x, y)), len(model.weights)]

def deferred():
    return Sequential([BatchNormalization(), Dense(2, kernel_initializer="ones")])

def thawed(x, y):
    model = Normalised()
    model.last.trainable = False
    found = []
    for step in range(4):
        if step % 2 == 0:
            model.last.trainable = step == 2
            model.compile(keras.optimizers.SGD(0.1), "mse")
        found.append(float(model.train_on_batch(x, y)))
    return [*found, float(np.sum(model.last.get_weights()[0]))]

def answers():
    x, y = np.random.RandomState(0).rand(6, 4, 2), np.random.RandomState(1).rand(6, 4, 2)
    x[:, 2:] = 0
    x[2:4, 1:] = 0
    kinds = ((Masked, slice(None)), (Listed, 0), (Normalised, 0), (deferred, 0))
    found = {kind.__name__: trained(kind(), x[:, part], y[:, part]) for kind, part in kinds}
    return {**found, "thawed": thawed(x[:, 0], y[:, 0])}
"""

# What the program above answers on Keras 2.2.4, tf.keras 1.15.5 and 2.2.3: the losses of three steps, that of a test,
# and the number of weights.
THEN = {
    "keras-2.2.4": {
        # `compute_mask` of such a model gave None, and nothing looked for layers in lists.
        "Masked": [0.9330205321311951, 3.006333351135254, 4.224506855010986, 0.9163910746574402, 5],
        "Listed": [45.8377799987793, 50.11338806152344, 48.78385543823242, 2.2488338947296143, 4],
        "Normalised": [1.2919983863830566, 1.2989290952682495, 1.2954727411270142, 8.36336898803711, 6],
        "deferred": [1.2919983863830566, 1.2989290952682495, 1.2954727411270142, 8.36336898803711, 6],
    },
    "tf.keras-1.15": {
        # No layer was found in a tuple, and the weights of one in a list as well were counted twice.
        "Masked": [0.3219373822212219, 1.1373299360275269, 1.5413426160812378, 0.3196401298046112, 5],
        "Listed": [45.8377799987793, 46.864959716796875, 43.085636138916016, 1.5169715881347656, 12],
        "Normalised": [1.2919983863830566, 1.2989290952682495, 1.2954727411270142, 0.2373633235692978, 6],
        "deferred": [1.2919983863830566, 1.2989290952682495, 1.2954727411270142, 0.2373633235692978, 6],
    },
    "tf.keras-2.2": {
        "Masked": [0.37145522236824036, 1.0012577772140503, 1.3543857336044312, 0.36902204155921936, 5],
        "Listed": [45.8377799987793, 29.76820182800293, 19.89858055114746, 0.43955984711647034, 14],
        "Normalised": [1.2919983863830566, 1.2989290952682495, 1.2954727411270142, 0.2373633235692978, 6],
        "deferred": [1.2919983863830566, 1.2989290952682495, 1.2954727411270142, 0.2373633235692978, 6],
    },
}


# A layer that was frozen when the first batch built it trains once it is thawed and compiled, in all of them.
THAWED = [1.2919983863830566, 0.9106321334838867, 0.7244599461555481, 0.5906177759170532, 3.8373684883117676]


@pytest.mark.one_in(2)
@pytest.mark.filterwarnings("ignore:`Listed` holds layers in a list")
@pytest.mark.parametrize("era", sorted(THEN))
def test_models_that_their_first_batch_builds(era):
    with parallel_compat.legacy_names(era=era):
        names = {"__name__": "user"}
        exec(FIRST_BATCHES, names)
        answers = names["answers"]()
    assert sorted(answers) == sorted([*THEN[era], "thawed"])
    for kind, then in {**THEN[era], "thawed": THAWED}.items():
        np.testing.assert_allclose(answers[kind], then, rtol=2e-5, err_msg=kind)


def test_of_layers_in_lists_is_told():
    with parallel_compat.legacy_names(era="keras-2.2.4"):
        names = {"__name__": "user"}
        exec(FIRST_BATCHES, names)
        with pytest.warns(parallel_compat.ParallelCompatWarning, match=r"holds layers in a list.*\(dense"):
            names["Listed"]().compile("sgd", "mse")


@pytest.mark.parametrize("era", ["tf.keras-1.15", "tf.keras-2.2"])
def test_layers_of_a_list_come_where_the_list_was_set(era):
    with parallel_compat.legacy_names(era=era):
        names = {"__name__": "user"}
        exec(FIRST_BATCHES, names)
        kinds = [type(layer).__name__ for layer in names["Listed"]().layers]
    assert kinds[:2] == ["Dense", "BatchNormalization"]
    assert len(kinds) == (4 if era == "tf.keras-1.15" else 6)


def test_a_layer_in_a_list_of_another_layer_trains_in_its_own_model():
    with parallel_compat.legacy_names(era="keras-2.2.4"):
        names = {"__name__": "user"}
        exec(FIRST_BATCHES, names)
        exec(
            """
from keras.layers import Input, Layer
class Holds(Layer):
    listed = ()
    def __init__(self, layers):
        super(Holds, self).__init__()
        self.listed = list(layers)
    def call(self, x):
        return x * 2
inputs = Input((2,))
normal = BatchNormalization()
model = Model(inputs, normal(inputs))
holder = Holds(model.layers)
model.compile("sgd", "mse")
model.train_on_batch(np.ones((4, 2)), np.zeros((4, 2)))
""",
            names,
        )
    np.testing.assert_allclose(names["normal"].get_weights()[2], [1.0, 1.0], rtol=1e-5)  # the moving mean
