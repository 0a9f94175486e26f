"""keras.utils.multi_gpu_model for today's TensorFlow: the same split, the same numbers, the same files."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0.dev0"

# public name -> where it is; imported when it is first asked for, so that `import parallel_compat` stays fast
_PUBLIC = {
    "CheckpointError": "parallel_compat.recover.errors",
    "inspect_checkpoint": "parallel_compat.recover.inspecting",
    "load_template_weights": "parallel_compat.recover.loading",
    "recover_template": "parallel_compat.recover.recovering",
}

if TYPE_CHECKING:
    from parallel_compat.recover.errors import CheckpointError as CheckpointError
    from parallel_compat.recover.inspecting import inspect_checkpoint as inspect_checkpoint
    from parallel_compat.recover.loading import load_template_weights as load_template_weights
    from parallel_compat.recover.recovering import recover_template as recover_template

__all__ = sorted(_PUBLIC)


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_PUBLIC})
