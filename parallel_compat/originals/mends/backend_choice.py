"""Keras's backend is TensorFlow, even if `keras.json` or `KERAS_BACKEND` names Theano or CNTK.

Seen in Keras 2.2.4 and 2.3.1.
"""

from __future__ import annotations

import os
import sys
from types import ModuleType

from parallel_compat.missing_keras import chosen_backend
from parallel_compat.originals.mends.register import Register

_VARIABLE = "KERAS_BACKEND"
_BACKEND = "tensorflow"


def apply(mends: Register) -> None:
    """Choose TensorFlow before Keras looks for its backend."""
    mends.after("keras.backend.common", _choose)


def _choose(common: ModuleType) -> None:
    chosen, where = chosen_backend()
    if chosen != _BACKEND:
        print(f"Keras runs on TensorFlow; {where} asks for {chosen}.", file=sys.stderr)
        os.environ[_VARIABLE] = _BACKEND
