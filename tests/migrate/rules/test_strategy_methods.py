from __future__ import annotations

from tests.migrate.check import check_noop, check_transformed

HEAD = "import tensorflow as tf\nfrom tensorflow import keras\ns = tf.distribute.MirroredStrategy()\n"


def test_it_is_run_whatever_it_is_given():
    before = "x = s.experimental_run_v2(step, (a,), kwargs={})\ny = self.s.experimental_run_v2(\n    lambda: 1)\n"
    check_transformed(HEAD + before, HEAD + before.replace("experimental_run_v2", "run"))


def test_other_methods_stay():
    check_noop(HEAD + "s.run(step)\ns.reduce('SUM', x, axis=None)\n")
