"""Methods that types written in C had: Python lets nobody set them, so the flag that says so is cleared meanwhile.

Read in CPython 3.10 to 3.13: `Py_TPFLAGS_IMMUTABLETYPE` (bit 8) of `tp_flags` is all that `type.__setattr__` asks.
"""

from __future__ import annotations

import ctypes
import sys
import sysconfig
from typing import Any

_IMMUTABLE = 1 << 8
_FLAGS = 21 * ctypes.sizeof(ctypes.c_void_p)  # where `tp_flags` is in a type


def give(kind: type, **members: Any) -> None:
    """Set methods of a type that is written in C.

    Raises:
        RuntimeError: the type's flags are not where they were in the versions that this was read in.
    """
    if sys.implementation.name != "cpython" or sysconfig.get_config_var("Py_GIL_DISABLED"):
        return
    flags = ctypes.c_ulong.from_address(id(kind) + _FLAGS)
    if flags.value != kind.__flags__:
        raise RuntimeError(
            f"Expected the flags of {kind.__name__} where CPython 3.10 to 3.13 has them. Received: Python "
            f"{sys.version.split()[0]}, where they are elsewhere. Use Python 3.10 to 3.13."
        )
    before = flags.value
    flags.value &= ~_IMMUTABLE
    try:
        for name, value in members.items():
            setattr(kind, name, value)
    finally:
        flags.value |= before & _IMMUTABLE
