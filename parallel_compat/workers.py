"""Several processes that train one model together: which of them this is, and where they wait for each other."""

from __future__ import annotations

import functools
from typing import Any

import tensorflow as tf

from parallel_compat.backend.keras3.workers import strategy_of_workers
from parallel_compat.devices import accept_one_device
from parallel_compat.training import replicas


def join(resolver: Any, devices: int) -> tf.distribute.Strategy:
    """Make this process one of several workers: `gpus=n` then means n devices on each of them, 1 too.

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
    accept_one_device()
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


def of_all(value: int, strategy: tf.distribute.Strategy | None = None) -> list[int]:
    """Return a number of each worker, to each; all workers must call this.

    Args:
        value: the number of this worker.
        strategy: that of the workers; None for what `join` made.

    Returns:
        The number of each worker, the chief's first; that of this process where it is alone.
    """
    strategy = strategy or replicas.strategy_of_workers()
    if strategy is None:
        return [value]
    here = len(strategy.extended.worker_devices)
    return [int(each) for each in _gather(strategy)(tf.constant(value))[::here]]


@functools.cache
def _gather(strategy: tf.distribute.Strategy) -> Any:
    """Return what collects a number of each replica; one function, which is traced once."""
    every = replicas.Replicas(strategy)
    here = len(strategy.extended.worker_devices)
    return tf.function(lambda value: every.gather_values([value] * here), autograph=False)


def wait_for_all() -> None:
    """Wait until all workers are here: what the chief wrote before can be read after."""
    of_all(0)
