from __future__ import annotations

import pytest

from tests.migrate.check import check_noop, check_transformed

HEAD = "from keras.layers import Dense, Layer\nclass Mine({base}):\n"
BUILD = """\
    def build(self, shape):
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(name='bias', shape=(3,))
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("if self.bias: x += self.bias", "if self.bias is not None: x += self.bias"),
        ("if not self.bias: return x", "if self.bias is None: return x"),
        ("if self.use_bias and self.bias: return x", "if self.use_bias and self.bias is not None: return x"),
        ("return [y for y in x if self.bias]", "return [y for y in x if self.bias is not None]"),
    ],
)
def test_asks_whether_it_is_there(before, after):
    start = HEAD.format(base="Layer") + BUILD + "    def call(self, x):\n        "
    check_transformed(f"{start}{before}\n", f"{start}{after}\n")


def test_a_weight_of_the_base():
    start = HEAD.format(base="Dense") + "    def f(self):\n        return 1 "
    check_transformed(f"{start}if self.kernel else 2\n", f"{start}if self.kernel is not None else 2\n")


@pytest.mark.parametrize(
    "source",
    [
        HEAD.format(base="Layer") + "    def build(self, bias):\n"
        "        self.bias = bias\n"
        "    def call(self, x):\n"
        "        return 1 if self.bias else 2\n",
        HEAD.format(base="object") + BUILD + "    def call(self, x):\n        return 1 if self.bias else 2\n",
        HEAD.format(base="Layer") + BUILD + "    def call(self, x):\n        return self.bias or x\n",
        HEAD.format(base="Layer") + BUILD + "    def call(self, x):\n        return 1 if x.bias else 2\n",
    ],
)
def test_leaves_alone(source):
    check_noop(source, rule="truth-of-weights")
