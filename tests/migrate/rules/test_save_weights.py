from __future__ import annotations

import pytest

from tests.migrate.check import check_noop, check_transformed, found

HEAD = "from keras.models import Sequential\nmodel = Sequential()\n"
IMPORT = "from parallel_compat.legacy.models import save_weights\n"
AFTER = f"from keras.models import Sequential\n{IMPORT}model = Sequential()\n"


@pytest.mark.parametrize(
    "arguments",
    [
        "'w.h5'",
        "'w.hdf5'",
        "path + '/w.h5'",
        "os.path.join(a, 'w.h5')",
        "f'{a}.h5'",
        "'%d.h5' % 3",
        "filepath='w'",
        "path",
    ],
)
def test_becomes_a_function(arguments):
    check_transformed(
        f"{HEAD}model.save_weights({arguments})\n",
        f"{AFTER}save_weights(model, {arguments})\n",
    )


def test_an_unknown_object_is_a_guess():
    assert found("import keras\nnet.save_weights('w.h5')\n", "save-weights") == [(2, "unsafe")]


@pytest.mark.parametrize(
    "source",
    [
        HEAD + "model.save_weights('a.weights.h5')\n",
        HEAD + "model.save('model.h5')\n",
        "import keras\nclass T:\n  def save_weights(self, p): pass\n  def run(self):\n    self.save_weights('w.h5')\n",
    ],
)
def test_leaves_alone(source):
    check_noop(source, rule="save-weights")
