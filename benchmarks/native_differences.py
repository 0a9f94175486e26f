"""How much a plain `MirroredStrategy` on two replicas differs from one device: the figures of `migrate --to native`.

    python benchmarks/native_differences.py

Plain Keras, on two simulated CPU devices. Each model starts from the same weights and sees the same batches in the
same order on both; what is printed is the largest difference of a weight, or what is named.
`names/native_differences.tsv` and `docs/guide/which_way.md` have these figures; a slow test compares them.
"""

from __future__ import annotations

import json
import os
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

random = np.random.RandomState(0)
x = random.normal(size=(103, 8)).astype("float32")
y = random.normal(size=(103, 1)).astype("float32")
words = random.randint(1, 20, (96, 6)) * (np.arange(6) < random.randint(1, 7, (96, 1)))
steps = random.normal(size=(96, 6, 1)).astype("float32")
even = {"batch_size": 32, "epochs": 3, "shuffle": False, "verbose": 0}


def plain():
    return keras.Sequential([keras.Input((8,)), layers.Dense(16, activation="tanh"), layers.Dense(1)])


def normalised():
    return keras.Sequential([keras.Input((8,)), layers.Dense(16), layers.BatchNormalization(), layers.Dense(1)])


def masked():
    parts = [layers.Embedding(20, 4, mask_zero=True), layers.LSTM(4, return_sequences=True), layers.Dense(1)]
    return keras.Sequential([keras.Input((6,)), *parts])


def noisy():
    return keras.Sequential([keras.Input((8,)), layers.Dropout(0.5, seed=1)])


def one_number(y_true, y_pred):
    return ops.mean(ops.square(y_true - y_pred))


def dice(y_true, y_pred):
    return 1 - (2 * ops.sum(y_true * y_pred) + 1) / (ops.sum(ops.square(y_true)) + ops.sum(ops.square(y_pred)) + 1)


def on(replicas, build, loss="mse", optimizer=keras.optimizers.SGD, **options):
    """Return a compiled model with its weights drawn anew, on so many replicas."""
    devices = [f"CPU:{number}" for number in range(replicas)]
    strategy = tf.distribute.MirroredStrategy(devices, cross_device_ops=tf.distribute.ReductionToOneDevice())
    with strategy.scope():
        model = build()
        draw = np.random.RandomState(1)
        model.set_weights([abs(draw.normal(0, 0.5, weight.shape)) for weight in model.get_weights()])
        model.compile(optimizer(0.05, **options), loss)
    return model


def difference(inputs, targets, build, **options):
    """Return the largest difference of a weight between one device and two replicas, after training."""
    weights = []
    for replicas in (1, 2):
        model = on(replicas, build, **options)
        model.fit(inputs, targets, **even)
        weights.append(model.get_weights())
    return max(float(abs(one - two).max()) for one, two in zip(*weights, strict=True))


def steps_of_one_number():
    """Return how many times as far the first step goes on two replicas."""
    moved = []
    for replicas in (1, 2):
        model = on(replicas, plain, loss=one_number)
        before = model.get_weights()[0]
        model.fit(x[:32], y[:32], batch_size=32, verbose=0)
        moved.append(abs(model.get_weights()[0] - before).max())
    return float(moved[1] / moved[0])


def losses_of_the_batch():
    """Return a loss of the whole batch, on one device and on two replicas."""
    return [float(on(replicas, plain, loss=dice).evaluate(x[:32], y[:32], verbose=0)) for replicas in (1, 2)]


def saved_normalisation():
    """Return by how much a saved model predicts differently from the trained one."""
    model = on(2, normalised)
    model.fit(x[:96], y[:96], **even)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.keras")
        model.save(path)
        trained, saved = (each.predict(x[:96], verbose=0) for each in (model, keras.models.load_model(path)))
    return float(abs(trained - saved).max())


def copied_masks():
    """Return how many of the samples on two replicas have the mask of a sample on the other one."""
    model = on(2, noisy)

    def step(batch):
        return model(batch, training=True)

    strategy = model.distribute_strategy
    parts = strategy.experimental_local_results(strategy.run(step, args=(tf.ones((16, 8)),)))
    first, second = (np.asarray(part) for part in parts)
    return float(np.mean([np.array_equal(one, two) for one, two in zip(first, second, strict=True)]))


def measure():
    """Return all figures by name."""
    batch, replicas = losses_of_the_batch()
    return {
        "uneven": difference(x, y, plain),
        "one number": steps_of_one_number(),
        "dice of the batch": batch,
        "dice by replica": replicas,
        "clipnorm": difference(x[:96], y[:96], plain, clipnorm=0.1),
        "clipvalue": difference(x[:96], y[:96], plain, clipvalue=0.01),
        "masks": difference(words, steps, masked),
        "BatchNormalization": saved_normalisation(),
        "copied masks": copied_masks(),
        "predict_on_batch": len(on(2, plain).predict_on_batch(x[:8])),
    }


if __name__ == "__main__":
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    print(json.dumps(measure(), indent=2))
