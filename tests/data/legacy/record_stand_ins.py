"""Record what the real stacks compute, for the tests of stand-ins: `python record_stand_ins.py OUT.json`.

Run in Keras 2.2.4 on TensorFlow 1.15.5, and in TensorFlow 2.2.3 (Python 3.7 and 3.8).
"""
from __future__ import print_function

import json
import sys

import numpy as np
import tensorflow as tf

found = {}
rng = np.random.RandomState(0)
T, P = rng.rand(3, 4).astype("f4"), rng.rand(3, 4).astype("f4")


def note(name, value):
    found[name] = np.asarray(value, "f8").tolist()


def of_tensorflow_2_2():
    from tensorflow.python.keras import backend as K
    from tensorflow.python.keras.utils import losses_utils

    for size in (3, 4, 5):
        kernel = np.arange(size * size * 2, dtype="f4").reshape(size, size, 2, 1)
        note("radial/%d" % size, tf.keras.constraints.RadialConstraint()(tf.constant(kernel)))
    schedule = tf.keras.experimental.LinearCosineDecay(0.1, 10, num_periods=1.5, alpha=0.2, beta=0.01)
    note("linear_cosine", [float(schedule(step)) for step in range(0, 14, 2)])
    for x, y, axes in (((2, 5, 3, 4), (2, 5, 4, 6), None), ((2, 3, 4), (2, 3, 4), 2), ((2, 3, 4), (2, 4), (2, 1))):
        one, two = np.random.RandomState(1).rand(*x).astype("f4"), np.random.RandomState(2).rand(*y).astype("f4")
        note("batch_dot/%s" % len(found), K.batch_dot(tf.constant(one), tf.constant(two), axes))
    dense, lengths = K.convert_inputs_if_ragged(tf.ragged.constant([[1.0, 2.0], [3.0]]))
    note("ragged/dense", dense)
    note("ragged/lengths", lengths)
    note("ragged/back", K.maybe_convert_to_ragged(True, dense, lengths).to_list()[0])
    note("huber", tf.keras.losses.Huber(delta=0.3, reduction="none")(T, P * 2))
    note("hinge", tf.keras.losses.hinge(np.where(T > 0.5, 1.0, -1.0).astype("f4"), P))
    for reduction in ("none", "sum", "sum_over_batch_size"):
        weighted = losses_utils.compute_weighted_loss(tf.constant(T), tf.constant([[1.0], [0.0], [2.0]]), reduction)
        note("weighted_loss/%s" % reduction, weighted)


def of_keras_2_2_4():
    import keras
    from keras import backend as K
    from keras import constraints, losses

    def value(tensor):
        return K.get_value(tensor)

    y, p = K.constant(T), K.constant(P)
    for name in ("hinge", "squared_hinge", "cosine_proximity"):
        note("losses/%s" % name, value(getattr(losses, name)(y, p)))
    note("hard_sigmoid", value(keras.activations.hard_sigmoid(K.constant(np.linspace(-4, 4, 9)))))
    note("min_max_norm", value(constraints.min_max_norm(0.5, 1.0, axis=0)(K.constant(P * 3))))
    weights = K.constant(P)
    note("contrib/l1", value(tf.contrib.layers.l1_regularizer(0.1)(weights)))
    note("contrib/l2", value(tf.contrib.layers.l2_regularizer(0.1)(weights)))
    for uniform in (True, False):
        drawn = value(tf.contrib.layers.xavier_initializer(uniform=uniform, seed=1)((400, 600)))
        note("contrib/xavier/%s" % uniform, [drawn.std(), np.abs(drawn).max()])
    drawn = value(tf.contrib.layers.variance_scaling_initializer(seed=1)((400, 600)))
    note("contrib/variance_scaling", [drawn.std(), np.abs(drawn).max()])
    makers = {
        "SGD": lambda: keras.optimizers.SGD(lr=0.1, momentum=0.9, decay=0.5, nesterov=True),
        "Adam": lambda: keras.optimizers.Adam(lr=0.1, decay=0.5),
        "Adamax": lambda: keras.optimizers.Adamax(lr=0.1, decay=0.5),
    }
    for name, make in sorted(makers.items()):
        model = keras.models.Sequential([keras.layers.Dense(1, use_bias=False, input_shape=(1,))])
        model.compile(loss="mse", optimizer=make())
        model.set_weights([np.array([[1.0]])])
        weights = []
        for _ in range(5):
            model.train_on_batch(np.ones((1, 1)), np.zeros((1, 1)))
            weights.append(float(model.get_weights()[0][0, 0]))
        note("optimizers/%s" % name, weights)


of_tensorflow_2_2() if tf.__version__.startswith("2.") else of_keras_2_2_4()
with open(sys.argv[1], "w") as file:
    json.dump(found, file, indent=0, sort_keys=True)
