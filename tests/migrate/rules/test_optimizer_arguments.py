from __future__ import annotations

import pytest

from tests.migrate.check import check_noop, check_transformed, found


def wrapped(call: str, module: str = "keras.optimizers") -> str:
    return f"from {module} import {call.partition('(')[0]}\no = {call}\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("SGD(lr=0.1)", "SGD(learning_rate=0.1)"),
        ("SGD(lr=1, momentum=0.9)", "SGD(learning_rate=1.0, momentum=0.9)"),  # Keras 3 stops at a whole number
        ("SGD(10)", "SGD(10.0)"),
        ("SGD(lr=0.1, decay=0.)", "SGD(learning_rate=0.1)"),
        ("Adam(lr=1e-3, epsilon=None, decay=0.0, amsgrad=False)", "Adam(learning_rate=1e-3, amsgrad=False)"),
        ("Adam(decay=0)", "Adam()"),
        ("Adam(1e-3, 0.9, 0.999, None, 0., True)", "Adam(1e-3, 0.9, 0.999, None, amsgrad=True)"),
        ("SGD(0.1, 0.9, 0.0, True)", "SGD(0.1, 0.9, nesterov=True)"),
    ],
)
def test_renames_and_drops(before, after):
    check_transformed(wrapped(before), wrapped(after))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("SGD(lr=0.1, decay=1e-6)", "SGD(learning_rate=0.1, decay=1e-6)"),
        ("SGD(0.1, 0.9, 1e-6, True)", "SGD(0.1, 0.9, decay=1e-6, nesterov=True)"),
        ("Adam(lr=rate, decay=rate / epochs)", "Adam(learning_rate=rate, decay=rate / epochs)"),
    ],
)
def test_a_decay_keeps_its_effect(before, after):
    check_transformed(wrapped(before), wrapped(after, "parallel_compat.legacy.optimizers"))


def test_under_an_attribute_chain():
    check_transformed(
        "import keras\no = keras.optimizers.rmsprop(lr=0.0001, decay=1e-6)\n",
        "import keras\nfrom parallel_compat.legacy.optimizers import RMSprop\n"
        "o = RMSprop(learning_rate=0.0001, decay=1e-6)\n",
    )
    check_transformed(
        "import tensorflow as tf\no = tf.keras.optimizers.Adam(lr=1.)\n",
        "import tensorflow as tf\no = tf.keras.optimizers.Adam(learning_rate=1.)\n",
    )


def test_lines_of_their_own_go_whole():
    check_transformed(
        "from keras.optimizers import Adam\no = Adam(\n    lr=1.,\n    decay=0.0,  # none\n    beta_1=0.5,\n)\n",
        "from keras.optimizers import Adam\no = Adam(\n    learning_rate=1.,\n      # none\n    beta_1=0.5,\n)\n",
    )
    check_transformed(
        "from keras.optimizers import Adam\no = Adam(\n    lr=1.,\n    decay=0.0,\n    beta_1=0.5,\n)\n",
        "from keras.optimizers import Adam\no = Adam(\n    learning_rate=1.,\n    beta_1=0.5,\n)\n",
    )


@pytest.mark.parametrize(
    "source",
    [
        "from keras.optimizers import SGD\nSGD(learning_rate=0.1, momentum=0.9)\n",
        "from keras.optimizers import SGD\nSGD(0.1, 0.9, True)\n",
        "from torch.optim import SGD\nimport keras\nSGD(lr=0.1)\n",
        "import keras\ndef f(lr): pass\nf(lr=0.1)\n",
    ],
)
def test_leaves_alone(source):
    check_noop(source, rule="optimizer-arguments")


def test_a_dict_with_a_rate_in_it():
    check_transformed(
        "from keras.optimizers import Adam\nsettings = dict(lr=0.1)\nadam = Adam(**settings)\n",
        "from parallel_compat.legacy.optimizers import Adam\nsettings = dict(lr=0.1)\nadam = Adam(**settings)\n",
    )
    check_noop("from keras.optimizers import Adam\nadam = Adam(**{'learning_rate': 0.1})\n")
    unknown = "from keras.optimizers import Adam\ndef make(**settings):\n    return Adam(**settings)\n"
    assert found(unknown, "optimizer-arguments") == [(3, "attention")]


def test_a_tensor_is_no_learning_rate_any_more():
    tf = "import tensorflow as tf\nfrom tensorflow.keras.optimizers import SGD\n"
    check_transformed(tf + "SGD(learning_rate=tf.constant(0.1))\n", tf + "SGD(learning_rate=0.1)\n")
    check_transformed(tf + "SGD(tf.constant(rate), 0.9)\n", tf + "SGD(rate, 0.9)\n")
    named = tf + "r = tf.constant(0.1)\n"
    check_transformed(named + "SGD(lr=r)\n", named + "SGD(learning_rate=float(r))\n")
    assert found(tf + "SGD(tf.Variable(0.1))\n", "optimizer-arguments") == [(3, "attention")]
    check_noop(tf + "SGD(schedule(0.1))\n")


@pytest.mark.parametrize(
    ("function", "value", "after"),
    [
        ("def f(eps=None)", "eps", "eps or 1e-7"),
        ("def f(a, *, eps=None)", "eps", "eps or 1e-7"),
        ("def f(a, s={'rate': 1, 'eps': None})", "s['eps']", "s['eps'] or 1e-7"),
        ("def f(eps=1e-8, other=None)", "eps", "eps"),
        ("def f(a, s={'rate': None, 'eps': 1})", "s['eps']", "s['eps']"),
    ],
)
def test_an_epsilon_that_may_be_none(function, value, after):
    head = f"from keras.optimizers import Adam\n{function}:\n    return Adam(epsilon="
    check_transformed(f"{head}{value})\n", f"{head}{after})\n")


@pytest.mark.parametrize(
    "use",
    ["    pass\no = Own(lr=0.1)\n", "    def __init__(self, rate):\n        super().__init__(lr=rate, decay=1e-3)\n"],
)
def test_the_base_of_a_class_that_gets_old_arguments(use):
    check_transformed(
        f"from keras.optimizers import SGD\nclass Own(SGD):\n{use}",
        "from keras.optimizers import SGD\nimport parallel_compat.legacy.optimizers\n"
        f"class Own(parallel_compat.legacy.optimizers.SGD):\n{use}",
    )


def test_the_base_of_a_class_without_old_arguments():
    check_noop(
        "from keras.optimizers import SGD\nclass Own(SGD):\n    pass\no = Own(0.1)\n", rule="optimizer-arguments"
    )
