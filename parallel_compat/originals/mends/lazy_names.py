"""Names of a module that are loaded from an original on first use."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any

from parallel_compat.module_loaders import load


def serve(module: ModuleType, served: Mapping[str, str], gone: Mapping[str, str] | None = None) -> None:
    """Let a module have names that are loaded when they are first asked for.

    Args:
        served: for each name, the dotted path of its value.
        gone: for each name that has no value any more, what to do instead.
    """
    gone = gone or {}
    inner = vars(module).get("_tfmw_wrapped_module")
    if inner is not None:  # a wrapper that remembers what it has, as `tf.compat.v1` in TensorFlow 2; it serves modules
        from tensorflow.python.util.lazy_loader import LazyLoader

        for name, path in served.items():
            setattr(module, name, LazyLoader(name, vars(inner), path))
        return
    for name in served:
        vars(module).pop(name, None)

    def __getattr__(name: str) -> Any:
        if name in gone:
            raise AttributeError(
                f"{module.__name__}.{name} was removed from TensorFlow without a replacement. What to do: {gone[name]}."
            )
        if name not in served:
            raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
        value = load(served[name])
        vars(module)[name] = value
        return value

    module.__getattr__ = __getattr__  # type: ignore[method-assign]
