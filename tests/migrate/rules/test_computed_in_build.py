from __future__ import annotations

import pytest

from tests.migrate.check import check_noop, found

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
