"""One category of warnings, so that one filter silences this package or turns its warnings into errors."""

from __future__ import annotations

import ast
import logging
from pathlib import Path

import keras
import numpy as np

import parallel_compat
from parallel_compat.backend.keras3.repeated_warnings import show_once


def test_every_warning_is_of_the_one_category():
    found = []
    for path in Path(parallel_compat.__file__).parent.rglob("*.py"):
        if path.name == "legacy_numerics.py":  # it is copied into projects that do without this package
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("warnings.warn", "warn"):
                given = [*node.args[1:], *(keyword.value for keyword in node.keywords if keyword.arg == "category")]
                found.append((path.name, node.lineno, [ast.unparse(argument) for argument in given[:1]]))
    assert found
    assert [place for place in found if place[2] != ["ParallelCompatWarning"]] == []


def test_filters_of_old_scripts_still_hold():
    assert issubclass(parallel_compat.ParallelCompatWarning, UserWarning)
    assert issubclass(parallel_compat.ParallelCompatWarning, RuntimeWarning)


def test_keras_warns_once_of_files_in_hdf5(tmp_path):
    show_once()
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    shown: list[str] = []

    class Listener(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            shown.append(record.getMessage())

    logger, listener = logging.getLogger("absl"), Listener()
    logger.addHandler(listener)
    try:
        each_epoch = keras.callbacks.ModelCheckpoint(str(tmp_path / "{epoch}.h5"))
        model.fit(np.ones((4, 2)), np.ones((4, 1)), epochs=3, verbose=0, callbacks=[each_epoch])
        for _ in range(2):
            logger.warning("what others log stays")
    finally:
        logger.removeHandler(listener)
    assert sum("HDF5" in text for text in shown) <= 1  # none if another test had it shown
    assert shown.count("what others log stays") == 2
