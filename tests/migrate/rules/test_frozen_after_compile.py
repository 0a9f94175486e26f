from __future__ import annotations

import pytest

from tests.migrate.check import check_noop, check_transformed

HEAD = """\
from keras.models import Model
d = Model(x, y)
"""
IMPORT = "import parallel_compat.legacy.models\n"
SETTLED = "parallel_compat.legacy.models.settle_trainable"


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


@pytest.mark.parametrize(
    "text",
    [
        f"{HEAD}d.trainable = False\nd.compile('sgd', 'mse')\n",
        f"{HEAD}d.compile('sgd', 'mse')\nd.trainable = False\nd.compile('sgd', 'mse')\n",
        f"{HEAD}d.compile('sgd', 'mse')\ndef thaw(model):\n    model.trainable = True\n",
        "import re\nfrom keras.layers import Dense\nre.compile('a')\nlayer.trainable = False\n",
    ],
)
def test_leaves_alone(text):
    check_noop(text, rule="frozen-after-compile")
