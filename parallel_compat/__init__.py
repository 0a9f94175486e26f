"""keras.utils.multi_gpu_model for today's TensorFlow: the same split, the same numbers, the same files."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0.dev0"

# name -> the module that it is defined in. TensorFlow is imported when the first of them is used.
_PUBLIC = {
    "ParallelModel": "parallel_compat.parallel_model",
    "available_devices": "parallel_compat.devices",
    "multi_gpu_model": "parallel_compat.split",
    "parallelize": "parallel_compat.split",
    "simulate_devices": "parallel_compat.devices",
    "template_of": "parallel_compat.split",
}

__all__ = sorted(_PUBLIC)


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_PUBLIC[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_PUBLIC})
