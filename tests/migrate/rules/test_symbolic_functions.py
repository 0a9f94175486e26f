from __future__ import annotations

import subprocess
import sys

import pytest

from tests.migrate.check import check_noop, migrated

HEAD = "import keras\nimport tensorflow as tf\nx = keras.layers.Dense(3)(x)\n"

PROGRAM = """
import keras, numpy as np, tensorflow as tf
from keras.engine import Model
from keras.layers import Dense, Input
x = Input((4, 3))
y = Dense(2)(tf.reduce_max(tf.square(x), 2) / tf.sqrt(tf.cast(tf.shape(x)[-1], "float32")))
model = Model(x, y)
model.save("m.keras")
given = np.arange(12, dtype="float32").reshape(1, 4, 3)
expected = (given ** 2).max(2) / 3 ** 0.5 @ model.get_weights()[0]
np.testing.assert_allclose(model.predict(given, verbose=0), expected, rtol=1e-5)
np.testing.assert_allclose(keras.models.load_model("m.keras").predict(given, verbose=0), expected, rtol=1e-5)
"""


@pytest.mark.slow
def test_a_migrated_script_computes_with_symbolic_tensors(tmp_path):
    text = migrated(PROGRAM, unsafe=True)
    (tmp_path / "program.py").write_text(text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.parametrize(
    "source",
    [
        HEAD + "def loss(y_true, y_pred):\n    return tf.square(y_true - y_pred)\n",
        HEAD + "class Twice(keras.layers.Layer):\n    def call(self, x):\n        return tf.multiply(x, 2)\n",
        HEAD + "tf.zeros((3,))\ntf.random.set_seed(3)\ntf.data.Dataset.range(3)\n",
        "import keras\nimport tensorflow as tf\nx = tf.square(x)\n",
    ],
)
def test_leaves_alone(source):
    check_noop(source, rule="symbolic-functions")


@pytest.mark.parametrize("product", ["x *= 2.0", "x = d * x"])
def test_products_with_numbers_are_not_sparse(product):
    head = "from keras.layers import Dense, Input\nfrom keras.engine import Layer\n"
    text = f"{head}def net(d):\n    x = Dense(3)(Input((4,)))\n    {product}\n    return Mine()(x)\n"
    assert "import parallel_compat.legacy.symbolic_functions\n" in migrated(text)
    check_noop(text.replace(product, "n = d * 2; x = x * x").replace("keras.engine", "keras.layers"))
