"""When a checkpoint is due, and whether it is better than those before: the loop that both checkpoints share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import keras
import numpy as np


class MonitorCheckpoint(keras.callbacks.Callback):  # type: ignore[misc]  # Keras carries no types
    """Save every so many epochs or batches, or where a logged quantity is better than before; subclasses write.

    Args:
        monitor: the logged quantity that decides what is best.
        save_freq: "epoch", or save after so many batches.
        threshold: what the first value has to improve on; None for nothing.
    """

    # How an epoch is written in what is printed.
    epoch_format = "d"

    def __init__(
        self,
        *,
        monitor: str,
        larger_is_better: bool,
        verbose: int,
        save_best_only: bool,
        period: int,
        save_freq: str | int,
        threshold: float | None,
    ) -> None:
        keras.callbacks.Callback.__init__(self)
        self.monitor = monitor
        self.verbose = verbose
        self.save_best_only = save_best_only
        self.period = period
        self.epochs_since_last_save = 0
        self.save_freq = save_freq
        self.monitor_op: Callable[[Any, Any], Any] = np.greater if larger_is_better else np.less
        self.best = threshold if threshold is not None else (-np.inf if larger_is_better else np.inf)
        self._epoch = 0
        self._next_batch = 0
        self._batches = 0

    def path_of(self, epoch: int, logs: dict[str, Any]) -> Any:
        """Return the file of an epoch, or None if nothing is to be saved."""
        raise NotImplementedError

    def monitored(self, logs: dict[str, Any]) -> Any:
        """Return the value of the monitored quantity, or None if nothing is to be saved."""
        raise NotImplementedError

    def write_file(self, path: Any) -> None:
        """Write the file."""
        raise NotImplementedError

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        self._epoch, self._next_batch = epoch, 0

    def on_train_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        if self.save_freq == "epoch":
            return
        # With `steps_per_execution` a call stands for several batches.
        self._batches += batch + 1 - self._next_batch
        self._next_batch = batch + 1
        if self._batches >= int(self.save_freq):
            self._batches = 0
            self.save_if_better(self._epoch, {"batch": batch + 1, **(logs or {})})

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        if self.save_freq != "epoch":
            return
        self.epochs_since_last_save += 1
        if self.epochs_since_last_save >= self.period:
            self.epochs_since_last_save = 0
            self.save_if_better(epoch, dict(logs or {}))

    def save_if_better(self, epoch: int, logs: dict[str, Any]) -> None:
        """Save, if what is logged is good enough."""
        path = self.path_of(epoch, logs)
        if path is None:
            return
        if not self.save_best_only:
            self._say(epoch, f"saving model to {path}")
            self.write_file(path)
            return
        value = self.monitored(logs)
        if value is None:
            return
        if not self.monitor_op(value, self.best):
            self._say(epoch, f"{self.monitor} did not improve from {self.best:.5f}")
            return
        self._say(epoch, f"{self.monitor} improved from {self.best:.5f} to {value:.5f}, saving model to {path}")
        self.best = value
        self.write_file(path)

    def _say(self, epoch: int, text: str) -> None:
        if self.verbose > 0:
            print(f"\nEpoch {epoch + 1:{self.epoch_format}}: {text}", flush=True)
