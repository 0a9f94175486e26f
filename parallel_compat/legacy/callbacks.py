"""The callbacks with their old arguments, fields and file names."""

from __future__ import annotations

import functools
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from parallel_compat.backend import keras3
from parallel_compat.legacy import models
from parallel_compat.monitor_checkpoint import MonitorCheckpoint
from parallel_compat.names.identifiers import larger_is_better, value_of, with_both_names
from parallel_compat.warning_category import ParallelCompatWarning


class Callback(keras3.callbacks.CallbackWithModel):
    """A callback whose `model` may be assigned to, as Keras 2's could.

    >>> callback = Callback()
    >>> callback.model = "the template"
    >>> callback.model
    'the template'
    """


class BaseLogger(Callback):
    """Keras 2's callback that averages the figures of batches over an epoch, of which many callbacks were made.

    >>> logger = BaseLogger()
    >>> logger.set_params({"metrics": ["loss"]})
    >>> logger.on_epoch_begin(0)
    >>> logger.on_batch_end(0, {"size": 3, "loss": 1.0})
    >>> logger.on_batch_end(1, {"size": 1, "loss": 2.0})
    >>> logs = {}
    >>> logger.on_epoch_end(0, logs)
    >>> logs
    {'loss': 1.25}

    The logs of an epoch are averages without it. Where batches have no `size` it leaves them as they are.

    Args:
        stateful_metrics: names of metrics whose last value is that of the epoch.
    """

    def __init__(self, stateful_metrics: Any = None) -> None:
        super().__init__()
        self.stateful_metrics = set(stateful_metrics or ())

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self.seen = 0
        self.totals: dict[str, Any] = {}

    def on_batch_end(self, batch: int, logs: Any = None) -> None:
        logs = logs or {}
        size = logs.get("size", 0)
        self.seen += size
        for name, value in logs.items():
            self.totals[name] = value if name in self.stateful_metrics else self.totals.get(name, 0) + value * size

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        if logs is None or not self.seen:
            return
        for name in self.params.get("metrics", ()):
            if name in self.totals:
                logs[name] = self.totals[name] / (1 if name in self.stateful_metrics else self.seen)


class ModelCheckpoint(MonitorCheckpoint, Callback, keras.callbacks.ModelCheckpoint):  # type: ignore[misc]
    """Keras 2's `ModelCheckpoint`: any file name, an interval in epochs, and its fields.

    >>> checkpoint = ModelCheckpoint("{epoch:02d}-{val_acc:.2f}.hdf5", "val_acc", 0, False, False, "auto", 5)
    >>> checkpoint.period, checkpoint.epochs_since_last_save, checkpoint.monitor_op.__name__
    (5, 0, 'greater')

    Files are written whole or not at all. A name that ends in `.keras` gets Keras 3's format, any other Keras 2's.

    Args:
        filepath: the file, with fields such as `{epoch:02d}` and `{val_loss:.2f}`.
        monitor: the log that tells which model is best.
        verbose: 1 prints what is done.
        save_best_only: whether only a model that is better than those before is written.
        save_weights_only: whether weights are written instead of a whole model.
        mode: "min", "max" or "auto": larger is better where the log's name has "acc" in it.
        period: epochs between two files.
        **keywords: those that only today's callback has, and tf.keras's `load_weights_on_restart`: whether a training
            begins with the weights of the newest file that `filepath` may have named.
    """

    epoch_format = "05d"

    def __init__(
        self,
        filepath: Any,
        monitor: str = "val_loss",
        verbose: int = 0,
        save_best_only: bool = False,
        save_weights_only: bool = False,
        mode: str = "auto",
        period: int | str = 1,
        **keywords: Any,
    ) -> None:
        if isinstance(period, str):  # today's seventh argument, `save_freq`
            keywords["save_freq"], period = period, 1
        save_freq = keywords.pop("save_freq", "epoch")
        best = keywords.pop("initial_value_threshold", None)
        self.load_weights_on_restart = bool(keywords.pop("load_weights_on_restart", False))
        if keywords:
            raise TypeError(f"Expected the arguments of `ModelCheckpoint`. Received: {sorted(keywords)}")
        if save_freq != "epoch" and not isinstance(save_freq, int):
            raise ValueError(f'Expected `save_freq` to be "epoch" or an int. Received: save_freq={save_freq!r}')
        self.mode = checked_mode("ModelCheckpoint", mode)
        super().__init__(
            monitor=monitor,
            larger_is_better=larger_is_better(monitor, self.mode),
            verbose=verbose,
            save_best_only=save_best_only,
            period=period,
            save_freq=save_freq,
            threshold=best,
        )
        self.filepath = str(filepath)
        self.save_weights_only = save_weights_only

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        super().on_train_begin(logs)
        newest = _newest_file(self.filepath) if self.load_weights_on_restart else None
        if newest is None:
            return
        try:
            _method(self.model, "load_weights", models.load_weights)(newest)
        except (OSError, ValueError) as error:
            raise ValueError(f"Error loading file from {newest}. Reason: {error}") from error

    def path_of(self, epoch: int, logs: dict[str, Any]) -> str:
        return self.filepath.format(**{**with_both_names(logs), "epoch": epoch + 1})

    def monitored(self, logs: dict[str, Any]) -> Any:
        value = value_of(logs, self.monitor)
        if value is None:
            warnings.warn(
                f"Can save best model only with {self.monitor} available, skipping. Nothing is saved. There are: "
                f"{', '.join(logs)}.",
                ParallelCompatWarning,
                stacklevel=4,
            )
        return value

    def write_file(self, path: str) -> None:
        # The methods of whatever model is trained: wrappers of models override them. They write whole or not at all.
        if self.save_weights_only:
            _method(self.model, "save_weights", models.save_weights)(path, overwrite=True)
        else:
            _method(self.model, "save", models.save_model)(path, overwrite=True)


def _newest_file(pattern: str) -> str | None:
    """Return the newest of the files that a name with fields may stand for, as `load_weights` takes it.

    As TensorFlow 2.2's `_get_most_recently_modified_file_matching_pattern`: what the folder's file `checkpoint` says
    comes first, and of files of the same time the last in the order of their names.
    """
    folder, name = Path(pattern).parent, Path(pattern).name
    expected = re.compile(".*".join(map(re.escape, re.split(r"{.*}", name))))
    said = tf.train.latest_checkpoint(str(folder))
    if said is not None and expected.fullmatch(Path(said).name):
        return str(said)
    files = [each for each in folder.iterdir() if expected.fullmatch(each.name)] if folder.is_dir() else []
    return str(max(files, key=lambda each: (each.stat().st_mtime, str(each)))) if files else None


def _method(model: Any, name: str, ours: Callable[..., Any]) -> Callable[..., Any]:
    """Return a model's own method where its class or the object overrides Keras's, else the one that takes any name."""
    is_ours = isinstance(model, keras.Model) and keras3.in_memory.is_defined_by(
        model, (name,), keras3.in_memory.OWN_PACKAGES
    )
    method: Callable[..., Any] = functools.partial(ours, model) if is_ours else getattr(model, name)
    return method


class AltModelCheckpoint(ModelCheckpoint):
    """The class of the package alt-model-checkpoint: a checkpoint of another model than the one that is trained.

    Args:
        filepath: the file.
        alternate_model: the model to write, the template of a parallel model for instance.
        *args: the further arguments of `ModelCheckpoint`.
        inherit_optimizer: whether the alternate model is compiled as the trained one, so that training can go on
            from the file.
        **kwargs: the further arguments of `ModelCheckpoint`.
    """

    def __init__(
        self, filepath: Any, alternate_model: Any, *args: Any, inherit_optimizer: bool = True, **kwargs: Any
    ) -> None:
        self.alternate_model = alternate_model
        self.inherit_optimizer = inherit_optimizer
        super().__init__(filepath, *args, **kwargs)

    def on_train_begin(self, logs: Any = None) -> None:
        self._trained = self.model
        if self.inherit_optimizer and not getattr(self.alternate_model, "compiled", False):
            # A parallel model and its template share their weights; what is written with them is its optimizer.
            self.alternate_model.optimizer = self.model.optimizer

    def write_file(self, path: str) -> None:
        trained, self.model = self.model, self.alternate_model
        own = getattr(self.alternate_model, "optimizer", None)
        inherits = self.inherit_optimizer and own is not None
        if getattr(trained, "template", None) is self.alternate_model and self.inherit_optimizer:
            self.model = trained  # it writes its template, with the optimizer and losses it is trained with
        elif inherits:
            self.alternate_model.optimizer = trained.optimizer
        try:
            super().write_file(path)
        finally:
            if inherits:
                self.alternate_model.optimizer = own
            self.model = trained


class EarlyStopping(Callback, keras.callbacks.EarlyStopping):  # type: ignore[misc]
    """Keras 2's `EarlyStopping`: `baseline` is the first best value, and the best weights come back where it stops.

    Keras 3 brings them back at the end of every training, and counts the epochs below `baseline` otherwise.

    Args:
        monitor: the log that is watched.
        min_delta: how much better is better.
        patience: epochs without anything better before training stops.
        verbose: 1 prints what is done.
        mode: "min", "max" or "auto": larger is better where the log's name has "acc" in it.
        baseline: the first value to beat, or None.
        restore_best_weights: whether the weights of the best epoch come back when training stops early.
        start_from_epoch: the first epoch that counts (today's argument).
    """

    def __init__(
        self,
        monitor: str = "val_loss",
        min_delta: float = 0,
        patience: int = 0,
        verbose: int = 0,
        mode: str = "auto",
        baseline: float | None = None,
        restore_best_weights: bool = False,
        start_from_epoch: int = 0,
    ) -> None:
        keras.callbacks.Callback.__init__(self)
        self.monitor, self.patience, self.verbose = monitor, patience, verbose
        self.mode = checked_mode("EarlyStopping", mode)
        self.baseline, self.restore_best_weights = baseline, restore_best_weights
        self.start_from_epoch = start_from_epoch
        self.monitor_op = np.greater if larger_is_better(monitor, self.mode) else np.less
        self.min_delta = min_delta if self.monitor_op is np.greater else -min_delta
        self.wait = self.stopped_epoch = self.best_epoch = 0
        self.best_weights: Any = None

    def on_train_begin(self, logs: Any = None) -> None:
        self.wait = self.stopped_epoch = 0
        worst = -np.inf if self.monitor_op is np.greater else np.inf
        self.best: Any = worst if self.baseline is None else self.baseline

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        current = self.get_monitor_value(logs or {})
        if current is None or epoch < self.start_from_epoch:
            return
        if self.monitor_op(current - self.min_delta, self.best):
            self.best, self.best_epoch, self.wait = current, epoch, 0
            if self.restore_best_weights:
                self.best_weights = self.model.get_weights()
            return
        self.wait += 1
        if self.wait < self.patience:
            return
        self.stopped_epoch = epoch
        self.model.stop_training = True
        if self.restore_best_weights and self.best_weights is not None:
            if self.verbose > 0:
                print("Restoring model weights from the end of the best epoch")
            self.model.set_weights(self.best_weights)

    def on_train_end(self, logs: Any = None) -> None:
        if self.stopped_epoch > 0 and self.verbose > 0:
            print(f"Epoch {self.stopped_epoch + 1:05d}: early stopping")

    def get_monitor_value(self, logs: dict[str, Any]) -> Any:
        """Return the watched log, or None with a warning where there is none."""
        return _watched("Early stopping", logs, self.monitor)


def _watched(callback: str, logs: dict[str, Any], monitor: str) -> Any:
    """Return the log that a callback watches, or None with a warning where there is none."""
    value = value_of(logs, monitor)
    if value is None:
        warnings.warn(
            f"{callback} conditioned on metric `{monitor}` which is not available. Available metrics are: "
            f"{','.join(logs)}.",
            ParallelCompatWarning,
            stacklevel=4,
        )
    return value


def _rename_rate(logs: dict[str, Any]) -> None:
    """Let logs spell the learning rate `lr`, with the digits of single precision: 0.05 for 0.05000000074505806."""
    if "learning_rate" in logs:
        logs["lr"] = float(str(np.float32(logs.pop("learning_rate"))))


def _returning_floats(schedule: Callable[..., Any]) -> Callable[..., Any]:
    """Let a schedule return tensors of floats."""

    def as_float(*args: Any) -> Any:
        rate = schedule(*args)
        return float(rate) if isinstance(rate, tf.Tensor) and rate.dtype.is_floating else rate

    return as_float


class LearningRateScheduler(keras.callbacks.LearningRateScheduler):  # type: ignore[misc]
    """Keras 2's `LearningRateScheduler`: what it logs is the `lr`, which Keras 3 logs as `learning_rate`.

    A schedule may return a tensor: `lr * tf.math.exp(-0.1)`.
    """

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        schedule: Any = self.schedule  # type: ignore[has-type]  # Keras carries no types
        self.schedule = _returning_floats(schedule)
        try:
            super().on_epoch_begin(epoch, logs)
        finally:
            self.schedule = schedule

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        super().on_epoch_end(epoch, logs)
        _rename_rate(logs or {})


class CSVLogger(keras.callbacks.CSVLogger):  # type: ignore[misc]
    """Keras 2's `CSVLogger`: its columns are what is logged; Keras 3 adds `val_...` where there is no validation."""

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        if self.keys is None:  # type: ignore[has-type]
            self.keys = sorted(logs or ())
        super().on_epoch_end(epoch, logs)


class ReduceLROnPlateau(Callback, keras.callbacks.ReduceLROnPlateau):  # type: ignore[misc]
    """Keras 2's `ReduceLROnPlateau`: it logs the rate as `lr`, and compares by fields that classes made of it read.

    >>> plateau = ReduceLROnPlateau("val_acc", min_delta=0.1)
    >>> plateau.best, plateau.monitor_op(0.5, 0.3), plateau.monitor_op(0.5, 0.45)
    (-inf, True, False)

    Keras 3 has no `monitor_op` and no `best` before the end of the first epoch, takes a first loss of NaN for the best,
    and compares in single precision.

    Args:
        monitor: the log that is watched.
        factor: what the rate is multiplied by.
        patience: epochs without anything better before that.
        verbose: 1 prints the new rate.
        mode: "min", "max" or "auto": larger is better where the log's name has "acc" in it.
        min_delta: how much better is better; `epsilon` in Keras 2.1.
        cooldown: epochs after that which do not count.
        min_lr: the lowest rate.
        **keywords: `epsilon`; others are not used.
    """

    def __init__(
        self,
        monitor: str = "val_loss",
        factor: float = 0.1,
        patience: int = 10,
        verbose: int = 0,
        mode: str = "auto",
        min_delta: float = 1e-4,
        cooldown: int = 0,
        min_lr: float = 0,
        **keywords: Any,
    ) -> None:
        keras.callbacks.Callback.__init__(self)
        if factor >= 1.0:
            raise ValueError(f"Expected a `factor` below 1. Received: {factor}")
        if "epsilon" in keywords:
            min_delta = keywords["epsilon"]
            warnings.warn(
                "`epsilon` argument is deprecated and will be removed, use `min_delta` instead.",
                ParallelCompatWarning,
                stacklevel=2,
            )
        self.monitor, self.mode, self.min_delta = monitor, checked_mode("ReduceLROnPlateau", mode), min_delta
        self.factor, self.patience, self.cooldown, self.min_lr = factor, patience, cooldown, min_lr
        self.verbose = verbose
        self._begin()

    def _begin(self) -> None:
        self.monitor_op: Callable[[Any, Any], bool]
        if larger_is_better(self.monitor, self.mode):
            self.monitor_op = lambda a, b: bool(np.greater(a, b + self.min_delta))
            self.best: Any = -np.inf
        else:
            self.monitor_op = lambda a, b: bool(np.less(a, b - self.min_delta))
            self.best = np.inf
        self.cooldown_counter = self.wait = 0

    def on_train_begin(self, logs: Any = None) -> None:
        self._begin()

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        logs = {} if logs is None else logs
        rate = _rate(self.model.optimizer)
        logs["learning_rate"] = rate
        _rename_rate(logs)
        current = _watched("Reduce LR on plateau", logs, self.monitor)
        if current is None:
            return
        if self.in_cooldown():
            self.cooldown_counter -= 1
            self.wait = 0
        if self.monitor_op(current, self.best):
            self.best, self.wait = current, 0
            return
        if self.in_cooldown():
            return
        self.wait += 1
        if self.wait < self.patience or rate <= self.min_lr:
            return
        reduced = max(rate * self.factor, self.min_lr)
        _set_rate(self.model.optimizer, reduced)
        if self.verbose > 0:
            print(f"\nEpoch {epoch + 1:05d}: ReduceLROnPlateau reducing learning rate to {reduced}.")
        self.cooldown_counter, self.wait = self.cooldown, 0

    def in_cooldown(self) -> bool:
        """Return whether epochs do not count yet."""
        return self.cooldown_counter > 0


def _rate(optimizer: Any) -> float:
    """Return an optimizer's learning rate; a user's optimizer may have it as `lr` alone."""
    rate = optimizer.learning_rate if hasattr(optimizer, "learning_rate") else optimizer.lr
    return float(keras.ops.convert_to_numpy(rate))


def _set_rate(optimizer: Any, rate: float) -> None:
    if hasattr(optimizer, "learning_rate"):
        optimizer.learning_rate = rate
    else:
        optimizer.lr.assign(rate)


class TensorBoard(keras.callbacks.TensorBoard):  # type: ignore[misc]
    """Keras 2's `TensorBoard`: arguments that had no effect on training are taken, in their old order.

    Args:
        log_dir: the folder.
        histogram_freq: epochs between two histograms of weights.
        batch_size: not used: it sized the batches of the histograms.
        write_graph: whether the graph is written.
        write_grads: not used: Keras 3 writes no histograms of gradients; a warning says so.
        write_images: whether weights are written as pictures.
        embeddings_freq: epochs between two writings of the embeddings.
        embeddings_layer_names: not used: all embedding layers are written.
        embeddings_metadata: files of metadata.
        embeddings_data: not used: Keras 3 writes no embeddings of layer outputs; a warning says so.
        update_freq: "batch", "epoch" or a number of batches (samples, in Keras 2).
        **keywords: those that only today's callback has.
    """

    def __init__(
        self,
        log_dir: str = "./logs",
        histogram_freq: int = 0,
        batch_size: Any = 32,
        write_graph: bool = True,
        write_grads: bool = False,
        write_images: bool = False,
        embeddings_freq: int = 0,
        embeddings_layer_names: Any = None,
        embeddings_metadata: Any = None,
        embeddings_data: Any = None,
        update_freq: Any = "epoch",
        **keywords: Any,
    ) -> None:
        if embeddings_data is not None:
            warnings.warn(
                "Keras 3's TensorBoard writes the weights of embedding layers, and no layer outputs: `embeddings_data` "
                "is left out.",
                ParallelCompatWarning,
                stacklevel=2,
            )
            embeddings_freq = 0
        if write_grads:
            warnings.warn(
                "Keras 3's TensorBoard writes no histograms of gradients.", ParallelCompatWarning, stacklevel=2
            )
        super().__init__(
            log_dir=log_dir,
            histogram_freq=histogram_freq,
            write_graph=write_graph,
            write_images=write_images,
            update_freq=update_freq,
            embeddings_freq=embeddings_freq,
            embeddings_metadata=embeddings_metadata,
            **keywords,
        )

    @property
    def writer(self) -> SummaryWriter:
        """Where custom scalars go (`board.writer.add_summary(summary, epoch)`), next to those of the training."""
        return SummaryWriter(keras3.callbacks.training_summaries(self))


class SummaryWriter:
    """The `tf.summary.FileWriter` that Keras 2's `TensorBoard` kept, over a writer of TensorFlow 2.

    Args:
        writer: as `tf.summary.create_file_writer` returns it.
    """

    def __init__(self, writer: Any) -> None:
        self._writer = writer

    def add_summary(self, summary: Any, global_step: int | None = None) -> None:
        """Write a summary.

        Args:
            summary: a `tf.compat.v1.Summary`, or one serialized.
            global_step: the step; 0 if None, as TensorBoard shows it then.
        """
        serialized = summary if isinstance(summary, bytes) else summary.SerializeToString()
        with self._writer.as_default():
            tf.summary.experimental.write_raw_pb(serialized, step=global_step or 0)

    def flush(self) -> None:
        """Write what is waiting to the file."""
        self._writer.flush()

    def close(self) -> None:
        """Write what is waiting; the callback closes its file when training ends."""
        self._writer.flush()


class FileWriter(SummaryWriter):
    """`tf.summary.FileWriter` of TensorFlow 1, for custom scalars; a graph is not written, there is none.

    Args:
        logdir: the folder.
        *graph: the graph and further arguments, without effect.
        filename_suffix: the end of the file's name.
        **keywords: further arguments, without effect.
    """

    def __init__(self, logdir: str, *graph: Any, filename_suffix: str | None = None, **keywords: Any) -> None:
        super().__init__(tf.summary.create_file_writer(logdir, filename_suffix=filename_suffix))
        self._logdir = logdir

    def get_logdir(self) -> str:
        """Return the folder."""
        return self._logdir

    def add_graph(self, *graph: Any, **keywords: Any) -> None:
        """Leave the graph out."""


def checked_mode(callback: str, mode: str) -> str:
    """Return a callback's mode; an unknown one is "auto", with a warning."""
    if mode in ("auto", "min", "max"):
        return mode
    warnings.warn(f"{callback} mode {mode} is unknown, fallback to auto mode.", ParallelCompatWarning, stacklevel=3)
    return "auto"
