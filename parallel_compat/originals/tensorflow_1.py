"""The face of TensorFlow 1: `tf` is `tf.compat.v1` in graph mode, with the modules that only TensorFlow 1 had."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

from parallel_compat.originals.mends import devices

if TYPE_CHECKING:
    from types import ModuleType

    from parallel_compat.originals.activate import Settings
    from parallel_compat.originals.sources import OriginalFinder

_VERSION = "1.15.5"
_FROM_ORIGINAL = {"keras": "tensorflow.keras", "contrib": "tensorflow.contrib", "layers": "tensorflow.layers"}


def put_on(tensorflow: ModuleType, settings: Settings, finder: OriginalFinder) -> None:
    """Give the module `tensorflow` the names of TensorFlow 1.

    Args:
        tensorflow: the installed TensorFlow's module.
        settings: how many devices to simulate.
        finder: serves the original's modules.
    """
    import tensorflow.compat.v1 as v1

    v1.logging.set_verbosity(v1.logging.ERROR)
    v1.disable_v2_behavior()
    v1.enable_resource_variables()  # a reference variable is read while it is written: runs would differ
    public = {name: value for name, value in vars(v1).items() if not name.startswith("_")}
    for name in [name for name in vars(tensorflow) if not name.startswith("_") and name not in public]:
        if name not in ("python", "compat", "compiler", "core", "tools", "lite"):
            delattr(tensorflow, name)
    vars(tensorflow).update(public)
    for name, value in public.items():
        if isinstance(value, type(sys)):
            sys.modules[f"tensorflow.{name}"] = value
    vars(tensorflow).update(__version__=_VERSION, VERSION=_VERSION)
    for name in _FROM_ORIGINAL:
        vars(tensorflow).pop(name, None)

    def __getattr__(name: str) -> Any:
        if name in _FROM_ORIGINAL:
            _serve_tensorflow_1(finder)
            module = importlib.import_module(_FROM_ORIGINAL[name])
            setattr(tensorflow, name, module)
            return module
        raise AttributeError(f"module 'tensorflow' has no attribute {name!r}")

    tensorflow.__getattr__ = __getattr__  # type: ignore[method-assign]
    if settings.replicas is not None:
        devices.simulate(finder.mends, settings.replicas)


def _serve_tensorflow_1(finder: OriginalFinder) -> None:
    from parallel_compat.originals import activate
    from parallel_compat.originals.sources import forget

    if "tensorflow.keras" not in finder.places:
        finder.places.update(activate.places_of_tensorflow_1())
        forget(["tensorflow.python.keras", "tensorflow.python.layers"])
