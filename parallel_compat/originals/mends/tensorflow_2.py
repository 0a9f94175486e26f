"""The face of TensorFlow 2.2: today's `tf` with the old `tf.keras`, and the removed names of the old `tf`."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

from parallel_compat.originals.mends import logical_devices
from parallel_compat.originals.mends.lazy_names import serve
from parallel_compat.originals.settings import Settings
from parallel_compat.originals.sources import OriginalFinder

_VERSION = "2.2.3"
_API = "tensorflow._api.v2."

# Modules of `tf` that are the original's: its module, and where it is in the original's sources.
_OF_2 = {
    "keras": "tensorflow/keras",
    **{name: f"tensorflow/_api/v2/{name}" for name in ("feature_column", "mixed_precision")},
}
_OF_1 = {
    "keras": "tensorflow/python/keras/api/_v1/keras",
    **{name: f"tensorflow/_api/v2/compat/v1/{name}" for name in ("feature_column", "layers", "mixed_precision")},
}
_MODULES = {
    "tensorflow": _OF_2,
    "tensorflow.compat.v1": _OF_1,
    "tensorflow.compat.v1.nn": {"rnn_cell": "tensorflow/_api/v2/compat/v1/nn/rnn_cell"},
    "tensorflow.compat.v2": _OF_2,
}

# Single names: where each is in the original.
_EXPERIMENTAL = "tensorflow.python.training.experimental."
_SCALES = ("LossScale", "FixedLossScale", "DynamicLossScale")
_REWRITES = ("enable_mixed_precision_graph_rewrite", "disable_mixed_precision_graph_rewrite")
_NAMES = {
    "tensorflow": {name: f"tensorflow.keras.{name}" for name in ("initializers", "losses", "metrics", "optimizers")},
    "tensorflow.train.experimental": {
        **{name: f"{_EXPERIMENTAL}loss_scale.{name}" for name in _SCALES},
        **{name: f"{_EXPERIMENTAL}mixed_precision.{name}" for name in _REWRITES},
    },
}

# What has no counterpart today, and what to do instead.
_GONE = {
    "tensorflow": {"estimator": "train the model with fit, or run the script on an older TensorFlow"},
    "tensorflow.data.experimental": {
        **dict.fromkeys(("StatsAggregator", "StatsOptions", "bytes_produced_stats", "latency_stats"), "leave it out"),
        "MapVectorizationOptions": "remove it: it changes only the speed",
        "CheckpointInputPipelineHook": "use tf.train.Checkpoint(iterator=...)",
    },
}


def paths(sources: Any) -> dict[str, Any]:
    """Return the paths of the modules of `tf` that the original serves."""
    return {f"{owner}.{name}": sources / path for owner, names in _MODULES.items() for name, path in names.items()}


def put_on(tensorflow: ModuleType, settings: Settings, finder: OriginalFinder) -> None:
    """Give the module `tensorflow` the old `tf.keras`, and what else of TensorFlow 2.2 it lacks.

    Each is loaded when it is first asked for.
    """
    for owner in {**_MODULES, **_NAMES, **_GONE}:
        served = {name: f"{owner}.{name}" for name in _MODULES.get(owner, ())} | _NAMES.get(owner, {})
        serve(importlib.import_module(owner), served, _GONE.get(owner))
    for module in (tensorflow, tensorflow.compat.v1, tensorflow.compat.v2):
        vars(module).update(__version__=_VERSION)
        vars(module.version).update(VERSION=_VERSION)
    for full in [full for full in sys.modules if full.startswith((f"{_API}distribute", f"{_API}compat.v1."))]:
        name = full.replace(_API, "tensorflow.")
        if not any(f"{name}.".startswith(f"{path}.") for path in finder.paths):
            sys.modules[name] = sys.modules[full]  # else a folder is found, or the module is run again
    tensorflow.config.set_soft_device_placement(True)  # "/gpu:0" in a script is the CPU where there is no GPU
    if settings.replicas is not None:
        logical_devices.simulate(finder.mends, settings.replicas)
