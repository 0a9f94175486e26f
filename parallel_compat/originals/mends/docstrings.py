"""Docstrings that old code edits: Python 3.13 removes their indentation.

Seen in Python 3.13.
"""

from __future__ import annotations

import sys

from parallel_compat.originals.mends.register import Register


def apply(mends: Register) -> None:
    if sys.version_info >= (3, 13):
        mends.edit("tensorflow.python.keras.layers.normalization", "assert old in string", "pass")
