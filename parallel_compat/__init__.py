"""Run, migrate and recover old Keras multi-GPU code on today's TensorFlow, with the old results."""

from __future__ import annotations

import sys
from importlib import import_module

TYPE_CHECKING = False  # type checkers take it for true; `typing` would cost the command's start milliseconds
if TYPE_CHECKING:
    from typing import Any

    from parallel_compat.batches.generator_methods import evaluate_generator, fit_generator, predict_generator
    from parallel_compat.checkpoints import ParallelModelCheckpoint
    from parallel_compat.devices import available_devices, limit_gpu_memory, simulate_devices, use_gpus
    from parallel_compat.parallel_model import ParallelModel
    from parallel_compat.parallelize_model import multi_gpu_model, parallelize, template_of
    from parallel_compat.recover.errors import CheckpointError
    from parallel_compat.recover.inspecting import inspect_checkpoint
    from parallel_compat.recover.loading import load_template_weights
    from parallel_compat.recover.recovering import recover_template
    from parallel_compat.resume import Resume
    from parallel_compat.run.install import install
    from parallel_compat.warning_category import ParallelCompatWarning

__version__ = "1.0.0"

# name -> the module that it is defined in. TensorFlow is imported when the first of them is used.
_PUBLIC = {
    "available_devices": "parallel_compat.devices",
    "CheckpointError": "parallel_compat.recover.errors",
    "evaluate_generator": "parallel_compat.batches.generator_methods",
    "fit_generator": "parallel_compat.batches.generator_methods",
    "inspect_checkpoint": "parallel_compat.recover.inspecting",
    "install": "parallel_compat.run.install",
    "limit_gpu_memory": "parallel_compat.devices",
    "load_template_weights": "parallel_compat.recover.loading",
    "multi_gpu_model": "parallel_compat.parallelize_model",
    "parallelize": "parallel_compat.parallelize_model",
    "ParallelModel": "parallel_compat.parallel_model",
    "ParallelCompatWarning": "parallel_compat.warning_category",
    "ParallelModelCheckpoint": "parallel_compat.checkpoints",
    "predict_generator": "parallel_compat.batches.generator_methods",
    "recover_template": "parallel_compat.recover.recovering",
    "Resume": "parallel_compat.resume",
    "simulate_devices": "parallel_compat.devices",
    "template_of": "parallel_compat.parallelize_model",
    "use_gpus": "parallel_compat.devices",
}
# What `%load_ext parallel_compat` looks for.
_NOTEBOOK = {
    "load_ipython_extension": "parallel_compat.run.notebook",
    "unload_ipython_extension": "parallel_compat.run.notebook",
}

__all__ = [
    "CheckpointError",
    "ParallelCompatWarning",
    "ParallelModel",
    "ParallelModelCheckpoint",
    "Resume",
    "available_devices",
    "evaluate_generator",
    "fit_generator",
    "inspect_checkpoint",
    "install",
    "limit_gpu_memory",
    "load_template_weights",
    "multi_gpu_model",
    "parallelize",
    "predict_generator",
    "recover_template",
    "simulate_devices",
    "template_of",
    "use_gpus",
]


def __getattr__(name: str) -> Any:
    home = _PUBLIC.get(name) or _NOTEBOOK.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        value = getattr(import_module(home), name)
    except (ImportError, AttributeError) as error:
        from parallel_compat import tested_versions
        from parallel_compat.missing_keras import explain

        reason = explain(error) if isinstance(error, ImportError) else None
        kind: type[ImportError] = type(error) if isinstance(error, ImportError) else ImportError
        reason = reason or tested_versions.what_is_gone()
        if reason is None:
            raise
        raise kind(f"`parallel_compat.{name}`: {reason}.", name=error.name) from error
    if "keras" in sys.modules:
        from parallel_compat import tested_versions

        tested_versions.warn_of_untested()
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_PUBLIC})
