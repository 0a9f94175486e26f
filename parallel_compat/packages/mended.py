"""h5py and PyYAML get the mends of the originals when they are imported: scripts use them before Keras, or alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from parallel_compat.names.eras import Era
from parallel_compat.originals.mends import h5py, yaml
from parallel_compat.originals.mends.register import Register
from parallel_compat.originals.settings import Settings

_MENDS = Register(Settings(Era.KERAS_2_2_4))  # both are those of each era

CHANGES: dict[str, Callable[[Any], None]] = {
    "h5py": lambda module: _MENDS.once(module, h5py.mend),
    "yaml": lambda module: _MENDS.once(module, yaml.mend),
}
