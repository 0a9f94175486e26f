from __future__ import annotations

import pytest

from tests.migrate.check import check_noop, check_transformed, found

HEAD = """\
import keras.backend as K
from keras.layers import Layer
class Mine(Layer):
    def build(self, shape):
        self.kernel = self.add_weight(name='kernel', shape=(3, 4))
"""


@pytest.mark.parametrize("value", ["self.kernel[:, :2]", "K.reshape(self.kernel, (4, 3))", "self.kernel / 2"])
def test_reports(value):
    assert found(f"{HEAD}        self.part = {value}\n", "computed-in-build") == [(6, "attention")]


@pytest.mark.parametrize("value", ["self.kernel", "self.kernel.shape[0]", "[self.kernel]", "shape[-1] * 2"])
def test_says_nothing_of(value):
    check_noop(
        f"{HEAD}        self.part = {value}\n".replace("import keras.backend as K\n", ""), rule="computed-in-build"
    )


TIED = """\
from keras.layers import Layer
from parallel_compat.legacy import backend as K
class Tied(Layer):
    def build(self, shape):
        self.w = self.tied_to.{weight}
        self.kernel = K.transpose(self.w)
        self.twice = self.kernel * 2
    def call(self, x):
        \"\"\"Dense.\"\"\"
{again}        return K.dot(x, self.twice)
"""
AGAIN = "        self.kernel = K.transpose(self.w)\n        self.twice = self.kernel * 2\n"


@pytest.mark.parametrize("weight", ["kernel", "weights[0]"])
def test_what_attributes_give_is_computed_again_in_call(weight):
    """In Keras 2.2.4 a tied layer follows the weights of the other one."""
    check_transformed(TIED.format(weight=weight, again=""), TIED.format(weight=weight, again=AGAIN))


def test_what_needs_a_local_name_is_reported():
    source = TIED.format(weight="kernel", again="").replace("self.kernel * 2", "self.kernel * shape[-1]")
    assert found(source, "computed-in-build") == [(6, "attention"), (7, "attention")]


@pytest.mark.parametrize("value", ["int(self.cfg.kernel)", "self.cfg.kernel * 2", "f(self.tied_to.bias.shape)"])
def test_leaves_other_attributes_alone(value):
    source = TIED.replace("K.transpose(self.w)", value).replace("self.kernel * 2", "3")
    assert found(source.format(weight="name", again=""), "computed-in-build") == []


IF = """\
        if self.use_bias:
            self.part = self.kernel[:2]
        else:
            self.part = None
"""


@pytest.mark.parametrize("before", ["", "        self.whole = self.kernel * 2\n"])
def test_an_if_of_such_statements_moves_as_a_whole(before):
    call = "    def call(self, x):\n{}        return x\n"
    again = before + IF
    check_transformed(
        HEAD.replace("import keras.backend as K\n", "") + before + IF + call.format(""),
        HEAD.replace("import keras.backend as K\n", "") + before + IF + call.format(again),
    )


def test_an_if_that_makes_weights_is_reported():
    text = (
        HEAD
        + IF.replace("self.part = None", "self.other = self.add_weight('other')")
        + "    def call(self, x):\n        return x\n"
    )
    assert found(text, "computed-in-build") == [(7, "attention")]


@pytest.mark.parametrize(
    ("value", "finding"),
    [
        ("K.concatenate([self.add_weight('w', (2,)) for _ in range(3)])", [(6, "attention")]),
        ("[self.add_weight('w', (2,)) for _ in range(3)]", []),
        ("list(self.add_weight('w', (2,)) for _ in range(3))", []),
        ("self.add_weight('w', (2,))", []),
    ],
)
def test_what_is_computed_of_weights_without_names(value, finding):
    """`W` of the graph convolution of relational-gcn would never be trained."""
    source = f"{HEAD}        self.W = {value}\n    def call(self, x):\n        return x\n"
    assert found(source, "computed-in-build") == finding
