"""What `build` of a layer of the user's gets, in code of tf.keras."""

from __future__ import annotations

import pytest

SCRIPT = """
import tensorflow as tf

class Two(tf.keras.layers.Layer):
    def build(self, input_shape):
        one, other = input_shape
        print(one.as_list(), other.ndims, int(one[-1]))
        self.dense = tf.keras.layers.Dense(int(one[-1]))

    def call(self, both):
        return self.dense(both[0])

x = tf.keras.Input((3,))
model = tf.keras.Model(x, Two()([x, tf.keras.layers.Dense(2)(x)]))
model.compile("sgd", "mse")
model.save_weights("weights")
model.save("model.h5")
print(*sorted(name for name, _ in tf.train.list_variables("weights") if "layer" in name or "compat" in name), sep="\\n")
"""


@pytest.mark.slow
def test_has_the_methods_of_a_tensor_shape(run, tmp_path):
    """TensorFlow 2.2 gave it a `tf.TensorShape`, and its checkpoint has these names."""
    (tmp_path / "train.py").write_text(SCRIPT)
    done = run("train.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "[None, 3] 2 3",
        *(
            f"layer_with_weights-{layer}/.ATTRIBUTES/VARIABLE_VALUE"
            for layer in ("0/bias", "0/kernel", "1/dense/bias", "1/dense/kernel")
        ),
    ]


KNOWN = """
import {keras}

for layers in ([keras.layers.Dense(2, input_shape=(4,))], [keras.layers.Embedding(3, 2), keras.layers.LSTM(2)]):
    model = keras.Sequential(layers)
    model.build((32, 4))
    model.add(keras.layers.Dense(3))
    model.build((32, 4))
    print(model.input_shape, len(model.get_weights()))
"""


@pytest.mark.slow
@pytest.mark.parametrize("imported", ["keras", pytest.param("tensorflow.keras as keras", marks=pytest.mark.slow)])
def test_a_sequential_with_an_input_keeps_it(run, tmp_path, imported):
    """As Keras 2.2.4, TensorFlow 1.15 and 2.2 printed."""
    (tmp_path / "train.py").write_text(KNOWN.replace("{keras}", imported))
    done = run("train.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["(None, 4) 4", "(None, None) 6"]


TWICE = """
import sys
import numpy as np
import {keras}

shared = keras.layers.Dense(3, kernel_initializer="ones")
for first in ({"input_shape": (3,)}, {}):
    model = keras.Sequential([keras.layers.Dense(3, kernel_initializer="ones", **first), shared, shared])
    model.compile("sgd", "mse")
    if first or "known" not in sys.argv:
        print(model.predict(np.ones((1, 3)))[0, 0], len(model.layers), len(model.get_weights()))
        model.save_weights("w.h5")
"""


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("imported", "printed"),
    [("keras", ["27.0 2 4"]), ("tensorflow.keras as keras", ["27.0 2 4", "9.0 2 4"])],
)
def test_a_layer_that_was_added_twice_is_listed_once(run, tmp_path, imported, printed):
    """As Keras 2.2.4 and TensorFlow 2.2 printed: the latter, without an input, called what `layers` lists."""
    (tmp_path / "train.py").write_text(TWICE.replace("{keras}", imported))
    done = run("train.py", *(["known"] if imported == "keras" else []))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == printed
