from __future__ import annotations

import pytest

from tests.migrate.check import check_noop, check_transformed, found, migrated

METHOD = "    def get_updates(self, loss, params):\n        return [K.update(p, p - g) for p, g in self.pairs]\n"
HOME = "parallel_compat.legacy.graph_optimizers"


@pytest.mark.parametrize("package", ["keras.optimizers", "tensorflow.keras.optimizers"])
def test_the_base_of_an_optimizer_of_a_users_own(package):
    check_transformed(
        f"from {package} import Optimizer\nclass Own(Optimizer):\n{METHOD}",
        f"from {HOME} import Optimizer\nclass Own(Optimizer):\n{METHOD}",
    )


def test_one_that_derives_from_keras_own():
    after = migrated(f"from keras.optimizers import Adam\nclass Own(Adam):\n{METHOD}\nother = Adam(lr=0.1)\n")
    assert f"class Own({HOME}.Adam):" in after
    assert "other = Adam(learning_rate=0.1)" in after


def test_what_it_is_made_of():
    before = (
        "from keras import optimizers\nfrom keras.legacy import interfaces\n"
        "class Own(optimizers.Optimizer):\n    def __init__(self, optimizer):\n"
        "        self.optimizer = optimizers.get(optimizer)\n        self.lr = self.optimizer.lr\n"
        "        self.other = optimizers.SGD(lr=0.1)\n"
        "    @interfaces.legacy_get_updates_support\n    def get_updates(self, loss, params):\n"
        "        self.updates = self.optimizer.get_updates(loss, params)\n"
        "        self.weights = self.optimizer.weights\n        return self.updates\n"
        "model.compile(optimizers.get('adam'), 'mse')\n"
    )
    after = migrated(before)
    assert f"from {HOME} import Optimizer, SGD, get\n" in after
    assert "class Own(Optimizer):" in after
    assert "self.optimizer = get(optimizer)" in after
    assert "self.other = SGD(learning_rate=0.1)" in after
    assert "self.lr = self.optimizer.lr\n" in after
    assert "self.weights = self.optimizer.weights\n" in after
    assert "compile(optimizers.get('adam')" in after
    assert "@interfaces.legacy_get_updates_support" in after
    assert not [one for one in found(before, "gone-members") + found(before, "own-optimizers") if one[1] == "attention"]


@pytest.mark.parametrize("line", ["tf.group(a, b)", "p.assign(0.5 * p)", "K.moving_average_update(p, 1.0, 0.9)"])
def test_what_is_not_carried_out_as_it_was(line):
    source = (
        "import tensorflow as tf\nfrom keras import backend as K\nfrom keras.optimizers import Optimizer\n"
        f"class Own(Optimizer):\n    def get_updates(self, loss, params):\n        return [{line} for p in params]\n"
    )
    assert (6, "attention") in found(source, "own-optimizers")


def test_leaves_others_alone():
    check_noop("from keras.optimizers import Optimizer\nclass Own(Optimizer):\n    pass\n", rule="own-optimizers")
    check_noop(f"from other import Optimizer\nclass Own(Optimizer):\n{METHOD}", rule="own-optimizers")


def test_updates_that_a_function_carries_out():
    head = "from keras import backend as K\nfrom keras.optimizers import SGD\nsgd = SGD(0.1)\n"
    after = migrated(head + "f = K.function([x], [], updates=sgd.get_updates(weights, [], loss))\n")
    assert "updates=get_updates(sgd, weights, [], loss)" in after
    assert "from parallel_compat.legacy.optimizer_methods import get_updates\n" in after
