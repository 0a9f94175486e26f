"""`tf.metrics` of TensorFlow 1 in metric functions, with what Keras 2.2.4 and TensorFlow 1.15.5 logged."""

from __future__ import annotations

import keras
import numpy as np
import pytest
import tensorflow as tf

import parallel_compat

LABELS = np.array([0, 1, 0, 1, 1, 1, 0, 0, 1, 0, 1, 0], "float32")
INPUTS = np.random.RandomState(0).rand(12, 4)
BEGIN = "K.get_session().run(tf.local_variables_initializer())"
PROGRAM = f"""
import numpy as np
import tensorflow as tf
from {{keras}} import backend as K
from {{keras}}.callbacks import LambdaCallback
from {{keras}}.layers import Dense
from {{keras}}.models import Sequential
from {{keras}}.utils import multi_gpu_model

def auc(y_true, y_pred):
    value = tf.metrics.auc(y_true, y_pred)[1]
    {BEGIN}
    return value

def cells(y_true, y_pred):
    score, count = tf.metrics.mean_iou(y_true, tf.to_int32(y_pred > 0.4), 2)
    {BEGIN}
    return tf.cast(count[0][0], tf.float32)

def iou(y_true, y_pred):
    score, count = tf.metrics.mean_iou(y_true, tf.to_int32(y_pred > 0.4), 2)
    with tf.control_dependencies([count]):
        return tf.identity(score)

def train(x, y, replicas, begin_anew):
    np.random.seed(0)
    template = Sequential([Dense(1, activation="sigmoid", input_shape=(4,))])
    template.set_weights([np.array([[1.0], [-2.0], [0.5], [0.3]]), np.zeros(1)])
    model = multi_gpu_model(template, replicas) if replicas > 1 else template
    model.compile("sgd", "binary_crossentropy", metrics=[auc, cells, iou])
    {BEGIN}
    anew = LambdaCallback(on_epoch_begin=lambda epoch, logs: {BEGIN})
    fit = model.fit(x, y, batch_size=5, epochs=2, verbose=0, validation_split=0.25, callbacks=[anew] * begin_anew)
    return fit.history, model.evaluate(x, y, batch_size=5, verbose=0)
"""
# `train(INPUTS, LABELS, 1, begin_anew)`; the values of `iou` are left to chance there.
EXPECTED = {
    ("keras-2.2.4", False): {
        "auc": [0.11111135, 0.26414147], "cells": [0.88888889, 4.4444444],
        "val_auc": [0.30555561, 0.30555561], "val_cells": [3.0, 6.0], "evaluated": [0.27791966, 6.75],
    },
    ("keras-2.2.4", True): {
        "auc": [0.11111135, 0.20370387], "cells": [0.88888889, 1.4444444],
        "val_auc": [0.30555561, 0.30555561], "val_cells": [3.0, 3.0], "evaluated": [0.26184196, 3.75],
    },
    ("tf.keras-1.15", False): {
        "auc": [0.12500022, 0.27662343], "cells": [1.0, 3.5],
        "val_auc": [0.30555561, 0.30555558], "val_cells": [3.0, 5.0], "evaluated": [0.28344682, 6.0],
    },
    ("tf.keras-1.15", True): {
        "auc": [0.12500022, 0.12500018], "cells": [1.0, 0.5],
        "val_auc": [0.30555561, 0.30555561], "val_cells": [3.0, 2.0], "evaluated": [0.27058467, 3.0],
    },
}  # fmt: skip


@pytest.mark.one_in(2)
@pytest.mark.parametrize("begin_anew", [False, True])
@pytest.mark.parametrize("replicas", [1, 2])
@pytest.mark.parametrize("era", ["keras-2.2.4", "tf.keras-1.15"])
def test_they_count_as_they_did(era, replicas, begin_anew):
    with parallel_compat.legacy_names(era=era):
        user = {"__name__": "user"}
        exec(PROGRAM.format(keras="keras" if era == "keras-2.2.4" else "tensorflow.keras"), user)
        history, evaluated = user["train"](INPUTS, LABELS, replicas, begin_anew)
    expected = EXPECTED[era, begin_anew]
    for name, values in expected.items():
        got = evaluated[1:3] if name == "evaluated" else history[name]
        np.testing.assert_allclose(got, values, rtol=3e-6, err_msg=name)


def test_the_value_that_waits_is_that_of_all_that_was_counted():
    with parallel_compat.legacy_names(era="keras-2.2.4"):
        user = {"__name__": "user"}
        exec(PROGRAM.format(keras="keras"), user)
        model = keras.Sequential([keras.layers.Input((1,)), keras.layers.Activation("linear")])
        model.compile(loss="mse", metrics=[user["iou"]])
        first = model.test_on_batch(np.array([[0.9], [0.1]]), np.array([[1.0], [1.0]]))
        second = model.test_on_batch(np.array([[0.1], [0.1]]), np.array([[0.0], [0.0]]))
    np.testing.assert_allclose(first[1], (0 / 1 + 1 / 2) / 2, rtol=1e-6)
    np.testing.assert_allclose(second[1], (2 / 3 + 1 / 2) / 2, rtol=1e-6)


def test_elsewhere_they_are_refused_with_what_to_do():
    with parallel_compat.legacy_names(era="keras-2.2.4"):
        user = {"__name__": "user"}
        exec("import keras, tensorflow as tf\ndef of_arrays(a, b): return tf.metrics.auc(a, b)", user)
        with pytest.raises(NotImplementedError, match=r"keras\.metrics"):
            user["of_arrays"](tf.constant([1.0]), tf.constant([0.5]))


def test_in_a_graph_of_the_programs_own_they_are_those_of_the_graph():
    with parallel_compat.legacy_names(era="keras-2.2.4"):
        user = {"__name__": "user"}
        exec(
            "import keras, tensorflow as tf\n"
            "with tf.Graph().as_default(), tf.Session() as session:\n"
            "    value, count = tf.metrics.mean(tf.constant([1.0, 4.0]))\n"
            "    session.run(tf.local_variables_initializer())\n"
            "    found = [session.run(value), session.run(count), session.run(value)]\n",
            user,
        )
    assert user["found"] == [0.0, 2.5, 2.5]


# What it gave in `evaluate`, in two epochs and their validations, of TensorFlow 1.15.5 and 2.2.3.
HITS = {"tf.keras-1.15": (0.5, [2 / 3, 1, 1, 1]), "tf.keras-2.2": (1.75, [2, 8 / 3, 8 / 3, 8 / 3])}


@pytest.mark.parametrize("era", list(HITS))
def test_a_layer_as_a_metric(era):
    """They took it for a function: 1.15 ran none of its updates, and a metric that begins anew sets it to 0."""
    with parallel_compat.legacy_names(era=era):
        from tensorflow import keras
        from tensorflow.keras import backend as K

        class Hits(keras.layers.Layer):
            def __init__(self, name="hits", **keywords):
                super().__init__(name=name, **keywords)
                self.stateful = True
                self.count = K.variable(value=0, dtype="int32")

            def __call__(self, y_true, y_pred):
                equal = K.equal(K.cast(y_true, "int32"), K.cast(K.round(y_pred), "int32"))
                found, before = K.sum(K.cast(equal, "int32")), self.count * 1
                self.add_update(K.update_add(self.count, found), inputs=[y_true, y_pred])
                return before + found

        model = keras.models.Sequential([keras.layers.Dense(1, input_shape=(2,), kernel_initializer="ones")])
        model.compile("sgd", "mse", metrics=[Hits()])
        x, y = np.arange(20.0).reshape(10, 2) / 10, np.ones((10, 1))
        np.testing.assert_allclose(model.evaluate(x, y, batch_size=3, verbose=0), [2.13, HITS[era][0]], rtol=1e-5)
        logs = model.fit(x, y, batch_size=4, epochs=2, verbose=0, shuffle=False, validation_data=(x, y)).history
        np.testing.assert_allclose(logs["hits"] + logs["val_hits"], HITS[era][1], rtol=1e-5)
