from __future__ import annotations

import keras
import numpy as np
import pytest

from parallel_compat.legacy.models import settle_trainable
from parallel_compat.migrate import process_file
from parallel_compat.migrate.native import legacy_numerics
from tests.migrate.check import check_noop, check_transformed, without_line

HEAD = """\
from keras.models import Model
d = Model(x, y)
"""
IMPORT = "from parallel_compat.legacy.models import settle_trainable\n"
SETTLED = "settle_trainable"


def test_of_self_in_another_method():
    before = """\
    from keras.models import Model
    class GAN:
        def __init__(self):
            self.d = self.build()
            self.d.compile(loss='mse', optimizer='adam')
        def train(self):
            for layer in self.d.layers:
                self.d.trainable = False
    """
    after = before.replace("class GAN", f"{IMPORT}    class GAN").replace(
        "optimizer='adam')\n", f"optimizer='adam')\n            {SETTLED}(self.d)\n"
    )
    check_transformed(before, after)


def test_a_loop_that_freezes_layers():
    compiled, loop = "d.compile('sgd', 'mse')\n", "for layer in d.layers:\n    layer.trainable = False\n"
    check_transformed(f"{HEAD}{compiled}{loop}", f"{HEAD.replace('d =', IMPORT + 'd =')}{compiled}{SETTLED}(d)\n{loop}")


HELPERS = (
    "def freeze(net, flag):\n    net.trainable = flag\n",
    "def freeze(net, flag):\n    for layer in net.layers[1:]:\n        layer.trainable = flag\n",
)


@pytest.mark.parametrize("helper", HELPERS)
@pytest.mark.parametrize(
    "use", ["freeze(d, False)\n", "def train(n):\n    freeze(d, False)\n", "def train(n):\n    d.trainable = False\n"]
)
def test_a_function_that_freezes_what_it_is_given(helper, use):
    compiled = "d.compile('sgd', 'mse')\n"
    after = f"{HEAD.replace('d =', f'{IMPORT}{helper}d =')}{compiled}{SETTLED}(d)\n{use}"
    check_transformed(f"{HEAD.replace('d =', f'{helper}d =')}{compiled}{use}", after)


def test_a_method_that_freezes_what_it_is_given():
    before = """\
    from keras.models import Model
    class GAN:
        def freeze(self, net, flag):
            net.trainable = flag
        def __init__(self):
            self.d = Model(x, y)
            self.d.compile(loss='mse', optimizer='adam')
            self.freeze(self.d, False)
    """
    after = before.replace("class GAN", f"{IMPORT}    class GAN").replace(
        "optimizer='adam')\n", f"optimizer='adam')\n            {SETTLED}(self.d)\n"
    )
    check_transformed(before, after)


def test_a_function_of_another_file_that_freezes_what_it_is_given(tmp_path):
    (tmp_path / "helpers.py").write_text(HELPERS[0])
    use = f"from helpers import freeze\n{HEAD}d.compile('sgd', 'mse')\nfreeze(d, False)\n"
    path = tmp_path / "train.py"
    path.write_text(use)
    done = process_file.source(str(path), path.read_bytes(), process_file.Options())
    assert without_line((done.hinted or done).data.decode()) == use.replace("d =", f"{IMPORT}d =").replace(
        "freeze(d", f"{SETTLED}(d)\nfreeze(d"
    )


@pytest.mark.parametrize(
    "text",
    [
        f"{HELPERS[0]}{HEAD}freeze(d, False)\nd.compile('sgd', 'mse')\n",
        f"{HEAD}def say(net):\n    print(net.trainable)\nd.compile('sgd', 'mse')\nsay(d)\n",
        f"{HEAD}d.compile('sgd', 'mse')\ndef thaw(d):\n    d.trainable = True\n",
        f"{HEAD}d.trainable = False\nd.compile('sgd', 'mse')\n",
        f"{HEAD}d.compile('sgd', 'mse')\nd.trainable = False\nd.compile('sgd', 'mse')\n",
        f"{HEAD}d.compile('sgd', 'mse')\ndef thaw(model):\n    model.trainable = True\n",
        "import re\nfrom keras.layers import Dense\nre.compile('a')\nlayer.trainable = False\n",
    ],
)
def test_leaves_alone(text):
    check_noop(text, rule="frozen-after-compile")


@pytest.mark.parametrize(
    ("line", "settled"),
    [
        ("self.d.model.trainable = False", "self.d.model"),
        ("self.given.trainable = False", "self.given"),
        ("gan.d.trainable = False", "gan.d"),
        ("if gan: gan.d.trainable = False", "gan.d"),
        ("self.made.trainable = False", ""),
        ("gan.d.trainable = False; gan.d.compile('sgd', 'mse')", ""),
        ("gan.get_layer('d').trainable = False", ""),
        ("gan.trainable = False", ""),
    ],
)
def test_of_a_model_that_another_file_compiles(line, settled):
    head = "from keras.models import Model\n{}class Whole:\n    def __init__(self, gan):\n        "
    body = "self.given = gan\n        self.made = Model(x, y)\n        "
    written = line.replace(f"{settled}.trainable", f"{SETTLED}({settled})@{settled}.trainable") if settled else line
    written = written.replace("@", "; " if "if" in line else "\n        ")
    check_transformed(f"{head.format('')}{body}{line}\n", f"{head.format(IMPORT if settled else '')}{body}{written}\n")


def test_a_layer_of_elsewhere_is_not_settled():
    made = "from keras.layers import Dense\nclass A:\n    def __init__(self, layer: Dense):\n"
    check_noop(f"{made}        self.layer = layer\n        self.layer.trainable = False\n", rule="frozen-after-compile")


def test_a_model_of_elsewhere_is_settled_once_in_a_function():
    head = "from keras.models import Model\n"
    body = "def train(gan):\n    gan.d.trainable = False\n    gan.d.trainable = True\n"
    after = body.replace("    gan", f"    {SETTLED}(gan.d)\n    gan", 1)
    check_transformed(head + body, head + IMPORT + after)


@pytest.mark.parametrize("settle_trainable", [settle_trainable, legacy_numerics.settle_trainable])
def test_settling_again_or_before_compile_changes_nothing(settle_trainable):
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1, kernel_initializer="ones")])
    settle_trainable(model)
    model.compile("sgd", "mse")
    settle_trainable(model)
    model.trainable = False
    settle_trainable(model)
    x, y = np.ones((2, 1)), np.zeros((2, 1))
    model.train_on_batch(x, y)
    assert float(model.get_weights()[0][0, 0]) == pytest.approx(0.98)
    model.compile("sgd", "mse")
    settle_trainable(model)
    model.train_on_batch(x, y)
    assert float(model.get_weights()[0][0, 0]) == pytest.approx(0.98)
    settle_trainable(model.layers[0])
