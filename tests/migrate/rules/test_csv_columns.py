from __future__ import annotations

import numpy as np
import pytest

from parallel_compat.legacy.callbacks import CSVLogger
from parallel_compat.migrate.engine import Options, analyse
from parallel_compat.migrate.native import legacy_numerics
from tests.migrate.check import check_transformed, found

RULE = "csv-columns"
OLD = "from parallel_compat import multi_gpu_model\n"


@pytest.mark.parametrize(
    "rest",
    [
        "model.fit(x, y, callbacks=[CSVLogger('a')])\n",
        "model.fit(x, y, validation_data=None, callbacks=[CSVLogger('a')])\nmodel.fit(x, y, validation_split=0.1)\n",
        "class Log(CSVLogger):\n    pass\n",
    ],
)
def test_where_there_may_be_no_validation(rest):
    check_transformed(
        f"{OLD}from keras.callbacks import CSVLogger\n{rest}",
        f"{OLD}from parallel_compat.legacy.callbacks import CSVLogger\n{rest}",
    )


def test_with_validations_it_stays_and_in_code_that_may_be_of_today():
    rest = "from keras.callbacks import CSVLogger\nmodel.fit(x, y, validation_data=z, callbacks=[CSVLogger('a')])\n"
    assert found(OLD + rest, RULE) == []
    assert not analyse(rest.replace("validation_data=z, ", ""), Options()).legacy


@pytest.mark.parametrize("logger", [CSVLogger, legacy_numerics.CSVLogger])
def test_its_columns_are_those_of_keras_2(logger, tmp_path):
    """The lines of Keras 2.2.4, its `acc` as it is spelled here."""
    import keras

    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1, activation="sigmoid")])
    model.compile("sgd", "binary_crossentropy", metrics=["accuracy"])
    for given, columns in (
        ({}, "epoch,accuracy,loss"),
        ({"validation_split": 0.5}, "epoch,accuracy,loss,val_accuracy,val_loss"),
    ):
        callback = logger(str(tmp_path / "log.csv"))
        model.fit(np.ones((4, 2)), np.ones((4, 1)), epochs=2, verbose=0, callbacks=[callback], **given)
        lines = (tmp_path / "log.csv").read_text().splitlines()
        assert lines[0] == columns
        assert [line.count(",") for line in lines] == [columns.count(",")] * 3
