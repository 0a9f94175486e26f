"""`run` of a script that imports this package or today's Keras: simulated devices, workers, `--resume`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from parallel_compat.module_loaders import LoaderAround


def prepare(*, replicas: int | None, resume: str | None, every: int | None, workers: bool) -> None:
    """Prepare the process, once Keras is imported.

    Args:
        every: after how many batches the state is kept, too.
        workers: whether this process is one of several workers, by `TF_CONFIG` or Slurm.
    """
    if workers:
        from parallel_compat.run import workers as several

        several.seed()

    def with_keras() -> None:
        import tensorflow as tf

        import parallel_compat

        if replicas is not None and replicas > max(1, len(tf.config.get_visible_devices("GPU"))):
            parallel_compat.simulate_devices(replicas)
        if workers:
            several.write_files_by_chief()
            several.join(replicas)
        if resume is not None:
            from parallel_compat.run import resuming

            resuming.keep(resume, every)

    if workers or replicas is not None or resume is not None:
        sys.meta_path.insert(0, _AfterImport("keras", with_keras))
        sys.meta_path.insert(0, _AfterImport("tensorflow", _import_keras))


def _import_keras() -> None:
    import keras as keras  # devices are split, and workers join, before the script's first operation


class _AfterImport:
    """Calls a function once a module is imported; to be looked for, as TensorFlow looks for Keras, is not enough."""

    def __init__(self, name: str, then: Callable[[], None]) -> None:
        self.name, self.then = name, then

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name != self.name:
            return None
        import importlib.util

        sys.meta_path.remove(self)
        try:
            spec = importlib.util.find_spec(name)
        finally:
            sys.meta_path.insert(0, self)
        if spec is not None and spec.loader is not None:
            spec.loader = LoaderAround(spec.loader, self._imported)  # type: ignore[assignment]
        return spec

    def _imported(self, module: ModuleType) -> None:
        if self in sys.meta_path:
            sys.meta_path.remove(self)
            self.then()
