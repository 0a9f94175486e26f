"""Keras logs the same warning at each call, such as one for each epoch that is saved as HDF5: it is shown once."""

from __future__ import annotations

import logging
import os

import keras

_FOLDER = os.path.dirname(os.path.abspath(keras.__file__)) + os.sep


_shown: set[str] = set()


def show_once() -> None:
    """Show each warning that Keras logs once a process."""
    logging.getLogger("absl").addFilter(_is_shown)


def _is_shown(record: logging.LogRecord) -> bool:
    """Return whether a record is shown: each text of Keras once; what others log is theirs."""
    if not record.pathname.startswith(_FOLDER):
        return True
    text = record.getMessage()
    is_first = text not in _shown
    _shown.add(text)
    return is_first
