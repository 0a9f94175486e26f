"""Packages that TensorFlow removed: importing them works, and the first use says what to do."""

from __future__ import annotations

import importlib.abc
import importlib.util
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from parallel_compat.originals.mends.register import Register

_FIT = "train the model with fit, or run the script on an older TensorFlow"

# Packages, and what to do without them.
_PACKAGES = {
    "tensorflow_estimator": _FIT,
    "tensorflow.estimator": _FIT,
    "tensorflow.python.estimator": _FIT,
    "tensorflow.python.tpu.profiler": "use tf.profiler",
    "tensorflow.tools.graph_transforms": "leave the transforms out, or run the script on TensorFlow 1",
}


def apply(mends: Register) -> None:
    sys.meta_path.insert(0, _Finder())
    if not mends.is_tensorflow_1:
        return
    from tensorflow.python.data.experimental.ops import iterator_ops

    mends.add(iterator_ops, CheckpointInputPipelineHook=gone("tf.data.experimental.CheckpointInputPipelineHook", _FIT))


def gone(name: str, instead: str) -> Any:
    """Return a class that others can derive from, and that refuses each use."""
    return _Gone(name, (), {"instead": instead})


class _Gone(type):
    def __call__(cls, *args: Any, **options: Any) -> Any:
        raise NotImplementedError(f"{cls.__name__} was removed. What to do: {cls.instead}.")

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return gone(f"{cls.__name__}.{name}", cls.instead)


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if not any(fullname == name or fullname.startswith(name + ".") for name in _PACKAGES):
            return None
        return importlib.util.spec_from_loader(fullname, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Let the module have any name."""
        instead = next(text for name, text in _PACKAGES.items() if module.__name__.startswith(name))
        shown = module.__name__.replace("tensorflow.", "tf.", 1)

        def __getattr__(name: str) -> Any:
            if name.startswith("__"):
                raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
            return gone(f"{shown}.{name}", instead)

        module.__getattr__ = __getattr__  # type: ignore[method-assign]
