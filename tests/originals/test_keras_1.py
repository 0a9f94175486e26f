"""Scripts of Keras 1 and of Keras 2.0 run on Keras 2.2.4. Numbers of Keras 1.2.2 and 2.0.8 on TensorFlow 1.15.5."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from parallel_compat import command
from tests import scripts

MERGE = """
import json
import numpy as np
from keras.layers import *
from keras.layers import merge as module
from keras.layers.merge import concatenate
from keras.models import Model, Sequential, load_model

assert module.concatenate is concatenate is merge.concatenate

answers = {}
draws = np.random.RandomState(1)
a, b = draws.rand(16, 5), draws.rand(16, 5)
y = draws.rand(16, 1)
for mode in ("sum", "mul", "ave", "max", "concat", "dot", "cos", lambda tensors: tensors[0] - 2 * tensors[1]):
    one, other = Input((5,)), Input((5,))
    options = {"dot_axes": 1} if mode in ("dot", "cos") else {"output_shape": (5,)} if callable(mode) else {}
    merged = merge([one, other], mode=mode, **options)
    if mode == "cos":
        merged = Flatten()(merged)
    model = Model([one, other], Dense(1)(merged))
    draws = np.random.RandomState(3)
    model.set_weights([draws.uniform(-0.3, 0.3, weight.shape) for weight in model.get_weights()])
    model.compile("sgd", "mse")
    history = model.fit([a, b], y, epochs=2, verbose=0, shuffle=False, batch_size=4).history
    answers["a function" if callable(mode) else mode] = history["loss"]

def branch(activation):
    model = Sequential()
    model.add(Dense(3, input_dim=5, activation=activation))
    model.set_weights([np.full(weight.shape, 0.1) for weight in model.get_weights()])
    return model

model = Sequential()
model.add(Merge([branch(None), branch("tanh")], mode="concat"))
model.add(Dense(1))
model.layers[-1].set_weights([np.full((6, 1), 0.1), np.full((1,), 0.1)])
model.compile("sgd", "mse")
answers["models"] = model.fit([a, b], y, epochs=3, verbose=0, shuffle=False, batch_size=4).history["loss"]
model.save("model.h5")
answers["loaded"] = bool(np.array_equal(load_model("model.h5").predict([a, b]), model.predict([a, b])))
print(json.dumps(answers))
"""

ORDERS = """
import numpy as np
from keras import backend as K
from keras.layers import Dense, Input
from keras.models import Model

x = Input((2,))
for loss in (lambda t, p: K.binary_crossentropy(p, t), lambda t, p: K.binary_crossentropy(p, t), "binary_crossentropy"):
    model = Model(x, Dense(1, activation="sigmoid")(x))
    model.compile("sgd", loss)
    model.train_on_batch(np.ones((4, 2)), np.ones((4, 1)))
"""

KERAS_1 = """
import json
import numpy as np
from keras import backend as K, initializations
from keras.engine.topology import Layer, Merge, merge
from keras.engine.training import collect_trainable_weights
from keras.layers import Dense
from keras.layers.core import Highway, MaxoutDense
from keras.models import Graph, Sequential
from keras.preprocessing.image import ImageDataGenerator
from keras.regularizers import WeightRegularizer, activity_l2, l2
from keras.utils.layer_utils import layer_from_config
from keras.utils.visualize_util import model_to_dot, plot

class Attention(Layer):
    def __init__(self, size, **options):
        self.init = initializations.get("glorot_uniform")
        self.size = size
        super(Attention, self).__init__(**options)

    def build(self, input_shape):
        self.W = self.init((input_shape[1], self.size), name="{}_W".format(self.name))
        self.trainable_weights = [self.W]

    def call(self, x, mask=None):
        return K.tanh(K.dot(x, self.W))

    def get_output_shape_for(self, input_shape):
        return (input_shape[0], self.size)

def small(shape, name):
    return initializations.normal(shape, scale=0.01, name=name)

model = Sequential()
model.add(Dense(8, input_dim=5, W_regularizer=l2(0.01), activity_regularizer=activity_l2(0.01), init=small))
spread = float(np.abs(model.get_weights()[0]).max())
model.add(Attention(4))
model.add(MaxoutDense(3, nb_feature=2))
model.add(Highway())
model.add(Dense(1, init="normal"))
draws = np.random.RandomState(0)
for layer in model.layers:
    layer.set_weights([draws.uniform(-0.3, 0.3, weight.shape) for weight in layer.get_weights()])
model.compile("sgd", "mse")
x, y = draws.rand(32, 5), draws.rand(32, 1)
pixels = K.variable(np.arange(16.0).reshape(1, 4, 4, 1))
order = {"border_mode": "same", "dim_ordering": "tf"}
print(json.dumps({
    "shape": model.output_shape,
    "loss": model.fit(x, y, nb_epoch=3, batch_size=8, verbose=0, shuffle=False).history["loss"],
    "spread": 0 < spread < 0.1,
    "weights": sorted(map(id, collect_trainable_weights(model))) == sorted(map(id, model.trainable_weights)),
    "conv2d": float(K.eval(K.conv2d(pixels, K.ones((3, 3, 1, 1)), **order)).sum()),
    "pool2d": K.eval(K.pool2d(pixels, (2, 2), strides=(2, 2), **order)).ravel().tolist(),
    "normal": bool(K.eval(K.random_normal((1000,), mean=3.0, std=0.01)).std() < 0.02),
    "uniform": bool(K.eval(K.random_uniform((1000,), low=2.0, high=3.0)).min() >= 2),
    "order": ImageDataGenerator(dim_ordering="th").data_format,
    "values": [float(np.abs(K.eval(initializations.get(name)((3, 3)))).max()) for name in ("zero", "one", "identity")],
}))
"""


METRICS = """
import json
import numpy as np
from keras import backend as K, metrics
from keras.layers import Dense, SimpleRNN, TimeDistributedDense
from keras.metrics import fbeta_score
from keras.models import Sequential, load_model
from keras.utils.np_utils import categorical_probas_to_classes, probas_to_classes

draws = np.random.RandomState(0)
names = ["precision", "recall", "fbeta_score", "fmeasure", "matthews_correlation"]
model = Sequential()
model.add(TimeDistributedDense(4, input_dim=3, input_length=5, W_regularizer="l2", activation="tanh"))
model.add(TimeDistributedDense(output_dim=1, init="normal", activation="sigmoid"))
for layer in model.layers:
    layer.set_weights([draws.uniform(-3, 3, weight.shape) for weight in layer.get_weights()])
x, y = draws.rand(16, 5, 3), draws.randint(0, 2, (16, 5, 1))
model.compile("sgd", "binary_crossentropy", metrics=names[:4] + [metrics.matthews_correlation])
fitted = model.fit(x, y, nb_epoch=2, batch_size=8, verbose=0, shuffle=False).history
truth, guess = K.variable(y), K.variable(model.predict(x))
model.save("model.h5")
print(json.dumps({
    "history": {name: fitted[name] for name in names + ["loss"]},
    "beta": float(K.eval(fbeta_score(truth, guess, beta=2))),
    "none": float(K.eval(metrics.matthews_correlation(truth, 0 * guess))),
    "classes": [probas_to_classes(np.array(each)).tolist() for each in ([[0.2, 0.8], [0.9, 0.1]], [[0.4], [0.6]])],
    "categories": categorical_probas_to_classes(np.eye(3)).tolist(),
    "loaded": bool(np.array_equal(load_model("model.h5").predict(x), model.predict(x))),
    "shape": model.output_shape,
}))
"""


def answers(folder: Path, source: str) -> dict[str, object]:
    (folder / "script.py").write_text(source)
    done = scripts.run("--quiet", "--era", "keras-2.2.4", "script.py", folder=folder)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_merge_and_merges_of_models(tmp_path: Path) -> None:
    # Of "models" Keras 2.0.8 reads weights that it has updated already.
    losses = json.loads((Path(__file__).parents[1] / "data/legacy/merge_keras_2_0_8.json").read_text("utf-8"))
    expected = {name: pytest.approx(values, abs=3e-5 if name == "models" else 2e-6) for name, values in losses.items()}
    assert answers(tmp_path, MERGE) == {**expected, "loaded": True}
    assert command.main(["recover", str(tmp_path / "model.h5"), "-o", str(tmp_path / "model.keras")]) == 0


def test_names_and_arguments_of_keras_1(tmp_path: Path) -> None:
    assert answers(tmp_path, KERAS_1) == {
        "shape": [None, 1],
        "loss": pytest.approx([0.235155, 0.218729, 0.204799], abs=3e-5),
        "spread": True,
        "weights": True,
        "conv2d": 750.0,
        "pool2d": [5.0, 7.0, 13.0, 15.0],
        "normal": True,
        "uniform": True,
        "order": "channels_first",
        "values": [0.0, 1.0, 1.0],
    }


def test_metrics_layers_and_functions_that_keras_2_dropped(tmp_path: Path) -> None:
    assert answers(tmp_path, METRICS) == {
        "history": {
            "precision": pytest.approx([0.47619049] * 2),
            "recall": pytest.approx([0.24431819] * 2),
            "fbeta_score": pytest.approx([0.32225060] * 2),
            "fmeasure": pytest.approx([0.32225060] * 2),
            "matthews_correlation": pytest.approx([0.023039497] * 2),
            "loss": pytest.approx([1.0122328, 1.0101173], abs=1e-5),
        },
        "beta": pytest.approx(0.29239768),
        "none": 0.0,
        "classes": [[1, 0], [0, 1]],
        "categories": [0, 1, 2],
        "loaded": True,
        "shape": [None, 5, 1],
    }
    script = "from keras.layers import SReLU\nprint('imported')\nSReLU()"
    done = scripts.run("--quiet", "--era", "keras-2.2.4", "-c", script, folder=tmp_path)
    assert "keras.layers.SReLU" in done.stderr
    assert "keras-contrib" in done.stderr


LISTS_OF_AXES = """
import json
import numpy as np
from keras import backend as K
from keras.layers import Input, merge
from keras.models import Model
r = np.random.RandomState(0)
x, y = r.rand(2, 3, 4), r.rand(2, 3, 5)

def merged(mode, *arrays):
    inputs = [Input(array.shape[1:]) for array in arrays]
    found = Model(inputs, merge(inputs, mode=mode, dot_axes=[[1], [1]])).predict(list(arrays))
    return [found.shape, float(found.sum())]

products = K.batch_dot(K.constant(x), K.constant(y), axes=[[1], [1]])
print(json.dumps([merged("dot", x[:, :, 0], y[:, :, 0]), merged("cos", x[:, :, 0], y[:, :, 0]), merged("dot", x, y),
                  [K.int_shape(products), float(K.eval(K.sum(products)))]]))
"""


def test_lists_of_one_axis_each(tmp_path: Path) -> None:
    """What Keras 1.2.2 answers."""
    assert answers(tmp_path, LISTS_OF_AXES) == [
        [[2, 1], pytest.approx(0.25869 + 0.75672, abs=2e-5)],
        [[2, 1, 1], pytest.approx(0.50488 + 0.65512, abs=2e-5)],
        [[2, 4, 5], pytest.approx(35.2634, abs=1e-4)],
        [[2, 4, 5], pytest.approx(35.2634, abs=1e-4)],
    ]


def test_a_loss_that_passes_the_output_first_is_named_once(tmp_path: Path) -> None:
    said = "K.binary_crossentropy is called with a model's output first, as in Keras 1"
    options = ("--era", "keras-2.2.4", "--quiet", "-c")
    assert scripts.run(*options, ORDERS, folder=tmp_path).stderr.count(said) == 1
    done = scripts.run(*options, ORDERS.replace("entropy(p, t)", "entropy(t, p)"), folder=tmp_path)
    assert (done.returncode, done.stderr.count(said)) == (0, 0), done.stderr
