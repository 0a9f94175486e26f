from __future__ import annotations

import pytest

from tests.migrate.check import check_noop, check_transformed

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
