from __future__ import annotations

import pytest

from tests.migrate.check import check_noop, check_transformed, found

HEAD = "from keras.models import Sequential\nmodel = Sequential()\n"
IMPORT = "from parallel_compat.legacy.models import reset_states\n"
AFTER = f"from keras.models import Sequential\n{IMPORT}model = Sequential()\n"


def test_becomes_a_function():
    check_transformed(
        f"{HEAD}for i in range(3):\n    model.reset_states()  # the next song\n",
        f"{AFTER}for i in range(3):\n    reset_states(model)  # the next song\n",
    )


def test_an_unknown_object_is_a_guess():
    assert found("import keras\nnet.reset_states()\n", "reset-states") == [(2, "unsafe")]


@pytest.mark.parametrize(
    "source",
    [
        "from keras.layers import SimpleRNN\nlayer = SimpleRNN(3)\nlayer.reset_states()\n",
        "import keras\nlayer.reset_states([h, c])\n",
        HEAD + "class Net:\n    def reset_states(self):\n        pass\nnet = Net()\nnet.reset_states()\n",
    ],
)
def test_leaves_alone(source):
    check_noop(source, rule="reset-states")
