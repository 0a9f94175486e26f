"""Models that a script makes under a `MirroredStrategy` of its own, and trains by `fit` or in its own loop."""

from __future__ import annotations

import pytest

import parallel_compat

# One step of SGD from kernels of 1 and targets of 0: the numbers of one device, as TensorFlow 2.2.3 gave them.
SCRIPT = """
import numpy as np
import tensorflow as tf

of_a_package = tf.saved_model.load  # which both TensorFlow 1 and 2 had
x, y = np.ones((8, 4)), np.zeros((8, 1))
losses = ["mse", tf.keras.losses.MeanSquaredError(), lambda a, b: tf.reduce_mean(tf.square(a - b), -1)]
for loss in losses:
    with tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"]).scope():
        regularizer = tf.keras.regularizers.l2(0.01)
        layer = tf.keras.layers.Dense(1, input_shape=(4,), kernel_initializer="ones", kernel_regularizer=regularizer)
        model = tf.keras.Sequential([layer])
        model.compile(tf.keras.optimizers.SGD(0.05), loss, metrics=["mae"])
    logs = model.fit(x, y, batch_size=8, epochs=2, verbose=0).history
    np.testing.assert_allclose(logs["loss"], [16.04, 3.9983678], rtol=1e-5)
    weighted = model.fit(x, y, sample_weight=np.full(8, 0.5), batch_size=8, verbose=0).history["loss"]
    np.testing.assert_allclose(weighted, [0.5019752], rtol=1e-5)
"""


@pytest.mark.one_in(2)
@pytest.mark.parametrize("era", ["tf.keras-1.15", "tf.keras-2.2"])
def test_losses_and_steps_are_those_of_the_whole_batch(era, tmp_path):
    with parallel_compat.legacy_names(era=era):
        exec(compile(SCRIPT, str(tmp_path / "train.py"), "exec"), {"__name__": "__main__"})


# Neither the model nor the optimizer has variables before the first step on the replicas.
LOOP = """
import numpy as np
import tensorflow as tf

strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
words, targets = np.array([[1, 2], [3, 1], [2, 2], [0, 4]] * 3), np.linspace(0, 1, 12, dtype="float32")[:, None]
data = strategy.experimental_make_numpy_dataset((words, targets)).batch(4, drop_remainder=True)
data = strategy.experimental_distribute_dataset(data)
layers = tf.keras.layers
with strategy.scope():
    start = tf.keras.initializers.Constant(0.3)
    embedding = layers.Embedding(5, 3, start, input_length=2)
    model = tf.keras.Sequential([embedding, layers.Flatten(), layers.Dense(1, kernel_initializer=start)])
    optimizer = make_optimizer(tf.keras.optimizers)

def step(inputs):
    x, y = inputs
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((y - model(x, training=True)) ** 2) / 4
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss

@tf.function
def on_all(batch):
    return strategy.reduce(tf.distribute.ReduceOp.SUM, strategy.experimental_run_v2(step, args=(batch,)), axis=None)

losses = [float(on_all(batch)) for _ in range(2) for batch in data]
copies = [[float(copy.numpy()[0, 0]) for copy in strategy.experimental_local_results(w)] for w in model.weights[:1]]
"""
# Of TensorFlow 2.2.3 with two logical devices.
LOSSES = {
    "Adam": (lambda of: of.Adam(0.05), [0.17325291, 0.040953897, 0.37608671, 0.037922006, 0.031602472, 0.24031323]),
    "Nadam": (lambda of: of.Nadam(0.05), [0.17325291, 0.045016799, 0.23996079, 0.17749895, 0.014587085, 0.18875511]),
    "SGD": (lambda of: of.SGD(0.1, 0.9), [0.17325291, 0.020345401, 0.32338458, 0.081175789, 0.014740289, 0.18325303]),
    "RMSprop": (
        lambda of: of.RMSprop(0.01),
        [0.17325291, 0.020223734, 0.19388007, 0.16655067, 0.0095794555, 0.16845779],
    ),
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", LOSSES)
def test_models_and_optimizers_are_built_on_the_replicas(name, tmp_path):
    make_optimizer, expected = LOSSES[name]
    held = {"__name__": "__main__", "make_optimizer": make_optimizer}
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        exec(compile(LOOP, str(tmp_path / "train.py"), "exec"), held)
    assert held["losses"] == pytest.approx(expected, rel=1e-5)
    assert all(len(set(each)) == 1 for each in held["copies"])
