from __future__ import annotations

import keras
import numpy as np
import pytest

from parallel_compat.legacy import callbacks
from parallel_compat.migrate import project_facts
from tests.migrate.check import check_noop, check_transformed, found

USE = "model.fit(x, y, callbacks=[ReduceLROnPlateau(patience=2)])\n"


@pytest.mark.parametrize("read", ["history.history['lr']", "logs.get('lr')", 'hist["lr"]'])
def test_where_logs_are_asked_for_it(read):
    check_transformed(
        f"from keras.callbacks import ReduceLROnPlateau\n{USE}print({read})\n",
        f"from parallel_compat.legacy.callbacks import ReduceLROnPlateau\n{USE}print({read})\n",
    )


def test_what_else_is_asked_for_it_is_a_guess():
    source = f"from keras.callbacks import ReduceLROnPlateau\n{USE}print(row['lr'])\n"
    assert found(source, "rate-names") == [(2, "unsafe")]
    check_transformed(
        "import keras\nkeras.callbacks.LearningRateScheduler(f)\nprint(row['lr'])\n",
        "import keras\nfrom parallel_compat.legacy.callbacks import LearningRateScheduler\n"
        "LearningRateScheduler(f)\nprint(row['lr'])\n",
        unsafe=True,
    )


def test_leaves_alone():
    check_noop(f"from keras.callbacks import ReduceLROnPlateau\n{USE}print(history['loss'])\n", rule="rate-names")


def test_another_file_of_the_project_asks(tmp_path):
    other = tmp_path / "tables.py"
    other.write_text("import pandas\n\ndef table(history):\n    return history.history['lr']\n")
    assert project_facts.read([str(other)]).readers_of_rate == {"logs"}


@pytest.mark.parametrize(
    "callback",
    [callbacks.LearningRateScheduler(lambda epoch: 0.5), callbacks.ReduceLROnPlateau(monitor="loss")],
    ids=lambda callback: type(callback).__name__,
)
def test_the_history_has_it(callback):
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    model.compile(keras.optimizers.SGD(0.5), "mse")
    history = model.fit(np.ones((4, 2)), np.ones((4, 1)), callbacks=[callback], verbose=0)
    assert history.history["lr"] == [0.5]
    assert "learning_rate" not in history.history
