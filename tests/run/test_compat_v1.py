"""Code of Keras for TensorFlow 2 that switches eager execution off, or has sessions, by way of `tf.compat.v1`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import tensorflow as tf

import parallel_compat
from parallel_compat.legacy import execution
from parallel_compat.names.eras import Era
from parallel_compat.run import object_eras

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from subprocess import CompletedProcess

    Run = Callable[..., CompletedProcess[str]]

TRAINED = """
import json
import numpy as np
OFF
from tensorflow.keras import backend as K, layers, models, optimizers

np.random.seed(0)
x, y = np.random.rand(20, 4).astype("float32"), np.random.rand(20, 2).astype("float32")
inputs = layers.Input((4,))
hidden = layers.Dense(3, activation="tanh")(inputs)
outputs = layers.Dense(2)(hidden)
model = models.Model(inputs, outputs)
model.set_weights([np.full(w.shape, 0.1) for w in model.get_weights()])
model.add_loss(K.mean(K.square(hidden)) * 0.1)
model.compile(optimizers.Adam(0.1), "mse")
found = [model.fit(x, y, epochs=2, verbose=0, shuffle=False).history["loss"], [model.evaluate(x, y, verbose=0)]]
found.append(K.function([model.input], [K.gradients(outputs, inputs)[0]])([x])[0][0].tolist())
print(json.dumps(found))
"""
# Printed by TensorFlow 2.2.3, with each of the two ways to switch it off, and by TensorFlow 1.15.5.
EXPECTED = [
    [0.19278958439826965, 0.11048069596290588],
    [0.14843283593654633],
    [0.20942864, 0.19117118, 0.2219308, 0.16901913],
]
OFF = (
    "import tensorflow as tf; tf.compat.v1.disable_eager_execution()",
    "import tensorflow.compat.v1 as tf; tf.disable_v2_behavior()",
)


@pytest.mark.parametrize("off", [OFF[0], pytest.param(OFF[1], marks=pytest.mark.slow)])
def test_models_train_as_in_a_graph(off: str, run: Run, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(TRAINED.replace("OFF", off))
    done = run("--quiet", "script.py")
    assert done.returncode == 0, done.stderr
    received = json.loads(done.stdout.splitlines()[-1])
    for expected, numbers in zip(EXPECTED, received, strict=True):
        np.testing.assert_allclose(numbers, expected, rtol=2e-5)


LOOP_OF_1 = """
import json
import numpy as np, tensorflow as tf
tf.compat.v1.disable_eager_execution()
from tensorflow import keras
from tensorflow.keras import layers

x = np.random.RandomState(0).rand(22, 4).astype("float32")
y, z = x.sum(1), (x[:, :1] > 0.5).astype("float32")
found = {}


class Logs(keras.callbacks.Callback):
    def on_train_begin(self, logs=None):
        found["params"] = {name: value for name, value in self.params.items() if name != "metrics"}

    def on_batch_end(self, batch, logs=None):
        found.setdefault("batches", []).append({name: float(value) for name, value in logs.items()})

    def on_test_batch_end(self, batch, logs=None):
        found.setdefault("sizes", []).append(int(logs["size"]))


def filled(model):
    numbers = np.random.RandomState(3)
    model.set_weights([numbers.uniform(0.1, 0.5, each.shape) for each in model.get_weights()])
    return model


inputs = keras.Input((4,))
hidden = layers.Dense(3, activation="tanh")(inputs)
outputs = [layers.Dense(1, name="a")(hidden), layers.Dense(1, activation="sigmoid", name="b")(hidden)]
model = filled(keras.Model(inputs, outputs))
model.compile("sgd", {"a": "mse", "b": "binary_crossentropy"}, metrics={"a": "mae", "b": "accuracy"})
found["names"] = model.metrics_names
np.random.seed(1)
history = model.fit(x, [y, z], batch_size=10, verbose=0, validation_split=0.3, callbacks=[Logs()]).history
found["history"] = {name: float(values[0]) for name, values in history.items()}


def batches():
    while True:
        yield x[:8], [y[:8], z[:8]]


model.fit(batches(), steps_per_epoch=1, verbose=0, validation_data=batches(), validation_steps=1, callbacks=[Logs()])
found["sum"] = float(model.train_on_batch(x, [y, z])[0])


def frozen(called_again, before=False):
    normalization = layers.BatchNormalization()
    base = filled(keras.Sequential([layers.Dense(3, input_shape=(4,)), normalization]))
    if before:
        normalization.trainable = False
    inputs = keras.Input((4,))
    model = keras.Model(inputs, base(inputs)) if called_again else base
    normalization.trainable = False
    model.compile("sgd", "mse")
    return float(model.fit(x, np.stack([y] * 3, 1), batch_size=11, verbose=0, shuffle=False).history["loss"][0])


found["frozen"] = [frozen(False), frozen(True), frozen(True, before=True)]
print(json.dumps(found))
"""
# What TensorFlow 2.2.3 printed.
OF_TENSORFLOW_2_2 = """
{
 "names": ["loss", "a_loss", "b_loss", "a_mae", "b_accuracy"],
 "params": {"batch_size": null, "epochs": 1, "steps": 1, "samples": 1, "verbose": 0, "do_validation": true},
 "batches": [
  {"batch": 0.0, "size": 10.0, "loss": 2.4377186,
   "a_loss": 1.7370007, "b_loss": 0.70071799, "a_mae": 1.2601378, "b_accuracy": 0.60000002},
  {"batch": 1.0, "size": 5.0, "loss": 2.8150482,
   "a_loss": 1.9364624, "b_loss": 0.68992102, "a_mae": 1.2891556, "b_accuracy": 0.60000002},
  {"batch": 0.0, "size": 8.0, "loss": 2.7447858,
   "a_loss": 2.0682006, "b_loss": 0.67658532, "a_mae": 1.3835132, "b_accuracy": 0.625}
 ],
 "sizes": [7, 8],
 "history": {"loss": 2.5634952, "a_loss": 1.9364624, "b_loss": 0.68992102, "a_mae": 1.2891556,
   "b_accuracy": 0.60000002,
  "val_loss": 1.6250536, "val_a_loss": 0.8237049, "val_b_loss": 0.80134881, "val_a_mae": 0.77188033,
   "val_b_accuracy": 0.42857143},
 "sum": 1.9152405,
 "frozen": [3.0145022, 3.0145022, 2.2077411]
}
"""


@pytest.mark.slow
def test_without_eager_execution_tensorflow_2_trains_in_the_loop_of_1(run: Run, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(LOOP_OF_1)
    done = run("--quiet", "script.py")
    assert done.returncode == 0, done.stderr
    received = json.loads(done.stdout.splitlines()[-1])
    expected = json.loads(OF_TENSORFLOW_2_2)
    for name in ("params", "names", "sizes"):
        assert received[name] == expected[name]
    assert [list(each) for each in received["batches"]] == [list(each) for each in expected["batches"]]
    assert list(received["history"]) == list(expected["history"])
    for name in ("history", "batches", "sum", "frozen"):
        np.testing.assert_allclose(_numbers(received[name]), _numbers(expected[name]), rtol=2e-5)


def _numbers(found: Any) -> list[float]:
    parts = found.values() if isinstance(found, dict) else found if isinstance(found, list) else None
    return [float(found)] if parts is None else [number for part in parts for number in _numbers(part)]


@pytest.mark.slow
def test_sessions_that_serve_keras_and_those_of_graphs(run: Run, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("""
import numpy as np, tensorflow as tf
config = tf.compat.v1.ConfigProto()
config.gpu_options.allow_growth = True
session = tf.compat.v1.Session(config=config)
tf.compat.v1.keras.backend.set_session(session)
graph = tf.compat.v1.get_default_graph()
tf.compat.v1.reset_default_graph()
model = tf.keras.models.Sequential([tf.keras.layers.Dense(2, input_shape=(3,), kernel_initializer="ones")])
model.compile("sgd", "mse")
session.run(tf.compat.v1.global_variables_initializer())
with graph.as_default():
    print(model.predict(np.ones((1, 3))).tolist(), model.train_on_batch(np.ones((2, 3)), np.zeros((2, 2))))
with tf.Graph().as_default() as g:
    fed = tf.compat.v1.placeholder(tf.float32, ())
    result = fed * tf.compat.v1.get_variable("v", initializer=2.0)
    assert tf.compat.v1.get_default_graph() is g
    with tf.compat.v1.Session() as session:
        session.run(tf.compat.v1.global_variables_initializer())
        print(session.run(result, {fed: 4.0}))
with tf.compat.v1.Session(graph=g) as session:
    session.run("init")
    print(session.run("mul:0", {"Placeholder:0": 3.0}))
""")
    done = run("--quiet", "script.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["[[3.0, 3.0]] 9.0", "8.0", "6.0"]


@pytest.mark.slow
def test_placeholders_of_code_of_keras_are_fed_without_a_graph(run: Run, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("""
import numpy as np, tensorflow.compat.v1 as tf
from tensorflow.keras import layers, models
tf.disable_eager_execution()
model = models.Sequential([layers.Dense(1, input_shape=(2,), kernel_initializer="ones")])
fed = tf.placeholder(tf.float32, (None, 2))
result = model(fed * 2.0)
gradient = tf.gradients(result, fed)[0]
session = tf.keras.backend.get_session()
print(session.run(result, {fed: np.ones((1, 2))}).tolist(), session.run(gradient, {fed: np.ones((1, 2))}).tolist())
weight = tf.keras.backend.variable(1.0)
session = tf.keras.backend.get_session()
session.run([tf.local_variables_initializer(), tf.tables_initializer()])
found = [session.run(weight)]
for update in [tf.assign(weight, 5.0), tf.assign_add(weight, 2.0), tf.assign_sub(weight, 3.0)]:
    before = session.run(weight)
    session.run(update)
    found.append(session.run(weight) - before)
print([float(each) for each in found])
with tf.InteractiveSession() as other:
    print(other.run(tf.constant(2.0)), tf.get_default_session() is other)
""")
    done = run("--quiet", "script.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["[[4.0]] [[2.0, 2.0]]", "[1.0, 4.0, 2.0, -3.0]", "2.0 True"]


@pytest.mark.slow
def test_tests_of_tensorflow_evaluate_initializers(run: Run, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("""
import tensorflow as tf
test = tf.test.TestCase()
variable = tf.keras.backend.variable(1.0)
print(test.evaluate(tf.compat.v1.global_variables_initializer()), float(variable))
""")
    done = run("--quiet", "script.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["None 1.0"]


@pytest.mark.slow
def test_a_source_without_keras_has_the_graphs_themselves(run: Run, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("""
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()
fed = tf.placeholder(tf.float32, ())
result = fed * tf.get_variable("v", initializer=2.0)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    print(session.run(result, {fed: 4.0}), result.graph is tf.get_default_graph(), session.graph is result.graph)
""")
    done = run("--quiet", "script.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["8.0 True True"]


@pytest.mark.slow
def test_a_graph_of_its_own_in_code_of_tensorflow_1(run: Run, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("""
import tensorflow as tf
with tf.Graph().as_default() as g:
    fed = tf.placeholder(tf.float32, ())
    result = fed * tf.Variable(2.0)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        print(session.run(result, {fed: 4.0}), tf.get_default_graph() is g, session.graph is g)
with tf.Session(graph=g) as session:
    session.run("init")
    print(session.run("mul:0", {"Placeholder:0": 3.0}))
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(1,))])
""")
    done = run("--quiet", "--era", "tf.keras-1.15", "script.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["8.0 True True", "6.0"]


def test_graphs_of_tensorflow_2_end_with_the_legacy_names() -> None:
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        execution.disable_eager_execution()
        assert object_eras.trained_as(Era.TF_KERAS_2_2) is Era.TF_KERAS_1_15
    assert object_eras.trained_as(Era.TF_KERAS_2_2) is Era.TF_KERAS_2_2


def test_collections_are_not_empty_without_a_word() -> None:
    """In TensorFlow 1 they had the model's weights; in TensorFlow 2 they were empty, as they are today."""
    v1 = tf.compat.v1
    for era in ("keras-2.2.4", "tf.keras-1.15"):
        with parallel_compat.legacy_names(era=era):
            with pytest.raises(NotImplementedError, match=r"`model\.trainable_weights`"):
                v1.trainable_variables()
            with pytest.raises(NotImplementedError, match=r"`model\.losses`"):
                v1.get_collection("regularization_losses")
            with tf.Graph().as_default():
                v1.get_variable("own", (2,))
                assert len(v1.trainable_variables()) == 1
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        assert v1.global_variables() == []
