"""The models that two workers and two local replicas train, in `test_several_workers.py`."""

from __future__ import annotations

import keras
import numpy as np
import tensorflow as tf

from tests.one_device import classes


def build():
    """With moving statistics, a regularizer and an added loss; one output for a loss of samples, one for dice."""
    inputs = keras.Input((8,))
    hidden = keras.layers.BatchNormalization()(inputs)
    hidden = keras.layers.Dense(6, activation="tanh", kernel_regularizer="l2", activity_regularizer="l2")(hidden)
    probs = keras.layers.Dense(3, activation="softmax", name="probs")(hidden)
    return keras.Model(inputs, [probs, keras.layers.Dense(3, activation="sigmoid", name="mask")(hidden)])


def dice(y_true, y_pred):
    """Of the whole global batch."""
    both = keras.ops.sum(y_true * y_pred)
    return 1 - (2 * both + 1) / (keras.ops.sum(y_true) + keras.ops.sum(y_pred) + 1)


def train(parallel):
    """Train on batches that are even, uneven and of one row; return history, evaluation and predictions."""
    x, y = classes(97)
    weights = [np.linspace(0, 2, 97, dtype="float32"), np.ones(97, "float32")]
    losses = {"probs": "categorical_crossentropy", "mask": dice}
    parallel.compile(keras.optimizers.Adam(0.05), losses, metrics={"probs": ["accuracy", "AUC"], "mask": "mse"})
    settings = {"batch_size": 31, "epochs": 3, "shuffle": False, "verbose": 0}
    history = parallel.fit(x, [y, y], sample_weight=weights, **settings).history
    history = {name: [float(v) for v in values] for name, values in sorted(history.items())}
    evaluation = [float(value) for value in parallel.evaluate(x, [y, y], verbose=0)]
    return [history, evaluation, np.asarray(parallel.predict(x[:5], verbose=0)).tolist()]


noted = []


class Note(keras.layers.Layer):
    """Notes the first feature of the samples that this process computes."""

    def call(self, x):
        with tf.control_dependencies([tf.numpy_function(lambda ids: noted.extend(ids.tolist()), [x[:, 0]], [])]):
            return tf.identity(x)


class Batches(keras.utils.PyDataset):
    """Ten samples in two batches."""

    def __len__(self):
        return 2

    def __getitem__(self, index):
        x = np.arange(5 * index, 5 * index + 5, dtype="float32")[:, None]
        return x, x


def samples_computed(make_parallel):
    """Return the samples that this process computes of ten, fed in each form."""
    batches = Batches()
    x = np.concatenate([batches[0][0], batches[1][0]])
    forms = {
        "arrays": (x, x),
        "Sequence": (batches,),
        "generator": ((batches[i % 2] for i in range(9)),),
        "tf.data": (tf.data.Dataset.from_tensor_slices((x, x)).batch(5),),
    }
    found = {}
    parallel = make_parallel(keras.Sequential([keras.Input((1,)), Note(), keras.layers.Dense(1)]))
    parallel.compile("sgd", "mse")
    for form, data in forms.items():
        noted.clear()
        steps = {"steps_per_epoch": 2} if form == "generator" else {}
        parallel.fit(*data, **({"batch_size": 5} if form == "arrays" else {}), **steps, shuffle=False, verbose=0)
        found[form] = sorted(noted)
    return found
