"""The devices that a script used, for the report: TensorFlow's, and those of parallel models."""

from __future__ import annotations

import sys

from parallel_compat.originals import activate


def devices() -> str:
    """Name the devices that the script ran on, or return "" if it did not import TensorFlow.

    Returns:
        As in "2 simulated GPUs", "2 GPUs", "2 of 4 GPUs (GPU:0, GPU:2)", or "2 workers with 2 GPUs each".
    """
    if "tensorflow" not in sys.modules:
        return ""
    import tensorflow as tf

    physical = len(tf.compat.v2.config.list_physical_devices("GPU"))
    settings = activate.active()
    if settings is not None:
        if settings.replicas is not None and settings.replicas > physical:
            return (
                f"{_count(settings.replicas, 'simulated GPU')} on {_count(physical, 'GPU') if physical else 'the CPU'}"
            )
        return _count(physical, "GPU") if physical else "the CPU"
    return _of_today(physical)


def _of_today(physical: int) -> str:
    import tensorflow as tf

    workers = sys.modules.get("parallel_compat.workers")
    if workers is not None and workers.joined():
        return str(workers.described())
    gpus, cpus = (len(tf.config.list_logical_devices(kind)) for kind in ("GPU", "CPU"))
    if gpus > physical:
        return _with_used(gpus, f"simulated devices on {_count(physical, 'GPU')}")
    if gpus:
        return _with_used(gpus, "GPU" if gpus == 1 else "GPUs")
    return _with_used(cpus, "simulated CPU devices") if cpus > 1 else "the CPU"


def _with_used(number: int, what: str) -> str:
    replicas = sys.modules.get("parallel_compat.training.replicas")
    sets = replicas.devices_in_use() if replicas is not None else ()
    used = sorted({name for names in sets for name in names})
    return f"{len(used)} of {number} {what} ({', '.join(used)})" if 0 < len(used) < number else f"{number} {what}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
