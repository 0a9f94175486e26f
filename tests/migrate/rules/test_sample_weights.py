from __future__ import annotations

import pytest

from tests.migrate.check import check_noop, migrated

IMPORT = "import parallel_compat.legacy\n"
CONVOLUTION = "import keras\nmodel = keras.models.Sequential([keras.layers.Conv1D(2, 3)])\n"


def test_an_import_spreads_weights():
    fit = "model.train_on_batch(x, y, sample_weight=w)\nmodel.fit(x, y, sample_weight=w)\n"
    text = migrated(f"{CONVOLUTION}from keras.engine import Layer\n{fit}")
    assert text.count(IMPORT) == 1
    assert text.endswith(fit)
    assert migrated(text) == text


@pytest.mark.parametrize(
    "rest",
    [
        "model.fit(x, y, sample_weight=None)\nmodel.predict(x)\n",
        f"{IMPORT}model.fit(x, y, sample_weight=w)\n",
        "model.fit(x, y, sample_weight=w)\n".replace("model", "keras.models.Sequential([keras.layers.Dense(2)])"),
    ],
)
def test_leaves_alone(rest):
    source = rest if "Dense" in rest else CONVOLUTION + rest
    check_noop(f"import keras\n{source}", rule="sample-weights")


def test_other_packages_take_weights_of_samples():
    source = "from keras.engine import Layer\nfrom sklearn.svm import SVC\nSVC().fit(x, y, sample_weight=w)\n"
    assert IMPORT not in migrated(source)
