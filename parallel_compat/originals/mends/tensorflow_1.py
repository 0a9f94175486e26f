"""The face of TensorFlow 1: `tf` is `tf.compat.v1` in graph mode, with the modules that only TensorFlow 1 had."""

from __future__ import annotations

import importlib.abc
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

from parallel_compat.names.eras import Era
from parallel_compat.originals import cache, fetching
from parallel_compat.originals.mends import devices
from parallel_compat.originals.mends.lazy_names import serve
from parallel_compat.originals.settings import Settings
from parallel_compat.originals.sources import OriginalFinder

_VERSION = "1.15.5"

_API = "tensorflow._api.v2.compat.v1."
_GRAPH_REWRITE = "tensorflow.python.training.experimental.mixed_precision"
_FACES = ("tensorflow", "tensorflow.compat.v1", "tensorflow._api.v1")

# Modules that are the original's, and where each is in its sources.
_PYTHON = ("feature_column", "keras", "layers", "ops.rnn_cell", "ops.rnn_cell_impl")
PATHS = {
    "tensorflow.contrib": "contrib",
    "tensorflow.examples": "examples",
    **{f"{tf}.{name}": f"_api/v1/{name}" for tf in _FACES for name in ("feature_column", "layers")},
    **{f"{tf}.nn.rnn_cell": "_api/v1/nn/rnn_cell" for tf in _FACES[:2]},
    **{f"{tf}.keras": "python/keras/api/_v1/keras" for tf in _FACES[:2]},
    "tensorflow.compat.v2.keras": "python/keras/api/_v2/keras",
    **{f"tensorflow.python.{name}": f"python/{name.replace('.', '/')}" for name in _PYTHON},
    "tensorflow.python.ops_of_1_15": "python/ops",
    _GRAPH_REWRITE: "python/training/experimental/mixed_precision",
}

# Of them, those that are an attribute of `tf`, or of a module of `tf`.
_SERVED = {
    "tensorflow": ("contrib", "estimator", "examples", "feature_column", "keras", "layers"),
    "tensorflow.nn": ("rnn_cell",),
    "tensorflow.compat.v2": ("keras",),
}

# What `tf` of TensorFlow 2 has in its module that TensorFlow 1 had, too.
_SHARED = ("python", "compat", "compiler", "core", "tools", "lite")


def fetched_paths() -> dict[str, Path]:
    """Fetch TensorFlow 1.15's sources, and return the paths of the modules that today's TensorFlow lacks."""
    sources = fetching.fetch(Era.TF_KERAS_1_15.value) / cache.SOURCES / "tensorflow"
    return {name: sources / relative for name, relative in PATHS.items()}


def put_on(tensorflow: ModuleType, settings: Settings, finder: OriginalFinder) -> None:
    """Give the module `tensorflow` the names of TensorFlow 1."""
    import tensorflow.compat.v1 as v1

    v1.logging.set_verbosity(v1.logging.ERROR)
    v1.disable_v2_behavior()
    if settings.era in (Era.KERAS_2_2_4, Era.KERAS_2_3):
        v1.enable_resource_variables()  # a reference variable is read while it is written: runs would differ
    public = {name: value for name, value in vars(v1).items() if not name.startswith("_")}
    for name in [name for name in vars(tensorflow) if not name.startswith("_") and name not in public]:
        if name not in _SHARED:
            delattr(tensorflow, name)
    vars(tensorflow).update(public, __version__=_VERSION, VERSION=_VERSION)
    vars(tensorflow).update(__all__=sorted({*public, *_SERVED["tensorflow"]} - {"contrib", "examples"}))
    _name_modules(tensorflow)
    tensorflow.version.VERSION = _VERSION
    if not PATHS.keys() <= finder.paths.keys():
        sys.meta_path.insert(0, _FetchedLater(finder))
    for owner, names in _SERVED.items():
        serve(sys.modules[owner], {name: f"{owner}.{name}" for name in names})
    rewrites = ("enable_mixed_precision_graph_rewrite", "disable_mixed_precision_graph_rewrite")
    serve(tensorflow.train.experimental, {name: f"{_GRAPH_REWRITE}.{name}" for name in rewrites})
    sys.meta_path.append(_Gone(finder))
    if settings.replicas is not None:
        devices.simulate(finder.mends, settings.replicas)


class _Gone(importlib.abc.MetaPathFinder):
    """Serves the modules of `tensorflow.python` that only TensorFlow 1.15 has."""

    def __init__(self, finder: OriginalFinder) -> None:
        self.finder = finder

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        keras = self.finder.paths.get("tensorflow.python.keras")
        if keras is None or not fullname.startswith("tensorflow.python."):
            return None
        self.finder.paths[fullname] = keras.parent.joinpath(*fullname.split(".")[2:])
        spec = self.finder.find_spec(fullname, path, target)
        if spec is None:
            del self.finder.paths[fullname]
        return spec


class _FetchedLater(importlib.abc.MetaPathFinder):
    """Fetches TensorFlow 1.15's modules when a script of standalone Keras asks for one of them."""

    def __init__(self, finder: OriginalFinder) -> None:
        self.finder = finder

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if not any(fullname == name or fullname.startswith(name + ".") for name in PATHS):
            return None
        sys.meta_path.remove(self)
        self.finder.paths.update(fetched_paths())
        return self.finder.find_spec(fullname, path, target)


def _name_modules(tensorflow: ModuleType) -> None:
    """Let `import tensorflow.train` find the modules of TensorFlow 1; `tf.compat.v1` is `tf`."""
    for full, module in sorted(sys.modules.items()):
        name = full.removeprefix(_API)
        if name == full or name.startswith("compat.") or f"tensorflow.{name}" in PATHS:
            continue
        sys.modules[f"tensorflow.{name}"] = sys.modules[f"tensorflow.compat.v1.{name}"] = module = _unwrapped(module)
        owner, _, last = f"tensorflow.{name}".rpartition(".")
        setattr(sys.modules[owner], last, module)
    compat, api = ModuleType("tensorflow.compat"), ModuleType("tensorflow._api.v1")
    compat.__path__ = api.__path__ = []
    vars(compat).update({name: value for name, value in vars(tensorflow.compat).items() if not name.startswith("_")})
    compat.v1, compat.v2 = tensorflow, _unwrapped(compat.v2)  # type: ignore[attr-defined]
    tensorflow.compat = compat  # type: ignore[attr-defined]
    sys.modules.update(
        {
            "tensorflow.compat": compat,
            "tensorflow.compat.v1": tensorflow,
            "tensorflow.compat.v2": compat.v2,
            "tensorflow._api.v1": api,
        }
    )


def _unwrapped(module: ModuleType) -> ModuleType:
    """Return the module inside the wrapper that warns of deprecated names; the wrapper caches names."""
    return vars(module).get("_tfmw_wrapped_module", module)  # type: ignore[no-any-return]
