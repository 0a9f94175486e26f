"""Several processes that train one model together: which of them this is, and where they wait for each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tensorflow as tf

from parallel_compat.backend.keras3.workers import strategy_of_workers
from parallel_compat.training import replicas

if TYPE_CHECKING:
    import numpy as np


def join(resolver: Any, devices: int) -> tf.distribute.Strategy:
    """Make this process one of several workers: `gpus=n` then means n devices on each of them.

    TensorFlow wants this before its first operation, and waits here until all workers are there.

    Args:
        resolver: a `tf.distribute.cluster_resolver.ClusterResolver`, which says who the workers are.
        devices: how many devices each worker has.

    Returns:
        The strategy of all parallel models of this process.

    Raises:
        RuntimeError: TensorFlow has started already.
    """
    strategy = strategy_of_workers(resolver, devices)
    replicas.train_on_workers(strategy)
    return strategy


def joined() -> bool:
    """Whether this process is one of several workers."""
    return replicas.strategy_of_workers() is not None


def described() -> str:
    """Say how many workers there are, and their devices: "2 workers with 2 CPU devices each"."""
    strategy = replicas.strategy_of_workers()
    assert strategy is not None
    here = strategy.extended.worker_devices
    kind = "GPU" if "GPU" in here[0] else "CPU device"
    devices = f"{len(here)} {kind}{'' if len(here) == 1 else 's'}"
    return f"{strategy.num_replicas_in_sync // len(here)} workers with {devices} each"


def is_chief() -> bool:
    """Whether this process is the one that writes files: the first worker, or the only process."""
    strategy = replicas.strategy_of_workers()
    return strategy is None or replicas.Replicas(strategy).is_chief


def of_chief(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the chief's values, on each worker; all workers must call this.

    Args:
        values: an array of the same shape and dtype on each worker, int32, int64, float32 or float64.
    """
    strategy = replicas.strategy_of_workers()
    if strategy is None:
        return values
    every = replicas.Replicas(strategy)
    here = len(strategy.extended.worker_devices)

    gathered = tf.function(lambda: every.gather_values([tf.constant(values)] * here)[0], autograph=False)
    first: np.ndarray[Any, Any] = gathered().numpy()
    return first


def wait_for_all() -> None:
    """Wait until all workers are here: what the chief wrote before can be read after."""
    import numpy as np

    of_chief(np.zeros((), "int32"))
