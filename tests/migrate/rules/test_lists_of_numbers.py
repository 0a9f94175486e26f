from __future__ import annotations

import pytest

from tests.migrate.check import check_noop, check_transformed, found

HEAD = "import numpy as np\nfrom keras.models import Sequential\nmodel = Sequential()\n"


@pytest.mark.parametrize("given", ["[1] * n + [0] * n", "[0, 1, 1]", "2 * [-1.5]", "[0.9 for _ in range(n)]"])
def test_lists_become_arrays(given):
    for use in ("train_on_batch(x, {})", "fit({}, y, epochs=2)", "evaluate(x=x, y={})", "predict({})"):
        check_transformed(HEAD + f"model.{use.format(given)}\n", HEAD + f"model.{use.format(f'np.array({given})')}\n")


def test_a_list_with_a_name():
    line = "y = [1] * n + [0] * n\nmodel.train_on_batch(x, {})\n"
    check_transformed(HEAD + line.format("y"), HEAD + line.format("np.array(y)"))


def test_where_numpy_is_not_imported():
    check_transformed(
        "from keras.models import Sequential\nmodel = Sequential()\nmodel.predict([10.0])\n",
        "from keras.models import Sequential\nimport numpy\nmodel = Sequential()\nmodel.predict(numpy.array([10.0]))\n",
    )


def test_where_the_file_does_not_tell():
    use = HEAD + "net.{}(x, [0, 1])\n"
    assert found(use.format("fit"), "lists-of-numbers") == [(4, "unsafe")]
    assert found(use.format("train_on_batch"), "lists-of-numbers") == [(4, "rewritten")]


@pytest.mark.parametrize("given", ["[x, y]", "x * [1, n]", "[]", "n * 3", "[True]", "np.array([1])", "[n for n in z]"])
def test_leaves_alone(given):
    check_noop(HEAD + f"model.train_on_batch(x, {given})\n", rule="lists-of-numbers")


ON_MODULE = """\
import numpy as np
import tensorflow as tf
tf.model = tf.keras.Sequential()
tf.model.compile("sgd", "mse")
"""


def test_lists_of_lists_of_tensorflow_2_are_arrays():
    """Recorded: TensorFlow 2.2 trains on both, and Keras 2.2.4 and TensorFlow 1.15 take the rows for several inputs."""
    before = f"{ON_MODULE}x = [[1, 2], [3, 4]]\ntf.model.fit(x, [[1.5], [-2]])\ntf.model.predict([[100, 70]])\n"
    after = (
        f"{ON_MODULE}x = [[1, 2], [3, 4]]\ntf.model.fit(np.array(x), np.array([[1.5], [-2]]))\n"
        "tf.model.predict(np.array([[100, 70]]))\n"
    )
    check_transformed(before, after)
    assert found(f"{HEAD}model.fit([[1, 2], [3, 4]], y)\n", "lists-of-numbers") == [(4, "unsafe")]
