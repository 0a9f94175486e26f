from __future__ import annotations

import pytest

from tests.migrate.check import check_noop, check_transformed, found, migrated

SIGMOID = "recurrent_activation=hard_sigmoid"
IMPORT = "from parallel_compat.legacy.activations import hard_sigmoid\n"


@pytest.mark.parametrize(
    ("line", "before", "after", "more"),
    [
        ("from keras.optimizers import Adadelta\n", "Adadelta()", "Adadelta(learning_rate=1.0)", ""),
        ("from keras.optimizers import Nadam\n", "Nadam(beta_1=0.8)", "Nadam(beta_1=0.8, learning_rate=0.002)", ""),
        (
            "from keras.optimizers import Adagrad\n",
            "Adagrad()",
            "Adagrad(learning_rate=0.01, initial_accumulator_value=0.0)",
            "",
        ),
        ("from keras.layers import LSTM\n", "LSTM(3, 'tanh')", f"LSTM(3, 'tanh', {SIGMOID})", IMPORT),
        ("from keras.layers import GRU\n", "GRU(3)", f"GRU(3, {SIGMOID}, reset_after=False)", IMPORT),
        ("from keras.layers import GRU\n", "GRU(3,\n)", f"GRU(3, {SIGMOID}, reset_after=False,\n)", IMPORT),
    ],
)
def test_writes_the_old_default_out(line, before, after, more):
    source = line + before + "\n"
    check_noop(source, unsafe=False)
    assert found(source, "changed-defaults") == [(2, "unsafe")]
    check_transformed(source, line + more + after + "\n", unsafe=True)


def test_the_first_version_of_a_class_has_its_own_defaults_in_code_of_tensorflow_2():
    source = "import tensorflow as tf\nfrom tensorflow.python.keras.layers.recurrent import GRU\n"
    check_transformed(
        f"{source}GRU(3, 'tanh', 'sigmoid')\ntf.keras.layers.GRU(3)\n",
        "import tensorflow as tf\nfrom tensorflow.keras.layers import GRU\n"
        "GRU(3, 'tanh', 'sigmoid', reset_after=False)\ntf.keras.layers.GRU(3)\n",
        unsafe=True,
    )


def test_what_is_required_today_is_safe():
    check_transformed(
        "from tensorflow.keras.layers import AveragePooling2D\nAveragePooling2D()\n",
        "from tensorflow.keras.layers import AveragePooling2D\nAveragePooling2D(pool_size=(2, 2))\n",
    )


def test_a_call_that_is_certainly_old_is_safe():
    check_transformed(
        "from keras.optimizers import Adagrad\nAdagrad(lr=0.1)\n",
        "from keras.optimizers import Adagrad\nAdagrad(learning_rate=0.1, initial_accumulator_value=0.0)\n",
    )


def test_optimizers_by_name():
    check_transformed(
        "import keras\nmodel.compile(optimizer='adadelta', loss='mse')\n",
        "import keras\nmodel.compile(optimizer=keras.optimizers.Adadelta(learning_rate=1.0), loss='mse')\n",
        unsafe=True,
    )


@pytest.mark.parametrize(
    "source",
    [
        "from keras.optimizers import Adadelta\nAdadelta(learning_rate=0.1)\nAdadelta(0.1)\nAdadelta(**options)\n",
        "from keras.layers import LSTM\nLSTM(3, recurrent_activation='sigmoid')\nLSTM(3, 'tanh', 'sigmoid')\n",
        "from tensorflow.keras.layers import LSTM\nLSTM(3)\n",
        "from tensorflow.keras.optimizers import Adadelta\nAdadelta()\n",
        "import tensorflow as tf\nmodel.compile('adadelta')\n",
        "from keras.layers import AveragePooling2D\nAveragePooling2D(3)\n",
    ],
)
def test_leaves_alone(source):
    check_noop(source, rule="changed-defaults")


@pytest.mark.parametrize(
    "named",
    [
        "def build(optimizer='adagrad'):\n    model.compile(optimizer, 'mse')\n",
        "for optimizer in ['SGD', 'Adagrad', 'Adam']:\n    model.compile(loss='mse', optimizer=optimizer)\n",
        "args.optimizer = 'adagrad'\nmodel.compile(loss='mse', optimizer=args.optimizer)\n",
    ],
)
def test_a_name_that_may_reach_compile_is_reported(named):
    """Keras 2.2.4 steps by 0.01, and Keras 3 by 0.001."""
    head = "from keras.models import Sequential\nmodel = Sequential()\n"
    assert found(f"{head}{named}", "changed-defaults", unsafe=True) == [(3, "attention")]


def test_a_name_that_the_file_chooses_by_is_not_reported():
    head = "from keras.models import Sequential\nfrom keras.optimizers import SGD\nmodel = Sequential()\n"
    text = f"{head}if name == 'adagrad':\n    o = SGD(0.1)\nmodel.compile(o, 'mse')\nbuild('adagrad')\n"
    assert found(text, "changed-defaults") == []
    assert found(f"{head}model.compile('sgd', 'mse')\nlabel = 'adagrad'\n", "changed-defaults") == []


def test_a_name_that_get_is_given():
    check_transformed(
        "from keras import optimizers\no = optimizers.get('adagrad')\n",
        "from keras import optimizers\no = optimizers.get(optimizers.Adagrad(learning_rate=0.01, "
        "initial_accumulator_value=0.0))\n",
        unsafe=True,
    )


def test_optimizers_that_safe_rewrites_have_moved():
    """A second run with `--unsafe` writes what the first one left."""
    safe = migrated("from keras.optimizers import Adamax\na = Adamax(decay=0.1)\nb = Adamax()\n", unsafe=False)
    assert safe.endswith("a = Adamax(decay=0.1, learning_rate=0.002)\nb = Adamax()\n")
    assert migrated(safe, unsafe=True) == safe.replace("Adamax()", "Adamax(learning_rate=0.002)")
    native = "from keras.layers.core import Dense\nfrom legacy_numerics import Adagrad\na = Adagrad()\n"
    assert found(native, "changed-defaults") == [(3, "unsafe")]


def test_a_class_of_the_project_has_the_defaults_of_its_base():
    own = "from keras.layers import LSTM\n\n\nclass Own(LSTM):\n    def build(self, shape):\n        pass\n\n\n"
    after = own.replace("LSTM\n", f"LSTM\n{IMPORT}", 1)
    check_transformed(f"{own}Own(3)\n", f"{after}Own(3, {SIGMOID})\n", unsafe=True)
    check_noop(own.replace("build(self, shape)", "__init__(self)") + "Own()\n", rule="changed-defaults")
