from __future__ import annotations

import pytest

from tests.migrate.check import check_noop, check_transformed, found

HEAD = "from keras.layers import Dense, Input\nx = Input((3,))\ny = Dense(3)(x)\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("n = x.get_shape()[1]", "n = x.shape[1]"),
        ("n = y.get_shape().as_list()[1:]", "n = list(y.shape)[1:]"),
        ("n = y.get_shape()[1].value", "n = y.shape[1]"),
        ("n = y.shape[1].value", "n = y.shape[1]"),
        ("n = anything._keras_shape[-1]", "n = anything.shape[-1]"),
        ("n = y.shape.as_list()[1:]", "n = list(y.shape)[1:]"),
        ("n = y.shape.ndims", "n = len(y.shape)"),
        ("n = layer.compute_output_shape(s).as_list()", "n = list(layer.compute_output_shape(s))"),
    ],
)
def test_becomes_shape(before, after):
    check_transformed(HEAD + before + "\n", HEAD + after + "\n")


def test_an_unknown_object_is_a_guess():
    source = "import keras\ndef f(x):\n    return x.get_shape()\n"
    check_noop(source, unsafe=False)
    assert found(source, "tensor-shape") == [(3, "unsafe")]


@pytest.mark.parametrize(
    "source",
    [
        HEAD + "n = x.shape[1]\n",
        "import keras\nbox.get_shape(3)\n",
        "import keras\nclass B:\n    pass\nB().get_shape\n",
    ],
)
def test_leaves_alone(source):
    check_noop(source, rule="tensor-shape")


def test_dimensions_that_went_through_variables():
    check_transformed(
        """
        from keras.layers import Input
        x = Input((3,))
        shape = x.get_shape()
        width = x.get_shape()[1]
        print(shape[1].value, width.value, [d.value for d in x.get_shape()])
        """,
        """
        from keras.layers import Input
        x = Input((3,))
        shape = x.shape
        width = x.shape[1]
        print(shape[1], width, [d for d in x.shape])
        """,
    )
    source = "import keras\nprint(metric.value, row[1].value)\n"
    check_noop(source, rule="tensor-shape")


def test_dimensions_of_what_a_layer_is_built_for():
    check_transformed(
        """
        import tensorflow as tf
        from tensorflow.keras.layers import Layer

        class Own(Layer):
            def build(self, input_shape):
                width = input_shape[-1].value
                self.w = self.add_weight(name="w", shape=[input_shape[1].value, tf.TensorShape(input_shape)[2].value])

            def compute_output_shape(self, shapes):
                last = shapes[1][-1]
                return shapes[0][0].value, last.value
        """,
        """
        import tensorflow as tf
        from tensorflow.keras.layers import Layer

        class Own(Layer):
            def build(self, input_shape):
                width = input_shape[-1]
                self.w = self.add_weight(name="w", shape=[input_shape[1], tf.TensorShape(input_shape)[2]])

            def compute_output_shape(self, shapes):
                last = shapes[1][-1]
                return shapes[0][0], last
        """,
    )
    source = "import keras\nclass Own:\n    def build(self, input_shape):\n        return input_shape[0].value\n"
    check_noop(source, rule="tensor-shape")


def test_the_shape_that_a_layer_is_built_for():
    source = """from keras.layers import Layer
class Own(Layer):
    def build(self, input_shape):
        self.size, self.rank = input_shape.as_list()[-1], input_shape.ndims
"""
    after = source.replace("input_shape.as_list()", "list(input_shape)").replace(
        "input_shape.ndims", "len(input_shape)"
    )
    check_transformed(source, after)


@pytest.mark.parametrize("line", ["n = s.as_list()", "n = data.ndims", "n = tf.TensorShape(s).as_list()"])
def test_other_objects_have_such_names_too(line):
    check_noop(HEAD + "import tensorflow as tf\n" + line + "\n")


def test_what_only_a_shape_of_tensorflow_has():
    source = """import tensorflow as tf
from tensorflow.keras.layers import Layer
class Own(Layer):
    def build(self, shapes):
        self.size = {}shapes[0][1:]{}.num_elements()
        other.num_elements()
    def compute_output_shape(self, shape):
        return {}shape[:-1]{}.concatenate(2)
"""
    check_transformed(source.format("", "", "", ""), source.format(*("tf.TensorShape(", ")") * 2))


def test_the_size_of_a_cell_is_an_integer():
    """Keras 3: "state_size must be an integer"."""
    source = """import tensorflow as tf
class Cell(tf.keras.layers.Layer):
    def __init__(self, units):
        self.output_size = {one}
        self.state_size = [{one}, units]
"""
    check_transformed(source.format(one="tf.TensorShape([units])"), source.format(one="units"))
    assert found(source.format(one="tf.TensorShape([units, 2])"), "tensor-shape") == [
        (4, "attention"),
        (5, "attention"),
    ]
