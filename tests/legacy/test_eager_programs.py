"""Programs of TensorFlow 1.15's tutorials; the numbers are those of TensorFlow 1.15.5."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import parallel_compat
from parallel_compat.legacy import execution

X = np.arange(50, dtype="float32").reshape(25, 2) / 10
Y = X[:, :1] ** 2


@pytest.fixture(autouse=True)
def _eagerly(monkeypatch: pytest.MonkeyPatch) -> None:
    for asked in ("_eagerly", "_as_tensorflow_2"):
        monkeypatch.setattr(execution, asked, threading.Event())


def program(source: str, tmp_path: Any, **names: Any) -> Any:
    """Return what a script of TensorFlow 1.15 leaves in `found`."""
    path = tmp_path / "train.py"
    path.write_text("import tensorflow as tf\n" + source)
    module: dict[str, Any] = {"__name__": "__main__", **names}
    with parallel_compat.legacy_names(era="tf.keras-1.15"):
        exec(compile(path.read_text(), str(path), "exec"), module)
    return module["found"]


def test_losses_of_tensorflow_1_are_the_mean_of_all(tmp_path: Any) -> None:
    source = """
tf.enable_eager_execution()
logits = tf.Variable([[.1, .2, .3], [.5, .1, 0.], [1., 2., 3.]])
one_hot = tf.one_hot([0, 2, 1], 3)
def losses():
    return [
        tf.losses.sparse_softmax_cross_entropy(labels=[0, 2, 1], logits=logits),
        tf.losses.mean_squared_error(one_hot, logits),
        tf.losses.huber_loss(one_hot, logits),
        tf.losses.mean_squared_error(one_hot, logits, [[1.], [0.], [2.]], reduction="weighted_sum"),
    ]
found = [float(loss) for loss in [*losses(), *losses()]]
"""
    expected = [1.310780644416809, 1.4666666984558105, 0.5111110806465149, 22.939998626708984]
    np.testing.assert_allclose(program(source, tmp_path), 2 * expected, rtol=1e-6)


def test_steps_are_counted(tmp_path: Any) -> None:
    source = """
tf.enable_eager_execution()
weight, step = tf.Variable(1.), tf.train.get_or_create_global_step()
optimizer = tf.train.GradientDescentOptimizer(0.1)
start = int(step)
with tf.GradientTape() as tape:
    loss = weight * weight
optimizer.apply_gradients([(tape.gradient(loss, weight), weight)], step)
optimizer.apply_gradients([(1., weight)], global_step=step)
optimizer.minimize(lambda: weight * weight, step)
optimizer.minimize(lambda: weight * weight, global_step=tf.train.get_global_step())
found = [int(step) - start, float(weight)]
"""
    np.testing.assert_allclose(program(source, tmp_path), [4, 0.448], rtol=1e-6)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("switch", "method", "eager"),
    [
        ("tf.enable_eager_execution()", "fit", True),
        ("tf.compat.v1.enable_eager_execution()", "fit_generator", True),
        ("tf.compat.v1.enable_v2_behavior(); tf.compat.v1.disable_v2_behavior()", "fit", False),
        ("", "fit", False),
    ],
)
@pytest.mark.parametrize("replicas", [1, 2])
def test_the_loss_of_a_data_set_is_that_of_its_samples_in_eager_programs(
    switch: str, method: str, eager: bool, replicas: int, tmp_path: Any
) -> None:
    """In a graph it was the mean over the batches. Validation counts batches in both."""
    source = f"""
{switch}
model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="ones", input_shape=(2,))])
if {replicas} > 1:
    model = tf.keras.utils.multi_gpu_model(model, {replicas})
model.compile(tf.train.GradientDescentOptimizer(0.01), "mse")
data = tf.data.Dataset.from_tensor_slices((x, y)).batch(8)
validation = dict(validation_data=data, validation_steps=4)
history = model.{method}(data.repeat(), epochs=2, steps_per_epoch=4, verbose=0, **validation)
found = [*history.history["loss"], *history.history["val_loss"]]
"""
    in_training = [21.84050807952881, 14.477163543701172] if eager else [27.965882629156113, 14.360940039157867]
    expected = [*in_training, 14.048471225425601, 14.095003210008144]
    np.testing.assert_allclose(program(source, tmp_path, x=X, y=Y), expected, rtol=1e-5)


def test_a_session_draws_the_next_element_in_each_run(tmp_path: Any) -> None:
    source = """
data = tf.data.Dataset.from_tensor_slices((x, y)).batch(10)
iterator = data.make_one_shot_iterator()
one, other = iterator.get_next()
number = tf.data.Dataset.range(3).make_one_shot_iterator().get_next()
mean = tf.keras.backend.mean(one)
found = []
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for _ in range(9):
        try:
            a, b, m = session.run([one, {"y": other}, mean])
        except tf.errors.OutOfRangeError:
            break
        found.append((a.shape[0], float(a[0, 0]), float(b["y"][0, 0]), float(m)))
        assert type(m) is np.float32
    assert [type(each) for each in session.run([number, tf.keras.backend.variable(2.0)])] == [np.int64, np.float32]
"""
    expected = [(10, 0, 0, 0.95), (10, 2, 4, 2.95), (5, 4, 16, 4.45)]
    np.testing.assert_allclose(program(source, tmp_path, x=X, y=Y, np=np), expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("behavior", "names"),
    [
        ("enable_v2_behavior", ["loss", "mae", "acc", "mean_squared_error", "MSE"]),
        (
            "enable_eager_execution",
            ["loss", "mean_absolute_error", "acc", "mean_squared_error", "weighted_mean_squared_error"],
        ),
    ],
)
def test_metrics_are_named_as_given_in_the_behavior_of_tensorflow_2(behavior: str, names: Any, tmp_path: Any) -> None:
    source = f"""
tf.compat.v1.{behavior}()
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
model.compile("sgd", "binary_crossentropy", ["mae", "acc", tf.keras.losses.mse], weighted_metrics=["MSE"])
found = model.metrics_names
"""
    assert program(source, tmp_path) == names


@pytest.mark.parametrize("step", ["apply_gradients(pairs(), global_step=step)", "minimize(loss, step, variables)"])
def test_optimizers_of_compat_v1_train_models_of_keras(step: str, tmp_path: Any) -> None:
    source = f"""
tf.compat.v1.enable_eager_execution()
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,), kernel_initializer="ones")])
variables = model.trainable_variables

def loss():
    return tf.reduce_mean(tf.square(model(X) - Y))

def pairs():
    with tf.GradientTape() as tape:
        found = loss()
    return zip(tape.gradient(found, variables), variables)

step = tf.compat.v1.train.get_or_create_global_step()
first = int(step)
for optimizer in (tf.compat.v1.train.AdamOptimizer(0.1), tf.compat.v1.train.MomentumOptimizer(0.01, 0.9)):
    for _ in range(2):
        optimizer.{step}
found = [model.get_weights()[0].ravel().tolist(), int(step) - first]
"""
    weights, steps = program(source, tmp_path, X=X, Y=Y)
    assert steps == 4
    np.testing.assert_allclose(weights, [1.673605442, 1.681933045], rtol=1e-6)
