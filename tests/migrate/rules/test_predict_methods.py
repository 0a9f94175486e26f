from __future__ import annotations

import pytest

from tests.migrate.check import check_noop, check_transformed, found

HEAD = "from keras.models import Sequential\nmodel = Sequential()\n"
AFTER = "from keras.models import Sequential\nimport parallel_compat.legacy.models\nmodel = Sequential()\n"


@pytest.mark.parametrize("name", ["predict_classes", "predict_proba"])
def test_becomes_a_function(name):
    check_transformed(
        f"{HEAD}labels = model.{name}(x, verbose=1)\n",
        f"{AFTER}labels = parallel_compat.legacy.models.{name}(model, x, verbose=1)\n",
    )


def test_an_unknown_object_is_a_guess():
    assert found("import keras\nlabels = net.predict_classes(x)\n", "predict-methods") == [(2, "unsafe")]


@pytest.mark.parametrize(
    "source",
    [
        "import keras\nfrom sklearn.svm import SVC\nsvc = SVC()\nsvc.predict_proba(x)\n",
        "import keras\ndef f(classifier):\n    return classifier.predict_proba(x)\n",
        HEAD + "model.predict(x)\n",
    ],
)
def test_leaves_alone(source):
    check_noop(source, rule="predict-methods")


def test_states_of_a_model_are_reset_by_a_function():
    check_transformed(
        "from keras.models import Sequential\nmodel = Sequential()\nmodel.reset_states()\n",
        "from keras.models import Sequential\nimport parallel_compat.legacy.models\nmodel = Sequential()\n"
        "parallel_compat.legacy.models.reset_states(model)\n",
    )
    check_noop("from keras.layers import LSTM\nlayer = LSTM(3, recurrent_activation='relu')\nlayer.reset_states()\n")
