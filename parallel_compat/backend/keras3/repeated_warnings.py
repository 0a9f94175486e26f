"""Keras logs the same warning at each call, such as one for each epoch that is saved as HDF5: it is shown once."""

from __future__ import annotations

import logging
import os

import keras

_FOLDER = os.path.dirname(os.path.abspath(keras.__file__)) + os.sep


class _Once(logging.Filter):
    """Lets each text that Keras logs through once; what others log is theirs."""

    def __init__(self) -> None:
        super().__init__()
        self._shown: set[str] = set()

    def filter(self, record: logging.LogRecord) -> bool:
        if not record.pathname.startswith(_FOLDER):
            return True
        text = record.getMessage()
        is_first = text not in self._shown
        self._shown.add(text)
        return is_first


def show_once() -> None:
    """Show each warning that Keras logs once a process."""
    logging.getLogger("absl").addFilter(_ONCE)


_ONCE = _Once()
