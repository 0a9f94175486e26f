from __future__ import annotations

import pytest

from tests.migrate.check import check_noop, check_transformed, found

HEAD = "from keras.models import Sequential\nmodel = Sequential()\n"
AFTER = "from keras.models import Sequential\nfrom parallel_compat.legacy.models import {}\nmodel = Sequential()\n"


@pytest.mark.parametrize("name", ["predict_classes", "predict_proba"])
def test_becomes_a_function(name):
    check_transformed(
        f"{HEAD}labels = model.{name}(x, verbose=1)\n",
        f"{AFTER.format(name)}labels = {name}(model, x, verbose=1)\n",
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


def test_predict_of_a_generator():
    head = "from keras.models import Model\n"
    before = "out = self.model.predict(x=x, verbose=v, steps=steps, workers=workers)\n"
    after = "out = predict(self.model, x=x, verbose=v, steps=steps, workers=workers)\n"
    check_transformed(head + before, f"{head}from parallel_compat.legacy.models import predict\n{after}")
    check_noop(head + "out = model.predict(x, steps=3)\n", rule="predict-methods")
