"""Code of Keras for TensorFlow 2 that switches eager execution off, or has sessions, by way of `tf.compat.v1`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

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


@pytest.mark.parametrize("off", OFF)
def test_models_train_as_in_a_graph(off: str, run: Run, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(TRAINED.replace("OFF", off))
    done = run("--quiet", "script.py")
    assert done.returncode == 0, done.stderr
    received = json.loads(done.stdout.splitlines()[-1])
    for expected, numbers in zip(EXPECTED, received, strict=True):
        np.testing.assert_allclose(numbers, expected, rtol=2e-5)
    assert ("TensorFlow 2.2 without eager execution" in done.stderr) == ("disable_eager" in off)


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
    print(session.graph is g)
""")
    done = run("--quiet", "script.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["[[3.0, 3.0]] 9.0", "8.0", "True"]


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
""")
    done = run("--quiet", "script.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["[[4.0]] [[2.0, 2.0]]"]


def test_a_source_without_keras_has_the_graphs_themselves(run: Run, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("""
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()
fed = tf.placeholder(tf.float32, ())
result = fed * tf.get_variable("v", initializer=2.0)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    print(session.run(result, {fed: 4.0}))
""")
    done = run("--quiet", "script.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["8.0"]
