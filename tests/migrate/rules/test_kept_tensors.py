from __future__ import annotations

import pytest

from tests.migrate.check import check_noop

CLASS = (
    "import keras\nimport tensorflow as tf\nclass Loss:\n    def {name}(self, x):\n        {line}\n        return x\n"
)


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("__init__", "self.alpha = tf.constant(self.alpha)"),
        ("call", "self.alpha = tf.constant(x)"),
        ("call", "self.alpha = tf.constant(self.alpha, x)"),
        ("call", "self.alpha = other.alpha = tf.constant(self.alpha)"),
        ("call", "alpha = tf.constant(self.alpha)"),
        ("call", "self.alpha = tf.square(self.alpha)"),
    ],
)
def test_leaves_alone(name, line):
    check_noop(CLASS.format(name=name, line=line), rule="kept-tensors")
