from __future__ import annotations

import pytest

from parallel_compat.command import main
from tests.migrate.check import check_noop, migrated

IMPORT = "import parallel_compat.legacy.frozen_normalization\n"
OLD = "from keras.engine import Layer\nimport keras\n"
NORMALIZED = "model = keras.models.Sequential([keras.layers.BatchNormalization()])\n"


@pytest.mark.parametrize(
    "rest",
    [
        NORMALIZED + "model.trainable = False\n",
        NORMALIZED + "for each in model.layers: each.trainable = each.name in wanted\n",
        "model = keras.layers.BatchNormalization(trainable=False)\n",
        "from keras.applications import ResNet50\nmodel = ResNet50()\nmodel.trainable = False\n",
    ],
)
def test_an_import_lets_it_train_as_then(rest):
    text = migrated(OLD + rest)
    assert text.count(IMPORT) == 1
    assert migrated(text) == text


@pytest.mark.parametrize(
    "source",
    [
        OLD + NORMALIZED + "model.trainable = True\n",
        OLD + "model = keras.models.Sequential([keras.layers.Dense(2)])\nmodel.trainable = False\n",
        OLD.replace("keras", "tensorflow.keras") + NORMALIZED + "model.trainable = False\ntf.keras.utils.get_file\n",
        OLD + IMPORT + NORMALIZED + "model.trainable = False\n",
    ],
)
def test_leaves_alone(source):
    assert migrated(source).count(IMPORT) == source.count(IMPORT)


def test_the_layer_may_be_in_another_file(tmp_path):
    (tmp_path / "parts.py").write_text(OLD + NORMALIZED)
    train = tmp_path / "train.py"
    train.write_text(OLD + "import parts\nparts.model.trainable = False\n")
    assert main(["migrate", "--write", str(tmp_path)]) == 0
    assert IMPORT in train.read_text()


def test_code_of_today_is_left_alone():
    check_noop("import keras\nmodel.trainable = False\n", rule="frozen-normalization")
