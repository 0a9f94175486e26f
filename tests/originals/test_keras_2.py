"""Standalone Keras 2 on today's Python, numpy, h5py and TensorFlow: one script a cause, all in one process an era."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from parallel_compat.originals.mends import operations
from tests import scripts

PROJECT = Path(__file__).parents[2]
ERAS = ["keras-2.2.4", pytest.param("keras-2.3", marks=pytest.mark.slow)]

SCRIPT = """
import collections, inspect, json, time
import h5py
import numpy as np
import tensorflow as tf
from keras import backend as K
from keras import optimizers
from keras.callbacks import TensorBoard
from keras.layers import BatchNormalization, Dense, Input, concatenate
from keras.models import Model, Sequential, load_model, model_from_yaml

answers = {}


class Counted(optimizers.Optimizer):
    # reads the counter late, and the weights of all layers

    def __init__(self):
        super(Counted, self).__init__()
        self.iterations, self.turn = K.variable(0, dtype="int64"), K.variable(0)

    def get_updates(self, loss, params):
        grads = self.get_gradients(loss, params)
        self.updates = [K.update_add(self.iterations, 1)]
        again = tf.equal(self.turn, 1)
        self.updates.append(tf.cond(again, lambda: tf.assign(self.turn, 0), lambda: tf.assign_add(self.turn, 1)))
        slow = K.sum(K.dot(K.ones((700, 700)), K.ones((700, 700))))
        with tf.control_dependencies([slow]):
            counter = K.cast(tf.identity(self.iterations), "float32")
            old = [tf.identity(p) for p in params]
        for p, g in zip(params, grads):
            self.updates.append(K.update(p, 0 * g + counter + K.sum(old[0])))
        return self.updates

    def get_config(self):
        return {}


model = Sequential([Dense(1, input_dim=1, kernel_initializer="zeros"), Dense(1, kernel_initializer="zeros")])
model.compile(Counted(), "mse")
x = np.ones((4, 1))
steps = [[float(w.ravel()[0]) for w in model.get_weights()] for _ in range(3) if model.train_on_batch(x, x) is not None]
answers["all reads before all writes"] = steps
answers["a counter that a condition restarts"] = float(K.eval(model.optimizer.turn))

shared, a, b = BatchNormalization(), Input((1,)), Input((1,))
twice = Model([a, b], Dense(1)(concatenate([shared(a), shared(b)])))
twice.compile("sgd", "mse")
twice.train_on_batch([np.full((4, 1), 3.0), np.full((4, 1), 5.0)], x)
answers["the second call's average comes last"] = float(shared.get_weights()[2][0])

deep = Sequential([Dense(2, input_dim=1), *[BatchNormalization() for _ in range(12)]])
deep.compile("sgd", "mse")
deep.train_on_batch(x, np.ones((4, 2)))
operations = K.get_session().graph.get_operations()
answers["few operations wait for many"] = sum(len(one.control_inputs) > 20 for one in operations) < 12

model = Sequential([Dense(2, input_dim=1)])
model.compile("sgd", "mse", metrics=["mae"])
history = model.fit(np.ones((5, 1)), np.ones((5, 2)), batch_size=2, epochs=1, verbose=0).history
answers["a history in JSON"] = sorted(json.loads(json.dumps({"loss": history["loss"]})))
loss = model.train_on_batch(x, np.ones((4, 2)))[0]
answers["promotion"] = [str((value).dtype) for value in (loss, loss * 2, 0.5 + loss, loss + loss, np.add(loss, 1))]
answers["printed"] = repr({"a": np.float32(0.5), "b": np.float64(2)})
answers["ragged"] = [np.array([[1], [2, 3]]).shape, str(np.asarray([[1], [2, 3]]).dtype)]
answers["no copy"] = np.array([1.0, 2.0], copy=False).tolist()
answers["names"] = [np.cast["int32"](2.5).tolist(), np.float(1), isinstance([], collections.Iterable),
                    inspect.getargspec(lambda u, v=1: u).args, time.clock() >= 0,
                    np.fromstring(b"ab", "uint8").tolist()]

model.save("model.h5")
with h5py.File("model.h5") as file:
    answers["mode"] = file.mode
    group = file["model_weights"]
    answers["attributes"] = [type(file.attrs["keras_version"]).__name__, group.attrs["layer_names"].dtype.kind]
    file["text"] = u"caf\\u00e9"
    answers["texts"] = [file["text"].value, file["text"][()], file.fid is not None]
answers["loaded"] = bool(np.allclose(load_model("model.h5").predict(x), model.predict(x)))
answers["yaml"] = model_from_yaml(model.to_yaml()).layers[0].units

answers["a variable is true"] = bool(model.layers[0].bias)
answers["a variable is one"] = isinstance(model.layers[0].bias, tf.Variable)
v = K.variable([2.0])
v /= 2
answers["a tensor has no length"] = not hasattr(model.output, "__len__")
answers["in place"] = K.eval(v).tolist()
answers["begins with another's value"] = K.eval(K.variable(K.variable([3.0]))).tolist()
answers["backend"] = [K.backend(), K.floatx(), K.image_data_format()]
answers["sparse"] = K.is_tensor(K.placeholder(shape=(None, 2), sparse=True)) if hasattr(K, "is_tensor") else True
model.fit(x, np.ones((4, 2)), verbose=0, callbacks=[TensorBoard("logs")])
answers["gpus"] = len(K.tensorflow_backend._get_available_gpus())
answers["convolutions of channels first"] = K.eval(
    K.conv2d(K.ones((1, 1, 3, 3)), K.ones((3, 3, 1, 1)), data_format="channels_first")
).tolist()
ones = K.ones((1, 1, 1, 3))
normalized = K.batch_normalization(K.ones((2, 2, 2, 3)), 0 * ones, ones, 3 * ones, 2 * ones, epsilon=0.0)
answers["statistics with axes of size 1"] = float(K.get_value(K.mean(normalized)))
x = K.placeholder((None, 2))
gradients = K.gradients(K.sum(K.square(x), axis=np.arange(1, 2)), x)
answers["axes of 64 bits"] = K.function([x], gradients)([np.ones((1, 2))])[0].tolist()

from keras.applications.imagenet_utils import _obtain_input_shape
from keras.applications.mobilenet import DepthwiseConv2D, relu6
from keras.engine import topology, training
from keras.layers.recurrent import _time_distributed_dense
from keras.preprocessing.image import apply_transform, flip_axis, list_pictures
from keras.utils.conv_utils import normalize_data_format
from keras.utils.test_utils import keras_test

turn = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 1]])
answers["names of 2017"] = [
    _obtain_input_shape(None, 9, 3, "channels_last", include_top=True),
    K.eval(relu6(K.constant([7.0]))).tolist(), isinstance(twice, topology.Container), topology._to_list(3),
    topology.load_weights_from_hdf5_group_by_name.__name__, training._make_batches(3, 2), normalize_data_format(None),
    K.eval(_time_distributed_dense(K.ones((1, 2, 3)), K.ones((3, 1)), input_dim=3, timesteps=2, output_dim=1)).tolist(),
    apply_transform(np.arange(4.0).reshape(2, 2, 1), turn, 2)[..., 0].tolist(), keras_test(lambda: 3)(),
]
print(json.dumps(answers))
"""


def run(folder: Path, source: str, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a script under `parallel-compat run` in a folder."""
    (folder / "script.py").write_text(source)
    return scripts.run("--quiet", *options, "script.py", folder=folder, **environment)


@pytest.mark.parametrize("era", ERAS)
def test_one_script(era: str, tmp_path: Path) -> None:
    (tmp_path / "keras.json").write_text('{"backend": "theano", "floatx": "float32"}')
    done = run(tmp_path, SCRIPT, "--era", era, "--replicas", "3", KERAS_HOME=str(tmp_path))
    assert done.returncode == 0, done.stderr[-3000:]
    assert "Keras runs on TensorFlow; " in done.stderr
    assert "keras.json asks for theano." in done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == {
        # w = 0 first, so its sum is 0; after the first step each weight is counter 0; then 1 + 0; then 2 + 1.
        "a counter that a condition restarts": 1.0,
        "all reads before all writes": [[0.0] * 4, [1.0] * 4, [3.0] * 4],
        "the second call's average comes last": pytest.approx(5.0 if era == "keras-2.2.4" else 0.0797, abs=1e-4),
        "few operations wait for many": True,  # one waits for all, and each of 24 averages for that one
        "a history in JSON": ["loss"],
        "promotion": ["float32", "float64", "float64", "float32", "float64"],
        "printed": "{'a': 0.5, 'b': 2.0}",
        "ragged": [[2], "object"],
        "no copy": [1.0, 2.0],
        "names": [2, 1.0, True, ["u", "v"], True, [97, 98]],
        "mode": "r+",
        "attributes": ["bytes", "S"],
        "texts": ["café", "café", True],
        "loaded": True,
        "yaml": 2,
        "a variable is true": True,
        "a variable is one": True,
        "a tensor has no length": era == "keras-2.2.4",
        "in place": [1.0],
        "begins with another's value": [3.0],
        "backend": ["tensorflow", "float32", "channels_last"],
        "sparse": True,
        "gpus": 3,
        "convolutions of channels first": [[[[9.0]]]],
        "statistics with axes of size 1": 5.0,
        "axes of 64 bits": [[2.0, 2.0]],
        "names of 2017": [
            *([9, 9, 3], [6.0], True, [3], "load_weights_from_hdf5_group_by_name", [[0, 2], [2, 3]], "channels_last"),
            *([[[3.0], [3.0]]], [[0.0, 2.0], [1.0, 3.0]], 3),
        ],
    }


@pytest.mark.parametrize("era", ERAS)
def test_a_model_made_in_a_device_scope_without_simulated_gpus(era: str, tmp_path: Path) -> None:
    source = """
import tensorflow as tf
from keras.layers import BatchNormalization
from keras.models import Sequential

with tf.device("/cpu:0"):
    print(Sequential([BatchNormalization(input_shape=(2, 2, 1))]).output_shape)
"""
    done = run(tmp_path, source, "--era", era)
    assert done.stdout.splitlines() == ["(None, 2, 2, 1)"], done.stderr[-3000:]


SEEDED = """
import json
import numpy as np
import tensorflow as tf
from keras.layers import BatchNormalization, Dense, Dropout, Embedding, LSTM, Lambda, SimpleRNN
from keras.models import Sequential

tf.set_random_seed(3)
np.random.seed(3)
x, y = np.random.randint(0, 10, (16, 5)), np.random.rand(16, 1)
found = []
for _ in range(2):
    model = Sequential([Embedding(10, 3, input_length=5), LSTM(4), Dropout(0.3)])
    model.add(BatchNormalization())
    model.add(Lambda(lambda t: t + tf.random_normal(tf.shape(t))))
    model.add(Dense(1))
    model.compile("sgd", "mse")
    found += model.fit(x, y, verbose=0, epochs=1, batch_size=16).history["loss"]
scale = tf.get_variable("scale", (2,), initializer=tf.ones_initializer())
drawn = scale * tf.random_normal((2,)) + tf.nn.dropout(tf.ones(2), 0.5)
output, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(2), tf.ones((1, 3, 2)), dtype=tf.float32)
tf.train.ExponentialMovingAverage(0.9).apply([scale])
table = tf.get_variable("table", (3, 2))
twice = tf.nn.embedding_lookup(table, [1]) + tf.nn.embedding_lookup(table, [2])
tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(twice))
tf.train.Saver()
drawn = tf.concat([drawn, tf.reshape(output[0, -1], [-1]), twice[0], tf.random_normal((1,))], 0)
mapped = tf.Variable(tf.map_fn(lambda each: 2 * each, scale.initialized_value()))  # a loop in an initial value
drawn = tf.concat([drawn, mapped + tf.random_normal((2,))], 0)
recurrent = Sequential([SimpleRNN(2, input_shape=(3, 2)), Dense(1)])
tf.gradients(recurrent.output, recurrent.trainable_weights)  # of a loop that reads variables
drawn = tf.concat([drawn, tf.random_normal((1,))], 0)
tf.train.polynomial_decay(0.1, tf.train.get_or_create_global_step(), 5)
drawn = tf.concat([drawn, tf.random_normal((1,))], 0)
tf.layers.batch_normalization(tf.ones((3, 2)), training=tf.placeholder_with_default(False, ()))
drawn = tf.concat([drawn, tf.random_normal((1,))], 0)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    found += session.run(drawn).tolist()
print(json.dumps([float(value) for value in found]))
"""


# What Keras 2.2.4 and 2.3.1 gave on TensorFlow 1.15.5.
DRAWN = {
    "keras-2.2.4": [
        *(1.484870911, 2.662382126, 1.589940548, -0.133885488, 0.018000755, -0.251478523, 0.045943439),
        *(1.366718769, 1.83588028, 3.7695303, 2.87978792, 0.322451681, 1.07909894, -1.10238898),
    ],
    "keras-2.3": [
        *(1.502655029, 2.856150389, 0.561761856, 0.007757237, -0.026355425, -0.592806101, 1.678045273),
        *(0.004409134, -0.692128778, 0.776236773, 1.565648317, 0.227465019, -0.548514366, 0.498175889),
    ],
}


@pytest.mark.parametrize("era", DRAWN)
def test_the_script_s_own_draws_follow_the_seed(tmp_path: Path, era: str) -> None:
    """`tf.set_random_seed` gives an operation the number of those before it: they are counted as in TensorFlow 1."""
    done = run(tmp_path, SEEDED, "--era", era)
    assert done.returncode == 0, done.stderr[-3000:]
    assert json.loads(done.stdout.splitlines()[-1]) == pytest.approx(DRAWN[era], rel=1e-5, abs=1e-6)


def test_packages_inside_the_script_s_folder_do_not_draw_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A virtual environment beside the script has sources that draw: TensorFlow's own."""
    fetched: list[str] = []
    script, library = tmp_path / "train.py", tmp_path / "venv/lib/site-packages/library.py"
    library.parent.mkdir(parents=True)
    script.write_text("tf.set_random_seed(1)\n")
    library.write_text("tf.random_normal((2,))\n")
    for name, file in (("__main__", script), ("library_that_draws", library)):
        module = ModuleType(name)
        module.__file__ = str(file)
        monkeypatch.setitem(sys.modules, name, module)
    operations._sets_seed(lambda: fetched.append("1.15"), lambda seed: None, 1)
    assert not fetched
    other = tmp_path / "noise.py"
    other.write_text("tf.random_normal((2,))\n")
    monkeypatch.setattr(sys.modules["library_that_draws"], "__file__", str(other))
    operations._sets_seed(lambda: fetched.append("1.15"), lambda seed: None, 1)
    assert fetched == ["1.15"]


_BY_NAME = """
import json
import keras
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 2], name="x")
w = tf.Variable([[1.0], [2.0]], name="w")
out = tf.matmul(x, w, name="out")
found = {}
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    named = tf.get_default_graph().get_tensor_by_name("w:0")
    found["named"] = [named.name, session.run(["w:0", {"w": w.name}]), session.run(named * 2.0)]
    found["gradient"] = session.run(tf.gradients(out, named), {x: [[3.0, 4.0]]})
    found["fed"] = [session.run(out, {"x:0": [[1.0, 1.0]], of: [[0.0], [7.0]]}) for of in (w, "w:0")]
    found["handle"] = session.run(w.op.outputs[0])
    keras.backend.set_session(session)
    found["function"] = keras.backend.function([x], [out, w])([[[1.0, 1.0]]])
    session.run(tf.assign(named, [[5.0], [6.0]]))
    tf.train.Saver().save(session, "./model")
tf.reset_default_graph()
with tf.Session() as session:
    tf.train.import_meta_graph("model.meta").restore(session, "model")
    found["restored"] = session.run(["w:0", "out:0"], {"x:0": [[1.0, 1.0]]})
print(json.dumps(found, default=lambda value: value.tolist()))
"""


def test_variables_are_found_by_their_names(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(_BY_NAME)
    done = scripts.run("--quiet", "--era", "keras-2.2.4", "script.py", folder=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    assert json.loads(done.stdout.splitlines()[-1]) == {  # as Keras 2.2.4 with TensorFlow 1.15.5 printed it
        "named": ["w:0", [[[1.0], [2.0]], {"w": [[1.0], [2.0]]}], [[2.0], [4.0]]],
        "gradient": [[[3.0], [4.0]]],
        "fed": [[[7.0]], [[7.0]]],
        "handle": [[1.0], [2.0]],
        "function": [[[3.0]], [[1.0], [2.0]]],
        "restored": [[[5.0], [6.0]], [[11.0]]],
    }


_PICTURES = """
import json
import keras
import numpy as np
import tensorflow as tf
from keras.preprocessing.image import ImageDataGenerator

np.random.seed(3)
draw = np.random.RandomState(0)
x, y = draw.rand(50, 8, 8, 1).astype("float32"), draw.rand(50, 2)
layers = [keras.layers.Flatten(input_shape=(8, 8, 1)), keras.layers.Dense(2, kernel_initializer="ones")]
model = keras.models.Sequential(layers)
model.compile("sgd", "mse")
pictures = ImageDataGenerator(horizontal_flip=True, width_shift_range=0.2).flow(x, y, batch_size=8)
history = model.fit_generator(pictures, steps_per_epoch=6, epochs=3, verbose=0).history["loss"]
in_order = ImageDataGenerator().flow(x, y, batch_size=8, shuffle=False)
loss = model.evaluate_generator(in_order, steps=7)
kinds = [isinstance(pictures, each.utils.Sequence) for each in (keras, tf.keras)]
in_order = ImageDataGenerator().flow(x, y, batch_size=8, shuffle=False)
print(json.dumps([history, loss, kinds, np.isclose(model.evaluate_generator(in_order), loss)], default=bool))
"""


def test_batches_of_pictures_come_in_the_iterator_s_order(tmp_path: Path) -> None:
    """As Sequences of Keras's own they came in an order that `random` drew: no run repeated itself."""
    (tmp_path / "script.py").write_text(_PICTURES)
    done = scripts.run("--quiet", "--era", "keras-2.2.4", "script.py", folder=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    history, loss, kinds, is_same = json.loads(done.stdout.splitlines()[-1])
    # Keras 2.2.4 with TensorFlow 1.15.5 printed these; the last one needs a number of steps there.
    np.testing.assert_allclose(history, [478.41247304280597, 40.56774502708798, 4.384509972163609], rtol=1e-6)
    np.testing.assert_allclose(loss, 1.1614905071258546, rtol=1e-5)
    assert kinds == [False, True]
    assert is_same
