from __future__ import annotations

import pytest

from tests.migrate.check import check_noop, check_transformed, found, migrated

HEAD = "import tensorflow as tf\nimport numpy as np\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("isinstance(w, tf.Variable)\n", "isinstance(w, (tf.Variable, tf.keras.Variable))\n"),
        (
            "isinstance(w, (np.ndarray, tf.Variable, int))\n",
            "isinstance(w, (np.ndarray, tf.Variable, tf.keras.Variable, int))\n",
        ),
    ],
)
def test_weights_are_found(before, after):
    check_transformed(HEAD + before, HEAD + after)


@pytest.mark.parametrize(
    "source",
    ["isinstance(w, tf.Tensor)\n", "isinstance(w, np.ndarray)\n", "tf.Variable(3.0)\n", "type(w) is tf.Variable\n"],
)
def test_leaves_alone(source):
    check_noop(HEAD + source, rule="variable-classes")


OLD = "import tensorflow as tf\nimport tensorflow.keras.backend as K\nK.set_session(None)\n"
SCALE = (
    OLD
    + """\
class Scale(tf.keras.layers.Layer):
    def build(self, shape):
        self.a = K.variable([0.5, 0.5])
        self.b = [tf.Variable(initial_value=tf.zeros(shape[-1:]), trainable=True) for _ in range(2)]
        self.c = tf.Variable(2.0, trainable=False)
    def call(self, x):
        return x * self.a * self.c + self.b[0] + self.b[1]
"""
)
MODEL = """
m = tf.keras.Sequential([tf.keras.layers.Dense(2, kernel_initializer='ones', input_shape=(3,)), Scale()])
m.compile('sgd', 'mse')
"""


def test_variables_that_a_layer_holds_are_trained():
    """The losses are those of TensorFlow 2.2."""
    import numpy as np

    names: dict = {}
    exec(compile(migrated((SCALE + MODEL).replace("K.set_session(None)\n", "")), "program", "exec"), names)
    x = np.arange(12).reshape(4, 3) / 12
    history = names["m"].fit(x, x[:, :2], epochs=2, verbose=0, shuffle=False).history
    assert np.allclose(history["loss"], [1.2326390, 0.9253225], atol=1e-6)
    assert [len(names["m"].trainable_weights), len(names["m"].weights)] == [5, 6]


@pytest.mark.parametrize("use", ["self.c.value()", "self.b[0].assign(3)", "self.a.scatter_update(x)"])
def test_what_only_a_variable_of_tensorflow_has_is_reported(use):
    source = SCALE.replace("return x", f"return {use} + x")
    assert [status for _, status in found(source, "variable-classes")].count("attention") == 1


@pytest.mark.parametrize(
    "source",
    [
        "import keras\nfrom keras import backend as K\nclass A(keras.layers.Layer):\n    def build(self, s):\n"
        "        self.a = K.variable(3.0)\n",
        OLD + "class A:\n    def __init__(self):\n        self.a = tf.Variable(3.0)\n",
        OLD + "class A(tf.keras.layers.Layer):\n    def build(self, s):\n        a = tf.Variable(3.0)\n",
        OLD + "class A(tf.keras.layers.Layer):\n    def build(self, s):\n        self.a = f(tf.Variable(3.0))\n",
    ],
)
def test_leaves_other_variables_alone(source):
    assert found(source, "variable-classes") == []
