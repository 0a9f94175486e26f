"""Count the operations that TensorFlow 1 adds to a graph for each call in `calls.txt`, and for its gradient.

    python count_operations.py OUT [START ...]

On TensorFlow 1.15.5 it writes what is recorded in `tensorflow-1.15.5.json`; `parallel-compat run` must count the same,
because `tf.set_random_seed` makes a seed of the count. With START only calls that begin so are made.
"""

import json
import os
import sys

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import backend as K
from tensorflow.python.eager import context
from tensorflow.python.framework import func_graph

IN_FUNCTION = "in a function: "
TRAINED = (keras.layers.BatchNormalization, keras.layers.Dropout, keras.layers.RNN, keras.layers.Bidirectional)
FLOATS = ("x2", "x3", "x4", "x5", "p3", "x25", "x3t")
SHAPES = {
    "x2": [2, 3],
    "y2": [2, 3],
    "x25": [2, 5],
    "x3": [2, 3, 4],
    "p3": [None, 3, 4],
    "x3t": [5, 2, 4],
    "x4": [2, 4, 4, 3],
    "x4f": [2, 4, 4, 4],
    "x5": [2, 4, 4, 4, 3],
    "p0": [],
    "c3": [3],
    "c4": [4],
    "w45": [4, 5],
    "w34": [3, 4],
    "k4": [2, 2, 3, 5],
    "k3": [2, 4, 5],
    "kt": [2, 2, 5, 3],
    "kd": [2, 2, 3, 2],
    "kp": [1, 1, 6, 5],
    "k5": [2, 2, 2, 3, 5],
    "k5t": [2, 2, 2, 5, 3],
}
INTEGERS = {"i1": [2], "i2": [2, 3], "i21": [2, 1]}
VARIABLES = {"v45": [4, 5], "v45b": [4, 5], "vb4": [4], "vv": [3]}


def names():
    """Return what the calls may name: placeholders, variables, a sparse tensor, two losses, a compiled model."""
    found = {name: tf.placeholder(tf.float32, shape) for name, shape in SHAPES.items()}
    found.update({name: tf.placeholder(tf.int32, shape) for name, shape in INTEGERS.items()})
    found.update({name: tf.get_variable(name, shape, use_resource=True) for name, shape in VARIABLES.items()})
    found["p_b"] = tf.placeholder(tf.bool, [])
    found["gs"] = tf.train.get_or_create_global_step()
    found["sp"] = tf.SparseTensor([[0, 0]], [1.0], [2, 3])

    def dense_loss():
        return tf.reduce_sum(tf.matmul(found["x2"], tf.get_variable("wl", [3, 4], use_resource=True)) ** 2)

    def sparse_loss():
        return tf.reduce_sum(tf.nn.embedding_lookup(found["v45"], found["i2"]) ** 2)

    found.update(L=dense_loss, LE=sparse_loss, compiled=compiled, tf=tf, K=K, np=np, keras=keras)
    return dict(vars(keras.layers), **found)


def compiled(optimizer, loss, metrics):
    """Make the functions of a model."""
    inputs = keras.Input((3,))
    model = keras.Model(inputs, keras.layers.Dense(3, activation="softmax")(inputs))
    model.compile(optimizer, loss, metrics=metrics)
    model._make_train_function()
    model._make_test_function()
    model._make_predict_function()


def tensors(value):
    """Return the tensors of floats in lists, tuples and dicts."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [tensor for each in value for tensor in tensors(each)]
    return [value] if isinstance(value, tf.Tensor) and value.dtype.is_floating else []


def over_a_range(x):
    for _ in tf.range(3):
        x += 1.0
    return x


def count_in_function(call):
    """Return how many operations a layer makes in a function of eager TensorFlow, as the steps of `fit` are."""
    layer, shape = eval(call, dict(vars(keras.layers), tf=tf, over_a_range=over_a_range))
    with context.eager_mode():
        layer(tf.zeros(shape))
        with func_graph.FuncGraph("step").as_default() as graph:
            inputs = tf.zeros(shape)
            start = graph._last_id
            layer(inputs, training=True) if isinstance(layer, TRAINED) else layer(inputs)
            return [graph._last_id - start, None]


def count(call):
    """Return how many operations a call makes, and its gradient; None for what has none."""
    if call.startswith(IN_FUNCTION):
        return count_in_function(call[len(IN_FUNCTION) :])
    K.clear_session()
    graph = tf.Graph()
    with graph.as_default():
        tf.set_random_seed(1)
        known = names()
        start = graph._last_id
        result = eval(call, known)
        made = graph._last_id
        results = tensors(result)
        if not results:
            return [made - start, None]
        try:
            tf.gradients(results, [known[name] for name in FLOATS] + tf.trainable_variables())
        except LookupError:
            return [made - start, None]
        return [made - start, graph._last_id - made]


if __name__ == "__main__":
    tf.logging.set_verbosity("FATAL")
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "calls.txt")) as file:
        calls = [line.strip() for line in file if line.strip() and not line.startswith("#")]
    if sys.argv[2:]:
        calls = [call for call in calls if call.startswith(tuple(sys.argv[2:]))]
    found = {call: count(call) for call in calls}
    with open(sys.argv[1], "w") as file:
        rows = ["%s: %s" % (json.dumps(call), json.dumps(found[call])) for call in calls]
        file.write("{\n" + ",\n".join(rows) + "\n}\n")
