"""A strategy over several workers with a chosen number of devices on each. Read in TensorFlow 2.21."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from tensorflow.python.distribute import collective_all_reduce_strategy, collective_util


def strategy_of_workers(resolver: Any, devices: int) -> tf.distribute.Strategy:
    """Make a `MultiWorkerMirroredStrategy` with so many devices on each worker.

    TensorFlow's own takes all GPUs, and one CPU device where there are none (`_initialize_local_devices`); simulated
    devices are parts of the CPU.

    Args:
        devices: the devices of each worker, that many GPUs or, without GPUs, logical CPU devices.
    """
    strategy = _Strategy.__new__(_Strategy)
    extended = _Extended(strategy, resolver, devices)
    super(collective_all_reduce_strategy.CollectiveAllReduceStrategy, strategy).__init__(extended)
    return strategy


class _Strategy(collective_all_reduce_strategy.CollectiveAllReduceStrategy):  # type: ignore[misc]
    pass


class _Extended(collective_all_reduce_strategy.CollectiveAllReduceExtended):  # type: ignore[misc]
    def __init__(self, strategy: Any, resolver: Any, devices: int) -> None:
        self._chosen = devices
        super().__init__(strategy, cluster_resolver=resolver, communication_options=collective_util.Options())

    def _initialize_local_devices(self, resolver: Any, worker_device: str) -> tuple[tuple[str, ...], str]:
        kind = "GPU" if tf.config.list_physical_devices("GPU") else "CPU"
        return tuple(f"{worker_device}/device:{kind}:{i}" for i in range(self._chosen)), kind
