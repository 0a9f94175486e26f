"""Which optimizers come from `legacy_numerics.py`, and where nothing is changed."""

from __future__ import annotations

import pytest

from tests.migrate.native.check import check_native, questions, rewriting

EMBEDDING = "from keras.layers import Embedding\nlayer = Embedding(10, 3)\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "from keras import optimizers\no = optimizers.RMSprop(lr=0.1)\n",
            "from keras import optimizers\nfrom legacy_numerics import RMSprop\no = RMSprop(learning_rate=0.1)\n",
        ),
        (
            "import keras\nkinds = {'rmsprop': keras.optimizers.RMSprop}\nsgd = keras.optimizers.SGD(lr=0.1)\n",
            "import keras\nfrom legacy_numerics import RMSprop\nkinds = {'rmsprop': RMSprop}\n"
            "sgd = keras.optimizers.SGD(learning_rate=0.1)\n",
        ),
        (
            "from keras.layers import Dense\nfrom keras.models import Sequential\n"
            "model = Sequential([Dense(3, init='glorot_normal')])\nmodel.compile('rmsprop', 'mse')\n",
            "from keras.layers import Dense\nfrom keras.models import Sequential\nfrom legacy_numerics import RMSprop\n"
            "model = Sequential([Dense(3, kernel_initializer='glorot_normal')])\nmodel.compile(RMSprop(), 'mse')\n",
        ),
        (
            f"{EMBEDDING}from keras.optimizers import Adam\no = Adam(lr=0.1)\n",
            f"{EMBEDDING}from legacy_numerics import Adam\no = Adam(learning_rate=0.1)\n",
        ),
    ],
)
def test_what_steps_otherwise_comes_from_the_helpers(before, after):
    check_native(before, after)


@pytest.mark.parametrize(
    "source",
    [
        "from keras.optimizers import RMSprop\no = RMSprop(learning_rate=0.1)\n",  # nothing says that it is old
        "from keras.optimizers import Adam\no = Adam(learning_rate=0.1)\n",
        "from keras.optimizers import SGD\no = SGD(learning_rate=0.1)\n" + EMBEDDING,
    ],
)
def test_what_steps_as_then_stays(source):
    assert rewriting(source).text == source


def test_what_keras_2_did_not_have_stays():
    text = rewriting("from keras.optimizers import RMSprop\no = RMSprop(lr=0.1, momentum=0.9)\n").text
    assert text == "from keras.optimizers import RMSprop\no = RMSprop(learning_rate=0.1, momentum=0.9)\n"


def test_tf_keras_of_2_11_stepped_as_keras_3():
    """So it is rewritten where asked for, and where a name of TensorFlow 1 says which it was."""
    source = "import tensorflow as tf\no = tf.keras.optimizers.RMSprop(lr=0.1)\n"
    assert "legacy_numerics" not in rewriting(source).text
    assert [one for one in questions(source) if one.startswith("native-steps")]
    assert "legacy_numerics" in rewriting(source, unsafe=True).text
    assert "legacy_numerics" in rewriting(source + "n = tf.log(1.0)\n").text


def test_rows_that_were_not_looked_up_stayed_in_tf_keras():
    source = "import tensorflow as tf\nn = tf.log(1.0)\nlayer = tf.keras.layers.Embedding(10, 3)\n"
    assert [one for one in questions(f"{source}o = tf.keras.optimizers.Nadam(lr=0.1)\n") if "all rows" in one]


def test_a_name_that_may_be_that_of_an_optimizer_is_asked_about():
    source = "import keras\nname = 'rmsprop'\nmodel.compile(keras.optimizers.get(name), lr=0.1)\nK = keras.backend\n"
    assert [one for one in questions(source) if one.startswith("native-steps")]
