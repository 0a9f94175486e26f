"""keras.utils.multi_gpu_model for today's TensorFlow: the same split, the same numbers, the same files."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from parallel_compat.legacy.install import install, legacy_names, uninstall

__version__ = "0.1.0.dev0"
__all__ = ["install", "legacy_names", "uninstall"]

# name -> the module that has it; imported when it is first asked for, so that `import parallel_compat` is quick
_HOMES = {
    "install": "parallel_compat.legacy.install",
    "legacy_names": "parallel_compat.legacy.install",
    "uninstall": "parallel_compat.legacy.install",
    "load_ipython_extension": "parallel_compat.legacy.notebook",
    "unload_ipython_extension": "parallel_compat.legacy.notebook",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
