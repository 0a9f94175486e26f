from __future__ import annotations

import pytest

from tests.migrate.check import check_noop, check_transformed, migrated


@pytest.mark.parametrize(
    "source",
    [
        "from keras.layers import Embedding\nclass E(Embedding):\n    def build(self, shape):\n        pass\n",
        "from keras.layers import Dense\nclass D(Dense):\n    def call(self, x):\n        return [x, x]\n",
        "from parallel_compat.legacy.layers import Embedding\n"
        "class E(Embedding):\n"
        "    def call(self, x):\n"
        "        return [x, x]\n",
    ],
)
def test_leaves_alone(source):
    check_noop(source, rule="layer-bases")


def test_those_layers_say_what_they_give_and_ours_are_called():
    import keras
    import numpy as np

    from parallel_compat.legacy import layers
    from parallel_compat.migrate.rules.layer_bases import SAYING_WHAT_THEY_GIVE

    assert all("compute_output_spec" in vars(getattr(keras.layers, name)) for name in SAYING_WHAT_THEY_GIVE)

    class WithTable(layers.Embedding):
        def compute_output_shape(self, shape):
            return [super().compute_output_shape(shape), (self.input_dim, self.output_dim)]

        def compute_mask(self, x, mask=None):
            return [super().compute_mask(x, mask), None]

        def call(self, x):
            return [super().call(x), keras.ops.convert_to_tensor(self.embeddings)]

    x = keras.Input((3,))
    rows, table = WithTable(5, 2, mask_zero=True)(x)
    assert (rows.shape, table.shape) == ((None, 3, 2), (5, 2))
    model = keras.Model(x, [rows, keras.layers.Lambda(lambda pair: pair[0] + keras.ops.sum(pair[1]))([rows, table])])
    given, added = model.predict(np.array([[1, 2, 0]]), verbose=0)
    (weights,) = model.get_weights()
    np.testing.assert_allclose(given[0], weights[[1, 2, 0]])
    np.testing.assert_allclose(added, given + weights.sum(), rtol=1e-5)
    assert type(layers.Embedding(5, 2)) is keras.layers.Embedding
    table = np.ones((5, 2))
    named = layers.Embedding(input_dim=5, output_dim=2, input_length=3, weights=[table])
    np.testing.assert_array_equal(keras.Sequential([named]).predict(np.zeros((1, 3)), verbose=0), np.ones((1, 3, 2)))
    assert WithTable(input_dim=5, output_dim=2).input_dim == 5


def test_keras_by_way_of_a_module_of_the_project():
    """As keras-bert, keras-transformer and others of their author choose between Keras and tf.keras."""
    source = (
        "from .backend import keras\nclass E(keras.layers.Embedding):\n    def call(self, x):\n        return [x, x]\n"
    )
    after = source.replace("keras.layers.E", "E").replace(
        "import keras\n", "import keras\nfrom parallel_compat.legacy.layers import Embedding\n"
    )
    check_transformed(source, after)


LISTED = """\
from keras.layers import Layer
class Own(Layer):
    def call(self, x):
        {unpack}
        return a * b
    def compute_output_shape(self, s):
        return {shape}
"""


@pytest.mark.parametrize("shape", ["[(s[0][0], s[0][1])]", "[tuple(s[0])]", "s"])
def test_one_output_whose_shape_is_in_a_list(shape):
    """Keras 2.2.4 takes the first shape, tf.keras what `call` gives; Keras 3 takes it for two outputs."""
    source = LISTED.format(unpack="a, b = x", shape=shape)
    after = source.replace("(Layer)", "(parallel_compat.legacy.layers.Layer)")
    check_transformed(source, after.replace("import Layer\n", "import Layer\nimport parallel_compat.legacy.layers\n"))


@pytest.mark.parametrize(
    ("unpack", "shape"),
    [
        ("a, b = x[0], x[1]", "s"),  # it may be one tensor
        ("a, b = x", "s[0]"),
        ("a, b = x", "[s[0], 3]"),
        ("a, b = x", "[self.units]"),  # the size of the only axis
    ],
)
def test_other_shapes_are_left_alone(unpack, shape):
    check_noop(LISTED.format(unpack=unpack, shape=shape), rule="layer-bases")


def test_a_list_of_one_tensor_is_the_tensor():
    source = "from keras.layers import Layer\nclass Own(Layer):\n    def call(self, x):\n        return [x * x]\n"
    check_transformed(source, source.replace("[x * x]", "x * x"))
    check_noop(source.replace("[x * x]", "[x, x]"), rule="layer-bases")
    check_noop(source.replace("[x * x]", "[*x]"), rule="layer-bases")
    check_noop("import tensorflow as tf\n" + source.replace("keras.", "tensorflow.keras."), rule="layer-bases")


WRONG = """\
from keras.layers import Layer
class Own(Layer):
    def call(self, inputs):
        x = inputs
        return x[0] + x[1] * x[2]
    def compute_output_shape(self, shape):
        return (shape[0], 3)
"""


def test_wrong_shapes_that_old_keras_did_not_use():
    after = WRONG.replace("(Layer)", "(parallel_compat.legacy.layers.Layer)")
    after = after.replace("Layer\n", "Layer\nimport parallel_compat.legacy.layers\n", 1)
    check_transformed(WRONG, after)
    check_noop(WRONG.replace("(shape[0], 3)", "(shape[0][0], 3)"), rule="layer-bases")
    of_one = WRONG.replace("x[0] + x[1] * x[2]", "x * 2")
    check_noop(of_one, rule="layer-bases")
    check_transformed(of_one.replace("from keras", "from tensorflow.keras"), after_of_one(of_one))

    import keras

    written: dict[str, type] = {}
    exec(after, written)
    x = keras.Input((3,))
    assert written["Own"]()([x, x, x]).shape == (None, 3)


def after_of_one(source):
    source = source.replace("from keras", "from tensorflow.keras").replace(
        "(Layer)", "(parallel_compat.legacy.layers.Layer)"
    )
    return source.replace("Layer\n", "Layer\nimport parallel_compat.legacy.layers\n", 1)


@pytest.mark.parametrize(
    ("line", "is_found"), [("pass", True), ("self.result = None", True), ("self.result = 1", False)]
)
def test_an_output_shape_that_the_call_keeps(line, is_found):
    """Keras 3 asks for it before; in `__init__` it may be None."""
    source = (
        "from keras.layers import Layer\nclass Distance(Layer):\n"
        f"    def __init__(self):\n        super().__init__()\n        {line}\n"
        "    def call(self, x):\n        self.result = abs(x[0] - x[1])\n        return self.result\n"
        "    def compute_output_shape(self, shape):\n        return self.result.shape\n"
    )
    assert ("(parallel_compat.legacy.layers.Layer)" in migrated(source)) == is_found
