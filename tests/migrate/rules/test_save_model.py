from __future__ import annotations

import pytest

from tests.migrate.check import check_noop, check_transformed, found

HEAD = "from keras.models import Sequential\nmodel = Sequential()\n"
AFTER = (
    "from keras.models import Sequential\nfrom parallel_compat.legacy.models import save_model\nmodel = Sequential()\n"
)


@pytest.mark.parametrize("arguments", ["'digits.model'", "'digits'", "filepath='digits', overwrite=True"])
def test_becomes_a_function(arguments):
    check_transformed(
        f"{HEAD}model.save({arguments})\n",
        f"{AFTER}save_model(model, {arguments})\n",
    )


def test_what_is_called_a_model_is_a_guess():
    assert found("import keras\nself.train_model.save('m')\n", "save-model") == [(2, "unsafe")]


def test_a_model_of_an_own_class_is_read_by_its_weights_where_the_project_loads_models():
    own = "from tensorflow import keras\nclass Net(keras.Model):\n    pass\nmodel = Net()\nmodel.save('net')\n"
    assert found(own, "save-model") == [(5, "rewritten")]
    with_load = f"{own}keras.models.load_model('net')\n"
    assert sorted(found(with_load, "save-model")) == [(5, "attention"), (5, "rewritten")]


@pytest.mark.parametrize(
    "source",
    [
        HEAD + "model.save('m.h5')\nmodel.save('m.keras')\nmodel.save(path)\n",
        "import keras\nfigure.save('a.png')\n",
        "import keras\nimport numpy as np\nnp.save('a', x)\n",
    ],
)
def test_leaves_alone(source):
    check_noop(source, rule="save-model")
