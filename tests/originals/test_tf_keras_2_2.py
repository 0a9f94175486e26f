"""tf.keras of TensorFlow 2.2 runs on today's TensorFlow: what each of its mends is for."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests import scripts

if TYPE_CHECKING:
    from pathlib import Path

PRELUDE = """
import json
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import backend as K, layers as L

answers = {}
draw = np.random.RandomState(1)
steps, rows = draw.normal(size=(16, 4, 3)).astype("float32"), draw.normal(size=(16, 3)).astype("float32")
targets = draw.normal(size=(16, 1)).astype("float32")


def compiled(model, optimizer="sgd"):
    model.compile(optimizer, "mse")
    return model


def fitted(model, x=rows, **options):
    return model.fit(x, targets[: len(x)], verbose=0, shuffle=False, **options).history["loss"]


def dense(units=1):
    return compiled(keras.Sequential([L.Dense(units, kernel_initializer="ones", input_shape=(3,))]))
"""

GRAPHS = """
recurrent = [L.Masking(input_shape=(4, 3)), L.LSTM(2, return_sequences=True), L.GRU(2)]
model = compiled(keras.Sequential([*recurrent, L.Dense(1)]))
first, second = fitted(model, steps, epochs=2)
answers["recurrent layers train"] = second < first
inputs = keras.Input((3,))
loss = tf.nn.sigmoid_cross_entropy_with_logits(inputs, tf.add(inputs, 1.0) + inputs)
added = [layer.name for layer in keras.Model(inputs, loss).layers if "op_layer_Add" in layer.name]
answers["layers of additions"] = added
answers["ragged"] = tf.add(tf.ragged.constant([[1], [2, 3]]), 1).to_list()

tf.random.set_seed(7)
model = keras.Sequential([L.Dense(5, input_shape=(4,)), L.Dropout(0.5), L.Dense(1)])
model.set_weights([np.full(weight.shape, 0.1) for weight in model.get_weights()])
compiled(model)
inputs = np.arange(56.0).reshape(14, 4) / 56
model.fit(inputs, inputs[:, :1], batch_size=5, verbose=0, shuffle=False)
answers["draws of train_on_batch"] = [model.train_on_batch(inputs[:size], inputs[:size, :1]) for size in (14, 5, 3)]

layer = L.GRU(4, recurrent_dropout=0.5)
drawing = tf.function(lambda x: layer(x, training=True)).get_concrete_function(steps).graph.get_operations()
answers["turns of a loop that draws"] = [op.get_attr("parallel_iterations") for op in drawing if "While" in op.type]

model = dense()
function = K.function([model.input], [model.output * 2])
answers["function over placeholders"] = np.allclose(function([rows])[0], 2 * rows.sum(1, keepdims=True), atol=1e-5)

tf.config.experimental_run_functions_eagerly(True)
answers["eagerly"] = [dense().run_eagerly]
of_operation = keras.Model(inputs := keras.Input((3,)), inputs + 1)
answers["eagerly, an operation"] = np.allclose(of_operation(tf.constant(rows)), rows + 1)
tf.config.experimental_run_functions_eagerly(False)
answers["eagerly"].append(dense().run_eagerly)

from tensorflow.compat.v1.train import Saver
from tensorflow.distribute import MirroredStrategy
from tensorflow.python import gen_sparse_ops
from tensorflow.python.eager.tape import record_operation
from tensorflow.python.framework.graph_util import convert_variables_to_constants
from tensorflow.python.keras.backend import is_placeholder
answers["names"] = [Saver is tf.compat.v1.train.Saver, MirroredStrategy is tf.distribute.MirroredStrategy]
answers["placeholders"] = [is_placeholder(K.placeholder((1,))), is_placeholder(K.variable(1))]
answers["kernels for GPUs"] = L.LSTM(1, activation=tf.tanh, recurrent_activation=tf.sigmoid)._could_use_gpu_kernel

with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    model = keras.Sequential([L.LSTM(2, input_shape=(4, 3)), L.Dense(1)])
    session.run(tf.compat.v1.global_variables_initializer())
    session.run(model.output, {model.input: steps})
    answers["a size that is true"] = tf.compat.v1.placeholder("float32", (3, True)).shape.as_list()
    gradients = tf.gradients(model.output, model.trainable_weights)
    answers["gradients after a session has run"] = len(session.run(gradients, {model.input: steps}))
    output = tf.compat.v1.layers.dense(tf.constant(rows), 2, kernel_initializer=tf.compat.v1.ones_initializer())
    session.run(tf.compat.v1.global_variables_initializer())
    answers["layers of TensorFlow 1"] = np.allclose(session.run(output)[:, 1], rows.sum(1), atol=1e-5)

read = []
def generator():
    while True:
        read.append(1)
        yield rows[:4], targets[:4]
dense().fit(generator(), steps_per_epoch=3, verbose=0, workers=0)
answers["batches that are read"] = len(read)

columns = [tf.feature_column.numeric_column("a"), tf.feature_column.embedding_column(
    tf.feature_column.categorical_column_with_vocabulary_list("b", ["x", "y"]), 2)]
features = {"a": rows[:, 0], "b": np.array(["x", "y"] * 8)}
model = compiled(keras.Sequential([L.DenseFeatures(columns), L.Dense(1)]))
model.fit(tf.data.Dataset.from_tensor_slices((features, targets)).batch(4), verbose=0)
answers["feature columns"] = [list(w.shape) for w in model.weights]

keras.mixed_precision.experimental.set_policy("mixed_float16")
model = compiled(keras.Sequential([L.Dense(2, input_shape=(3,)), L.Dense(1, dtype="float32")]))
fitted(model)
answers["mixed precision"] = [model.layers[0].output.dtype.name, model.weights[0].dtype.name]
model.save("mixed")
loaded = keras.models.load_model("mixed")
answers["mixed precision, saved"] = np.allclose(loaded.predict(rows), model.predict(rows), atol=1e-3)
model.save_weights("weights")
model.load_weights("weights").assert_consumed()


class Product(L.Layer):
    def build(self, shape):
        self.factor = self.add_weight("factor", (), initializer="ones")

    def call(self, inputs):
        answers["mixed precision, dtype"] = isinstance(self.factor.dtype, tf.DType)
        return tf.function(lambda x, factor: x * factor)(inputs, self.factor)


layer = Product()
with tf.GradientTape() as tape:
    total = tf.reduce_sum(layer(tf.ones((2, 1))))
answers["mixed precision, passed"] = float(tape.gradient(total, layer.factor))
answers["initialized value"] = float(layer.factor.initialized_value())
keras.mixed_precision.experimental.set_policy("float32")
answers["loss scale"] = isinstance(model.optimizer.loss_scale, tf.mixed_precision.experimental.DynamicLossScale)

recall = keras.metrics.Recall()
answers["a list as weights"] = float(recall([1.0, 1.0], [0.9, 0.1], sample_weight=[0.25, 0.75]))

try:
    tf.estimator
except AttributeError as error:
    answers["gone"] = "What to do" in str(error)
try:
    keras.estimator.model_to_estimator(model)
except NotImplementedError as error:
    answers["estimators"] = "What to do" in str(error)
answers["version"] = [tf.__version__, tf.version.VERSION, keras.__version__]
print(json.dumps(answers))
"""

FILES = """
import os

import h5py


class Scale(L.Layer):
    def build(self, shape):
        self.scale = self.add_weight("scale", (shape[-1],), initializer="ones")
        super().build(shape)

    def call(self, inputs):
        self.add_loss(tf.reduce_sum(self.scale) * 0.1)
        return inputs * self.scale


model = compiled(keras.Sequential([Scale(input_shape=(3,)), L.Dense(2), L.BatchNormalization(), L.Dense(1)]), "adam")
fitted(model)
model.save("saved")
loaded = keras.models.load_model("saved")
equal = np.allclose(loaded.predict(rows), model.predict(rows), atol=1e-6)
answers["saved model"] = [equal, [w.name for w in loaded.weights][:2]]
answers["it trains"] = len(fitted(loaded, epochs=2))
plain = tf.saved_model.load("saved")
answers["as a function"] = np.allclose(plain(rows), model.predict(rows), atol=1e-6)



class Dropping(keras.Model):
    def __init__(self):
        super().__init__()
        self.drop, self.out = L.Dropout(0.5), L.Dense(1)

    def call(self, inputs, **options):
        return self.out(self.drop(inputs, **options))


dropping = compiled(Dropping())
fitted(dropping)
dropping.save("dropping")
answers["saved with dropout"] = np.allclose(keras.models.load_model("dropping").predict(rows), dropping.predict(rows))

path = tf.train.Checkpoint(model=model, optimizer=model.optimizer).save("checkpoints/at")
names = [name for name, _ in tf.train.list_variables(path)]
answers["functions in checkpoints"] = [name for name in names if "function" in name]
before = model.predict(rows)
fitted(model)
tf.train.Checkpoint(model=model, optimizer=model.optimizer).restore(path).assert_consumed()
answers["checkpoint"] = [np.allclose(model.predict(rows), before, atol=1e-6), int(model.optimizer.iterations)]

words = L.experimental.preprocessing.TextVectorization(max_tokens=9, output_sequence_length=2)
words.adapt(np.array([["a b"], ["b"], ["b"]]))
answers["words"] = keras.Sequential([L.Input((1,), dtype="string"), words]).predict(np.array([["b a"]])).tolist()

try:
    keras.models.load_model(h5py.File("absent.h5", "r"))
except OSError as error:
    answers["a file that is not there"] = error.args[0].split(" (")[0]

os.mkdir("folder.h5")
for path in ("folder.h5", "absent/file.h5"):
    try:
        fitted(dense(), callbacks=[keras.callbacks.ModelCheckpoint(path)])
    except OSError as error:
        answers[path] = str(error).split(" for ")[0]  # of the second path nothing is said

model = compiled(keras.Sequential([L.Dense(1, input_shape=(3,), name="out")]))
answers["yaml"] = keras.models.model_from_yaml(model.to_yaml()).layers[0].units  # it has a TensorShape
model.fit(rows, targets, verbose=0, callbacks=[keras.callbacks.TensorBoard("logs", histogram_freq=1, profile_batch=0)])
events = [os.path.join(folder, file) for folder, _, files in os.walk("logs") for file in files]
written = [event for file in events for event in tf.compat.v1.train.summary_iterator(file)]
answers["TensorBoard"] = sorted({value.tag for event in written for value in event.summary.value})
print(json.dumps(answers, default=bool))
"""

DEVICES = """
gpus = tf.config.list_physical_devices("GPU")
for gpu in gpus:
    tf.config.experimental.set_memory_growth(gpu, True)
answers["GPUs"] = [len(gpus), len(tf.config.experimental.list_logical_devices("GPU"))]
with tf.device("/gpu:1"):
    answers["on a GPU"] = float(tf.constant(1.0) + 1)
    convolved = K.conv2d(K.ones((1, 1, 2, 2)), K.ones((1, 1, 1, 1)), data_format="channels_first")
    answers["channels first"] = float(K.sum(convolved))


def trained(strategy):
    with strategy.scope():
        model = compiled(keras.Sequential([L.Dense(1, kernel_initializer="ones", input_shape=(3,))]))
    return [strategy.num_replicas_in_sync, *np.round(fitted(model, epochs=2, batch_size=8), 4).tolist()]


answers["one"] = trained(tf.distribute.get_strategy())
answers["mirrored"] = trained(tf.distribute.MirroredStrategy())
answers["by name"] = trained(tf.distribute.MirroredStrategy(["/gpu:0", "/gpu:1"]))
answers["one device"] = trained(tf.distribute.OneDeviceStrategy("/gpu:1"))
answers["central storage"] = trained(tf.distribute.experimental.CentralStorageStrategy())
parallel = keras.utils.multi_gpu_model(dense(), 2)
answers["towers"] = np.round(fitted(compiled(parallel), epochs=2, batch_size=8), 4).tolist()
print(json.dumps(answers))
"""


def answers_of(script: str, folder: Path, *options: str) -> dict[str, object]:
    """Return what a script prints last, run as one of tf.keras 2.2."""
    (folder / "script.py").write_text(PRELUDE + script)
    done = scripts.run("--quiet", "--era", "tf.keras-2.2", *options, "script.py", folder=folder)
    assert done.returncode == 0, done.stderr[-3000:]
    answers: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return answers


def test_graphs(tmp_path: Path) -> None:
    answers = answers_of(GRAPHS, tmp_path)
    assert answers.pop("draws of train_on_batch") == pytest.approx([0.099778518, 0.010695411, 0.015843706], rel=1e-5)
    assert answers == {
        "recurrent layers train": True,
        "layers of additions": ["tf_op_layer_Add", "tf_op_layer_AddV2", "tf_op_layer_Add_1"],
        "ragged": [[2], [3, 4]],
        "turns of a loop that draws": [1],
        "function over placeholders": True,
        "eagerly": [True, False],
        "eagerly, an operation": True,
        "names": [True, True],
        "placeholders": [True, False],
        "kernels for GPUs": True,
        "gradients after a session has run": 5,
        "a size that is true": [3, 1],
        "layers of TensorFlow 1": True,
        "batches that are read": 3,
        "feature columns": [[2, 2], [3, 1], [1]],
        "mixed precision": ["float16", "float32"],
        "mixed precision, saved": True,
        "mixed precision, dtype": True,
        "mixed precision, passed": 2.0,
        "initialized value": 1.0,
        "loss scale": True,
        "a list as weights": 0.25,
        "gone": True,
        "estimators": True,
        "version": ["2.2.3", "2.2.3", "2.3.0-tf"],
    }


def test_files(tmp_path: Path) -> None:
    assert answers_of(FILES, tmp_path) == {
        "saved model": [True, ["scale/scale:0", "dense/kernel:0"]],
        "it trains": 2,
        "as a function": True,
        "saved with dropout": True,
        "functions in checkpoints": [],
        "checkpoint": [True, 1],
        "words": [[2, 3]],
        "a file that is not there": "Unable to open file",
        "folder.h5": "Please specify a non-directory filepath",
        "yaml": 1,
        "TensorBoard": ["epoch_loss", "keras", "out/bias_0", "out/kernel_0"],
    }


def test_simulated_gpus(tmp_path: Path) -> None:
    answers = answers_of(DEVICES, tmp_path, "--replicas", "2")
    one = answers["one"][1:]  # type: ignore[index]
    assert answers == {
        "GPUs": [2, 2],
        "on a GPU": 2.0,
        "channels first": 4.0,
        "one": [1, *one],
        "mirrored": [2, *one],
        "by name": [2, *one],
        "one device": [1, *one],
        "central storage": [2, *one],
        "towers": one,
    }


@pytest.mark.parametrize("era", ["tf.keras-2.2"])
def test_no_name_is_missing(era: str) -> None:
    done = scripts.python("-m", "tests.evidence.missing_names", era, folder=scripts.PROJECT, keras=False)
    assert done.returncode == 0, done.stdout
