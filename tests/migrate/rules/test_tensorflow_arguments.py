from __future__ import annotations

import pytest

from tests.migrate.check import check_noop, check_transformed, found, migrated

HEAD = "import tensorflow as tf\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("tf.reduce_sum(x, keep_dims=True)", "tf.compat.v1.reduce_sum(x, keep_dims=True)"),
        ("tf.nn.dropout(x, keep_prob=0.8)", "tf.compat.v1.nn.dropout(x, keep_prob=0.8)"),
        ("tf.expand_dims(x, dim=1)", "tf.compat.v1.expand_dims(x, dim=1)"),
        ("tf.nn.softmax(x, dim=-1)", "tf.compat.v1.nn.softmax(x, dim=-1)"),
    ],
)
def test_old_names(before, after):
    check_transformed(f"{HEAD}y = {before}\n", f"{HEAD}y = {after}\n")


def test_old_positions():
    source = HEAD + "y = tf.nn.dropout(x, 0.8)\n"
    check_noop(source)
    assert found(source, "tensorflow-arguments") == [(2, "attention")]
    check_transformed(
        HEAD + "from keras.utils import multi_gpu_model\ny = tf.nn.dropout(x, 0.8)\n",
        HEAD + "from parallel_compat import multi_gpu_model\ny = tf.compat.v1.nn.dropout(x, 0.8)\n",
    )


def test_what_gives_something_else_today():
    old = HEAD + "from keras.utils import multi_gpu_model\n"
    assert "\ny = tf.compat.v1.where(c, x, -x)\nz = tf.where(c)\n" in migrated(
        old + "y = tf.where(c, x, -x)\nz = tf.where(c)\n"
    )
    assert found(old + "first = tf.random_normal_initializer()\n", "tensorflow-arguments") == [(3, "rewritten")]
    assert found(HEAD + "K = tf.keras.backend\ny = tf.where(c, x, -x)\n", "tensorflow-arguments") == []


@pytest.mark.parametrize(
    "source",
    [
        HEAD + "tf.reduce_sum(x, axis=1, keepdims=True)\n",
        HEAD + "tf.nn.dropout(x, rate=0.2)\n",
        HEAD + "tf.nn.conv2d(x, w, [1, 1, 1, 1], 'SAME')\n",
        "import mytf as tf\nimport keras\ntf.reduce_sum(x, keep_dims=True)\n",
    ],
)
def test_leaves_alone(source):
    check_noop(source, rule="tensorflow-arguments")
