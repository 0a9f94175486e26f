"""The face of TensorFlow 2.2: today's `tf` with the old `tf.keras`."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType

    from parallel_compat.originals.activate import Settings
    from parallel_compat.originals.sources import OriginalFinder

_ALSO_TOP_LEVEL = ("initializers", "losses", "metrics", "optimizers")


def put_on(tensorflow: ModuleType, settings: Settings, finder: OriginalFinder) -> None:
    """Give the module `tensorflow` the old `tf.keras`.

    Args:
        tensorflow: the installed TensorFlow's module.
        settings: how many devices to simulate.
        finder: serves the original's modules.
    """
    tensorflow.keras = importlib.import_module("tensorflow.keras")  # type: ignore[attr-defined]
    for name in _ALSO_TOP_LEVEL:
        setattr(tensorflow, name, getattr(tensorflow.keras, name))  # type: ignore[attr-defined]
    tensorflow.__version__ = "2.2.3"  # type: ignore[attr-defined]
