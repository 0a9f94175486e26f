"""Puts an original where today's Keras would be, for one process."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.util
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

from parallel_compat.module_loaders import SecondName
from parallel_compat.names.eras import Era
from parallel_compat.originals import cache, fetching
from parallel_compat.originals.mends import ALL, addons, tensorflow_1, tensorflow_2
from parallel_compat.originals.mends.register import Register
from parallel_compat.originals.settings import Settings
from parallel_compat.originals.sources import OriginalFinder, forget

# Modules beside Keras that changed with it, or left TensorFlow with it.
_BESIDE = (
    *("feature_column", "layers", "distribute.distributed_file_utils", "framework.composite_tensor_utils"),
    *("ops.losses.loss_reduction", "ops.rnn_cell_impl", "ops.rnn_cell_wrapper_impl", "training.tracking.layer_utils"),
    *("training.experimental.loss_scale", "training.experimental.loss_scale_optimizer"),
    *("training.experimental.loss_scaling_gradient_tape", "training.experimental.mixed_precision"),
)

# Their first import brings the original.
_WAITED_FOR = ("tensorflow", "tensorflow_addons", "keras", "keras_applications", "keras_preprocessing")

_active: Settings | None = None
_mends: Register | None = None


def is_loaded() -> bool:
    """Say whether the original was imported."""
    return _mends is not None


def mends_applied() -> list[str]:
    """Return the first sentence of each mend that was applied."""
    names = _mends.causes if _mends is not None else ()
    documented = (importlib.import_module(f"parallel_compat.originals.mends.{name}").__doc__ or "" for name in names)
    return [text.partition("\n")[0] for text in documented]


def active() -> Settings | None:
    """Return the settings of this process's original; None if there is none."""
    return _active


def activate(settings: Settings) -> None:
    """Let `keras` and `tensorflow` be those of an era, from their first import on.

    Raises:
        RuntimeError: TensorFlow or Keras is imported already, or another original is active.
    """
    global _active
    if _active == settings:
        return
    if _active is not None:
        raise RuntimeError(
            f"Expected one era per process. Received: {settings.era.value} after {_active.era.value}. "
            "Use a process for each: parallel-compat run --era NAME SCRIPT."
        )
    loaded = [name for name in ("tensorflow", "keras", "tf_keras") if name in sys.modules]
    if loaded:
        raise RuntimeError(
            f"Expected to choose the era before {loaded[0]} is imported. Received: {settings.era.value} after "
            f"`import {loaded[0]}`. Move `parallel_compat.install()` to the first line, or use parallel-compat run."
        )
    _active = settings
    sys.meta_path.insert(0, _FirstImport(lambda: settings))


def activate_at_import(decide: Callable[[], Settings | None]) -> None:
    """Choose the original when TensorFlow or Keras is first imported.

    Args:
        decide: returns the settings, or None to leave today's Keras.
    """
    sys.meta_path.insert(0, _FirstImport(decide))


class _FirstImport(importlib.abc.MetaPathFinder):
    """Waits for the first import of TensorFlow or Keras, so that a script that needs neither starts at once."""

    def __init__(self, decide: Callable[[], Settings | None]) -> None:
        self.decide = decide

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if fullname.partition(".")[0] not in _WAITED_FOR:
            return None
        global _active
        sys.meta_path.remove(self)
        settings = self.decide()
        if settings is None:
            return None
        _active = settings
        _load(settings)
        if fullname not in sys.modules:
            return importlib.util.find_spec(fullname)
        # importlib takes the spec of a module that appeared meanwhile, and would run its file again.
        module = sys.modules[fullname]
        again: Any = SecondName(module)
        module.__spec__ = importlib.util.spec_from_loader(fullname, again)
        return module.__spec__


class _NoStandaloneKeras(importlib.abc.MetaPathFinder):
    """Refuses `import keras` of a package that can do without: today's Keras would be found."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if fullname == "keras":
            raise ModuleNotFoundError(
                "No module named 'keras': the script runs on tf.keras 1.15. If it needs standalone Keras as well, add "
                "--era keras-2.2.4, which has both.",
                name="keras",
            )
        return None


def _load(settings: Settings) -> None:
    global _mends
    era = settings.era
    mends = Register(settings)
    # The wheels of TensorFlow 1.15 and 2.2 had no oneDNN: sums are rounded as there, and single calls are faster.
    os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
    with _without_keras_3():
        import tensorflow
    paths = source_paths(settings)
    forget({*paths, *(tensorflow_1.PATHS if mends.is_tensorflow_1 else ())})
    finder = OriginalFinder(paths, cache.folder(era.value) / "bytecode", mends)
    sys.meta_path.insert(0, finder)
    for mend in ALL:
        with mends.cause(mend):
            importlib.import_module(f"parallel_compat.originals.mends.{mend}").apply(mends)
    _mends = mends
    if mends.is_tensorflow_1:
        tensorflow_1.put_on(tensorflow, settings, finder)
        if era is Era.TF_KERAS_1_15:
            sys.meta_path.insert(0, _NoStandaloneKeras())
    else:
        tensorflow_2.put_on(tensorflow, settings, finder)
        sys.meta_path.append(addons.AddonsFinder(finder))


def source_paths(settings: Settings) -> dict[str, Path]:
    """Return where each module that is served has its source, without `.py`."""
    era = settings.era
    own = fetching.fetch(era.value) / "sources"
    paths = {name: own / name for name in ("keras_applications", "keras_preprocessing")}
    if era is not Era.TF_KERAS_1_15:
        paths["keras"] = own / "keras"
    if not settings.is_tensorflow_1:
        own = fetching.fetch(Era.TF_KERAS_2_2.value) / "sources"
        paths["tensorflow.python.keras"] = own / "tensorflow/python/keras"
        paths.update(tensorflow_2.paths(own))
        for name in _BESIDE:
            paths[f"tensorflow.python.{name}"] = own / "tensorflow/python" / name.replace(".", "/")
    elif era is not Era.KERAS_2_2_4:
        paths.update(tensorflow_1.fetched_paths())
    return paths


@contextmanager
def _without_keras_3() -> Iterator[None]:
    """Import TensorFlow without today's Keras: it would take the name `keras`, and a second."""
    name, absent = "TF_USE_LEGACY_KERAS", object()
    before, module = os.environ.get(name), sys.modules.get("tf_keras", absent)
    os.environ[name] = "1"
    sys.modules["tf_keras"] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules["tf_keras"]
        if module is not absent:
            sys.modules["tf_keras"] = module  # type: ignore[assignment]
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before
