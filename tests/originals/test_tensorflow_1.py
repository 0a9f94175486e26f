"""`tf` of TensorFlow 1.15: its names, its modules and what they compute."""

from __future__ import annotations

import json
import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests import scripts

if TYPE_CHECKING:
    from pathlib import Path


def run(script: str, era: str = "tf.keras-1.15", replicas: int | None = None) -> Any:
    """Return what a script prints last, as JSON, when it runs on an original."""
    options = ["--replicas", str(replicas)] if replicas else []
    code = textwrap.dedent(script)
    done = scripts.run("--quiet", "--era", era, *options, "-c", code, folder=scripts.PROJECT)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_names_of_tensorflow_1() -> None:
    said = run(
        """
        import json
        import tensorflow as tf
        import tensorflow.train
        import tensorflow.compat.v1 as v1
        import tensorflow.compat.v1.nn
        import tensorflow.keras.layers as L
        from tensorflow.compat.v1.keras.backend import set_session
        from tensorflow.compat.v1.keras.layers import Dense
        from tensorflow.compat.v1.train import Saver
        from tensorflow import flags
        from tensorflow.keras.models import Sequential
        from tensorflow.python.client import device_lib
        from tensorflow.python.framework import ops
        from tensorflow.python.keras import backend as K
        from tensorflow.python.ops import rnn_cell_impl
        from tensorflow.examples.tutorials.mnist import input_data

        class Hook(tf.train.SessionRunHook):
            pass

        try:
            tf.estimator.Estimator(Hook)
        except NotImplementedError as error:
            refused = str(error)
        net = tf.layers.dense(tf.ones((2, 3)), 2, kernel_initializer=tf.ones_initializer())
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            value = session.run(net).tolist()
        print(json.dumps({
            "versions": [tf.__version__, tf.VERSION, tf.version.VERSION, tf.keras.__version__],
            "same": [v1 is tf.compat.v1, v1.layers is tf.layers, issubclass(L.Dense, tf.keras.layers.Layer),
                     Saver is tf.train.Saver, issubclass(Dense, tf.keras.layers.Layer),
                     issubclass(tf.nn.rnn_cell.LSTMCell, tf.keras.layers.Layer)],
            "later": [hasattr(tf, name) for name in ("GradientTape", "Module", "placeholder", "contrib", "optimizers")],
            "refused": refused,
            "value": value,
            "variables": [variable.name for variable in tf.global_variables()] + [type(tf.Variable(1.0)).__name__],
            "cells": tf.nn.rnn_cell.LSTMCell is rnn_cell_impl.LSTMCell,
        }))
        """
    )
    assert said["versions"] == ["1.15.5", "1.15.5", "1.15.5", "2.2.4-tf"]
    assert said["same"] == [True] * 6
    assert said["cells"]
    assert said["later"] == [True, True, True, True, False]
    assert "tf.estimator.Estimator" in said["refused"].replace("_", ".")
    assert "fit" in said["refused"]
    assert said["value"] == [[3, 3], [3, 3]]
    assert said["variables"] == ["dense/kernel:0", "dense/bias:0", "RefVariable"]


def test_contrib_computes_what_it_did() -> None:
    """The values are those of TensorFlow 1.15.5."""
    said = run(
        """
        import json
        import numpy as np
        import tensorflow as tf
        import tensorflow.contrib.slim as slim
        from tensorflow.contrib import rnn
        from tensorflow.contrib.layers import l2_regularizer

        images = tf.constant(np.arange(16, dtype="f4").reshape(1, 4, 4, 1) / 200)
        found = {}
        with slim.arg_scope([slim.conv2d], weights_regularizer=l2_regularizer(0.1), normalizer_fn=slim.batch_norm):
            net = slim.conv2d(images, 2, [3, 3], weights_initializer=tf.constant_initializer(0.1))
        found["slim"] = [tf.reduce_sum(net), tf.add_n(tf.losses.get_regularization_losses())]
        outputs, _ = tf.nn.dynamic_rnn(rnn.LSTMBlockCell(2), tf.ones((2, 4, 3)), dtype=tf.float32)
        found["cell"] = tf.shape(outputs)
        turned = tf.contrib.image.rotate(images, 0.5, "BILINEAR")
        found["image"] = [tf.reshape(turned, [-1])[i] for i in range(4)]
        ids = np.random.RandomState(0).randint(0, 5, (6, 2, 3)).astype("i4")
        parents = np.random.RandomState(1).randint(0, 3, (6, 2, 3)).astype("i4")
        found["beams"] = tf.contrib.seq2seq.gather_tree(ids, parents, [6, 4], 1)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            found = {name: [np.asarray(v).tolist() for v in session.run(value)] for name, value in found.items()}
        found["size"] = tf.contrib.image.rotate(tf.placeholder(tf.float32, (None, 5, 6, 3)), 0.3).shape.as_list()
        found["hparams"] = tf.contrib.training.HParams(a=1, b=[1.0]).parse("a=3").values()
        found["loaded by name"] = tf.contrib.cudnn_rnn.CudnnLSTM.__name__
        found["variables"] = [variable.name for variable in tf.trainable_variables()]
        decayed = tf.get_variable("decayed", (2,))
        loss = tf.reduce_sum(decayed**2)
        tf.contrib.opt.MomentumWOptimizer(0.1, 0.1, 0.9).minimize(loss, var_list=[decayed])
        decay = next(op for op in tf.get_default_graph().get_operations() if op.name.startswith("MomentumW/update"))
        found["decay waits"] = [op.name for op in decay.control_inputs if op.name.startswith("gradients")]
        try:
            tf.contrib.resampler.resampler(images, tf.zeros((1, 2, 2)))
        except NotImplementedError as error:
            found["refused"] = str(error)
        print(json.dumps(found))
        """
    )
    np.testing.assert_allclose(said["slim"], [4.5194225, 0.009], rtol=1e-5)
    np.testing.assert_allclose(said["image"], [0.00209662, 0.00840247, 0.02175643, 0.01535378], rtol=1e-5)
    assert said["cell"] == [2, 4, 2]
    assert said["beams"][0] == [[0, 0, 0], [1, 3, 1]]
    assert said["beams"][4:] == [
        [[0, 1, 1], [1, 1, 1]],
        [[3, 1, 1], [1, 1, 1]],
    ]
    assert said["size"] == [None, 5, 6, 3]
    assert said["hparams"] == {"a": 3, "b": [1.0]}
    assert said["loaded by name"] == "CudnnLSTM"
    assert said["variables"][:2] == ["Conv/weights:0", "Conv/BatchNorm/beta:0"]
    assert said["decay waits"]
    assert "Resampler" in said["refused"]


def test_a_seed_draws_what_it_drew() -> None:
    """Two models one after the other: the second one's draws follow from all operations of the first one's training.

    The numbers are those of TensorFlow 1.15.5.
    """
    found = run(
        """
        import json
        import numpy as np
        import tensorflow as tf

        layers = tf.keras.layers
        tf.set_random_seed(3)
        np.random.seed(3)
        x, y = np.random.rand(20, 5, 3), np.random.rand(20, 1)
        found = []
        for _ in range(2):
            model = tf.keras.Sequential([
                layers.LSTM(4, dropout=0.2, recurrent_dropout=0.2, input_shape=(5, 3)),
                layers.Dropout(0.5),
                layers.BatchNormalization(),
                layers.Dense(1, activation="sigmoid", kernel_regularizer="l2"),
            ])
            model.compile("adam", "binary_crossentropy", metrics=["mae"])
            found += model.fit(x, y, epochs=2, verbose=0, validation_split=0.2).history["loss"]
        drawn = tf.random_normal((2,)) + tf.nn.dropout(tf.ones(2), 0.5)
        with tf.Session() as session:
            found += session.run(drawn).tolist()
        print(json.dumps([float(value) for value in found]))
        """
    )
    expected = [0.845850706, 1.076574206, 0.890527844, 0.838616014, 0.970341206, 2.337123632]
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_eager_execution_trains() -> None:
    """`tf.enable_eager_execution()` at the top of a script; the numbers are those of TensorFlow 1.15.5."""
    found, name, is_loaded = run(
        """
        import json
        import tempfile
        import numpy as np
        import tensorflow as tf

        tf.enable_eager_execution()
        np.random.seed(0)
        tf.set_random_seed(1)
        layers = tf.keras.layers
        x, y = np.random.rand(20, 15).astype("f4"), np.random.rand(20, 1).astype("f4")
        model = tf.keras.Sequential([layers.Dense(1)])
        optimizer = tf.train.AdamOptimizer(0.1)
        found = []
        for inputs, targets in tf.data.Dataset.from_tensor_slices((x, y)).batch(10):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((model(inputs) - targets) ** 2)
            optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
            found.append(float(loss.numpy()))
        model = tf.keras.Sequential([layers.Reshape((5, 3), input_shape=(15,)), layers.LSTM(4), layers.Dense(1)])
        model.compile("adam", "mse")
        model.fit(x, y, epochs=2, verbose=0)
        found.append(float(model.evaluate(x, y, verbose=0)))
        doubled = tf.keras.Model(model.input, model.input + model.input)
        folder = tempfile.mkdtemp()
        model.save(folder, save_format="tf")
        loaded = tf.keras.models.load_model(folder)
        print(json.dumps([found, doubled.layers[-1].name, np.allclose(loaded.predict(x), model.predict(x), atol=1e-6)]))
        """
    )
    assert name == "tf_op_layer_add"
    assert is_loaded
    np.testing.assert_allclose(found, [0.788174748, 0.227499097, 0.396978557], rtol=1e-5)


@pytest.mark.parametrize("replicas", [None, 2])
def test_eager_execution_may_begin_after_keras_is_imported(replicas: int | None) -> None:
    """A function is traced from the eager context; the number is that of TensorFlow 1.15.5."""
    moved = run(
        """
        import json
        import tensorflow as tf
        from tensorflow.keras import layers

        tf.enable_eager_execution()
        inputs = layers.Input((1,))
        model = tf.keras.Model(inputs, layers.BatchNormalization(momentum=0.5)(inputs))

        @tf.function
        def train(x):
            return model(x, training=True)

        train(tf.constant([[3.0], [7.0]]))
        print(json.dumps(model.get_weights()[2].tolist()))
        """,
        replicas=replicas,
    )
    assert moved == [2.5]


def test_values_that_tensorflow_1_took() -> None:
    said = run(
        """
        import json
        import numpy as np
        import tensorflow as tf

        images = tf.keras.Input((4,), sparse=True)
        net = tf.keras.Model(images, tf.keras.layers.Lambda(tf.sparse.to_dense)(images))
        ragged = tf.ragged.constant([[1.0, 2.0], [3.0]])
        x, y = tf.keras.Input((2,)), tf.keras.Input((2,))
        joined = tf.keras.Model([x, y], tf.concat([tf.add_n([x, y]), y], -1))
        again = tf.keras.Model.from_config(joined.get_config())

        class Bias(tf.keras.layers.Layer):
            def build(self, shape):
                self.bias = self.add_weight("bias", (2,), initializer="ones")
                super(Bias, self).build(shape)

            def call(self, inputs):
                if self.bias:
                    outputs = inputs + self.bias
                outputs._uses_learning_phase = inputs._uses_learning_phase
                return outputs

        print(json.dumps({
            "biased": tf.keras.Sequential([Bias(input_shape=(2,))]).predict(np.ones((1, 2))).tolist(),
            "joined": again.predict([np.ones((1, 2)), np.ones((1, 2))]).tolist(),
            "tensors": [tf.is_tensor(x), tf.is_tensor(ragged), tf.contrib.framework.is_tensor(ragged)],
            "sizes": tf.TensorShape([None, 2.0, np.prod(())]).as_list(),
            "dense": net.predict(tf.SparseTensor([[0, 1]], [3.0], [1, 4]), steps=1).tolist(),
        }))
        """
    )
    assert said == {
        "biased": [[2, 2]],
        "joined": [[2, 2, 1, 1]],
        "tensors": [True, False, False],
        "sizes": [None, 2, 1],
        "dense": [[0, 3, 0, 0]],
    }


def test_tensorboard_in_eager_mode_writes_the_graph_and_a_profile(tmp_path: Path) -> None:
    said = run(
        f"""
        import json, pathlib
        import numpy as np
        import tensorflow as tf
        tf.enable_eager_execution()
        net = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        net.compile("sgd", "mse")
        board = tf.compat.v2.keras.callbacks.TensorBoard({str(tmp_path)!r}, profile_batch=1)
        net.fit(np.ones((4, 2)), np.ones((4, 1)), batch_size=2, epochs=2, callbacks=[board], verbose=0)
        folder = pathlib.Path({str(tmp_path)!r}, "train")
        print(json.dumps([len(list(folder.glob("events*.v2"))), len(list(folder.rglob("*.xplane.pb")))]))
        """
    )
    assert said == [1, 1]


def test_dropout_of_a_seed_in_eager_fit() -> None:
    """What TensorFlow 1.15.5 printed; the losses are float64, which JSON takes."""
    losses = run(
        """
        import json
        import numpy as np
        import tensorflow as tf

        tf.enable_eager_execution()
        L = tf.keras.layers
        np.random.seed(0)
        x, y = np.random.rand(8, 5).astype("f"), np.random.rand(8, 1).astype("f")
        tf.compat.v2.random.set_seed(3)
        ones = {"kernel_initializer": "ones"}
        model = tf.keras.Sequential([L.Dense(6, input_shape=(5,), **ones), L.Dropout(0.5), L.Dense(1, **ones)])
        model.compile("sgd", "mse")
        [model.train_on_batch(x, y) for _ in range(3)]
        print(json.dumps(model.fit(x, y, batch_size=4, epochs=2, verbose=0, shuffle=False).history["loss"]))
        """
    )
    np.testing.assert_allclose(losses, [0.906094491481781, 0.35887202620506287], rtol=1e-6)


def test_moving_statistics_of_towers_follow_one_another() -> None:
    """One update for the batch and one for each tower: 0.99 ** 3, in each run."""
    found = run(
        """
        import json
        import numpy as np
        import tensorflow as tf
        from tensorflow.python.keras.utils import multi_gpu_utils

        multi_gpu_utils._get_available_devices = lambda: ["/device:cpu:0", "/device:gpu:0", "/device:gpu:1"]
        tf.keras.backend.set_session(tf.Session(config=tf.ConfigProto(allow_soft_placement=True)))
        found = []
        for _ in range(6):
            model = tf.keras.Sequential([tf.keras.layers.BatchNormalization(input_shape=(4,))])
            parallel = tf.keras.utils.multi_gpu_model(model, 2)
            parallel.compile("sgd", "mse")
            parallel.train_on_batch(np.ones((4, 4)), np.ones((4, 4)))
            found.append(float(model.get_weights()[3][0]))
        print(json.dumps(found))
        """
    )
    np.testing.assert_allclose(found, [0.99**3] * 6, rtol=1e-6)


def test_the_seed_of_a_graph_serves_tf_keras_beside_keras_2_2() -> None:
    """What TensorFlow 1.15.5 printed."""
    losses = run(
        """
        import json
        import keras
        import numpy as np
        import tensorflow as tf

        tf.set_random_seed(1)
        L = tf.keras.layers
        model = tf.keras.Sequential([L.Dense(3, input_shape=(5,)), L.Dropout(0.5), L.Dense(1)])
        model.compile("sgd", "mse")
        x = np.arange(20).reshape(4, 5) / 10.0
        print(json.dumps([float(model.train_on_batch(x, np.ones((4, 1)))) for _ in range(2)]))
        """,
        era="keras-2.2.4",
    )
    np.testing.assert_allclose(losses, [0.9562839269638062, 0.7806264758110046], rtol=1e-6)


def test_a_mirrored_strategy_trains_on_simulated_gpus() -> None:
    said = run(
        """
        import json
        import numpy as np
        import tensorflow as tf

        strategy = tf.distribute.MirroredStrategy()
        L = tf.keras.layers
        with strategy.scope():
            model = tf.keras.Sequential([
                L.Dense(4, input_shape=(3,), kernel_initializer="ones", activation="relu"),
                L.BatchNormalization(),
                L.Dense(1, kernel_initializer="ones"),
            ])
            model.compile("sgd", "mse")
        np.random.seed(0)
        x = np.random.rand(16, 3).astype("float32")
        history = model.fit(x, x.sum(1, keepdims=True), batch_size=8, epochs=2, shuffle=False, verbose=0).history
        print(json.dumps([strategy.num_replicas_in_sync, history["loss"]]))
        """,
        replicas=2,
    )
    # Of TensorFlow 1.15.5, with MirroredStrategy(["/cpu:0", "/cpu:1"]).
    assert said == [2, [pytest.approx(13.4453540), pytest.approx(7.9337921)]]


@pytest.mark.parametrize("era", ["tf.keras-1.15", "tf.keras-2.2"])
def test_a_metric_of_the_user_is_updated_in_a_graph(era: str) -> None:
    said = run(
        """
        import json
        import numpy as np
        import tensorflow as tf

        class Total(tf.keras.metrics.Metric):
            def __init__(self):
                super(Total, self).__init__(name=type(self).__name__)
                self.total = self.add_weight(name="total", initializer="zeros")

            def update_state(self, y_true, y_pred, sample_weight=None):
                self.total.assign_add(tf.reduce_sum(y_true))

            def result(self):
                return self.total

        class Compiled(Total):
            @tf.function
            def update_state(self, y_true, y_pred, sample_weight=None):
                self.total.assign_add(tf.reduce_sum(y_true))

        with tf.Graph().as_default():
            model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
            model.compile("sgd", "mse", metrics=[Total(), Compiled()])
            found = model.evaluate(np.ones((8, 2)), np.ones((8, 1)), batch_size=4, verbose=0)
            count = tf.function(model.metrics[0].total.assign_add)
            kind = type(tf.function(lambda: print(count(1.0)))()).__name__
            print(json.dumps([kind, *[float(value) for value in found[1:]]]))
        """,
        era,
    )
    assert said == ["Operation", 8.0, 8.0]


@pytest.mark.parametrize("era", ["tf.keras-1.15", "tf.keras-2.2"])
def test_what_a_nested_model_computes_can_be_a_loss(era: str) -> None:
    """Its dropout asks for the learning phase once more; both numbers are those of TensorFlow 1.15.5 and 2.2.3."""
    said = run(
        """
        import json
        import numpy as np
        import tensorflow as tf

        if not tf.executing_eagerly():
            tf.enable_eager_execution()
        layers = tf.keras.layers
        inner = tf.keras.Sequential([
            layers.Dropout(1 - 2 ** -24, input_shape=(4,)), layers.Dense(2, kernel_initializer="ones"),
        ])
        inputs = tf.keras.Input((4,))
        model = tf.keras.Model(inputs, inner(inputs))
        model.add_loss(tf.keras.backend.mean(inner.layers[1].get_output_at(-1)))
        model.compile("sgd")
        x = np.ones((20, 4), "float32")
        print(json.dumps([float(model.train_on_batch(x)), float(model.evaluate(x, verbose=0))]))
        """,
        era,
    )
    assert said == [0.0, pytest.approx(3.995)]


@pytest.mark.parametrize("era", ["tf.keras-1.15", "tf.keras-2.2"])
def test_the_graph_rewrite_of_mixed_precision(era: str) -> None:
    said = run(
        """
        import json
        import numpy as np
        import tensorflow as tf

        rewrite = tf.train.experimental.enable_mixed_precision_graph_rewrite
        layers = [tf.keras.layers.Dense(1, input_shape=(2,), kernel_initializer="ones")]
        model = tf.keras.Sequential(layers)
        model.compile(rewrite(tf.keras.optimizers.SGD(0.25)), "mse")
        losses = [float(model.train_on_batch(np.ones((4, 2)), np.ones((4, 1)))) for _ in range(2)]
        try:
            tf.keras.mixed_precision.experimental.set_policy("mixed_float16")
        except ValueError as error:
            refused = str(error)[:44]
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            weight = tf.compat.v1.get_variable("weight", (), initializer=tf.compat.v1.ones_initializer())
            step = rewrite(tf.compat.v1.train.GradientDescentOptimizer(0.25)).minimize(weight ** 2)
            session.run(tf.compat.v1.global_variables_initializer())
            session.run(step)
            found = float(session.run(weight))
        tf.train.experimental.disable_mixed_precision_graph_rewrite()
        print(json.dumps([losses, refused, found]))
        """,
        era,
    )
    assert said == [[1.0, 0.25], "The mixed precision policy cannot be set, be", 0.5]


@pytest.mark.parametrize("era", ["tf.keras-1.15", "tf.keras-2.2"])
def test_a_graph_without_a_session_of_its_own_is_saved_as_saved_model(era: str) -> None:
    """TensorFlow asks Keras for the session."""
    saved = run(
        """
        import json, tempfile
        import numpy as np
        import tensorflow as tf

        tf.compat.v1.disable_eager_execution()
        x = np.ones((4, 6))
        model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(6,))])
        model.compile("sgd", "mse")
        folder = tempfile.mkdtemp()
        model.save(folder, save_format="tf")
        loaded = tf.keras.models.load_model(folder)
        tf.train.Checkpoint(model=model).save(folder + "/checkpoint")
        print(json.dumps(bool(np.array_equal(loaded.predict(x), model.predict(x)))))
        """,
        era,
    )
    assert saved


def test_a_checkpoint_of_objects_counts_as_it_did() -> None:
    """What is drawn after it depends on the count; the counts are those of TensorFlow 1.15.5."""
    found = run(
        """
        import json
        import os
        import tempfile
        import tensorflow as tf

        os.chdir(tempfile.mkdtemp())
        graph, found = tf.get_default_graph(), []
        for layers in (1, 3):
            model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,)) for _ in range(layers)])
            tf.keras.backend.get_session()
            model.get_weights()
            before = graph._last_id
            model.save_weights("weights/of")
            found.append(graph._last_id - before)
        print(json.dumps(found))
        """
    )
    assert found == [18, 18]


_REGULARIZED = """
import json
import tensorflow as tf

def regularizer(v):
    calls.append(v.op.name)
    return 0.5 * tf.reduce_sum(v * v)

def variable(x):
    with tf.variable_scope("s", reuse=tf.AUTO_REUSE):
        return tf.matmul(x, tf.get_variable("w", [3, 3], initializer=tf.ones_initializer(), regularizer=regularizer))

def dense(x):
    return tf.layers.dense(
        x, 3, kernel_initializer="ones", kernel_regularizer=regularizer, name="d", reuse=tf.AUTO_REUSE
    )

def loop(body):
    return tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, body(x)), [0, tf.ones([2, 3])])

def condition(body):
    return tf.cond(tf.constant(True), lambda: body(tf.ones([2, 3])), lambda: tf.ones([2, 3]))

found = {}
for within, body in ((loop, variable), (condition, variable), (condition, dense)):
    calls = []
    with tf.Graph().as_default() as graph:
        within(body)
        name = tf.losses.get_regularization_losses()[0].name
        loss = tf.losses.get_regularization_loss()
        gradient = tf.gradients(loss, tf.trainable_variables())[0]
        operations = graph._last_id
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            values = session.run([loss, gradient[0, 0]])
    found[within.__name__ + " " + body.__name__] = [calls, name, operations, *map(float, values)]
print(json.dumps(found))
"""


def test_regularizers_within_loops_and_conditions() -> None:
    """The numbers are TensorFlow 1.15.5's: a loss is outside of what made its variable."""
    assert run(_REGULARIZED) == {
        "loop variable": [["s/w"], "s/w/Regularizer/mul_1:0", 43, 4.5, 1.0],
        "condition variable": [["s/w"], "s/w/Regularizer/mul_1:0", 32, 4.5, 1.0],
        "condition dense": [["d/kernel"], "cond/d/kernel/Regularizer/mul_1:0", 44, 4.5, 1.0],
    }


def test_a_seed_of_a_script_of_standalone_keras_fetches_no_tf_keras() -> None:
    said = run(
        """
        import json, sys
        import keras
        import tensorflow as tf

        tf.set_random_seed(1)
        later = [type(finder).__name__ for finder in sys.meta_path]
        print(json.dumps(["_FetchedLater" in later, hasattr(tf.contrib, "__file__")]))
        """,
        era="keras-2.2.4",
    )
    assert said == [True, False]


_CALLED_TWICE = """
import numpy as np
from tensorflow.keras import layers, models

first, norm = layers.Dense(4, kernel_initializer="ones"), layers.BatchNormalization()
x = layers.Input((3,))
model = models.Model(x, layers.Dense(1, kernel_initializer="ones")(norm(norm(first(x)))))
draw = np.random.RandomState(0)
data = draw.rand(8, 3), draw.rand(8, 1)
for first.trainable in (True, False):
    model.compile("sgd", "mse")
    print(model.train_on_batch(*data))
"""


def test_a_normalization_called_twice_trains_after_another_compile(tmp_path: Path) -> None:
    """The second function asked for the other order of its averages: the graph had a cycle."""
    (tmp_path / "script.py").write_text(_CALLED_TWICE)
    done = scripts.run("--quiet", "--era", "tf.keras-1.15", "script.py", folder=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    assert [*map(float, done.stdout.split())] == pytest.approx([16.970455, 12.205098], rel=1e-6)  # TensorFlow 1.15.5
