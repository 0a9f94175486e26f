"""What `fit` and its callbacks print, as each era spelled it: scripts of the time read such lines again."""

from __future__ import annotations

import contextlib
import functools
import re
import sys
from typing import TYPE_CHECKING, Any

from parallel_compat.names.eras import Era
from parallel_compat.run import callers, object_eras

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_RATE = re.compile(r"\nEpoch (\d+): (LearningRateScheduler|ReduceLROnPlateau) (?:setting|reducing) (.*)", re.DOTALL)
_EPOCH = re.compile(r"(\d+/\d+)( - \d+s) - +[\d.]+(?:s|ms|us)/\w+((?: - .*)?\n)", re.DOTALL)


def spelled(message: str) -> str:
    r"""Return a message of Keras in the words of the era of the code that trains.

    >>> spelled("1/1 - 0s - 3ms/step - loss: 0.8836\n")  # of today's code
    '1/1 - 0s - 3ms/step - loss: 0.8836\n'

    Args:
        message: as Keras 3 prints it.
    """
    rate, epoch = _RATE.fullmatch(message), _EPOCH.fullmatch(message)
    era = callers.era_of_caller() if rate or epoch else Era.TODAY
    if era is Era.TODAY:
        return message
    if rate:
        sets = rate[2] == "LearningRateScheduler" and era.is_standalone
        return f"\nEpoch {int(rate[1]):05d}: {rate[2]} {'setting' if sets else 'reducing'} {rate[3]}"
    assert epoch is not None
    return ("" if era.is_standalone else epoch[1]) + epoch[2] + epoch[3]


def shown(values: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Return what a bar shows, in its order.

    Up to TensorFlow 1.15 the rate that callbacks log was not among it. Keras 2.2.4 logged the validation first, and
    showed it last.

    Args:
        values: pairs of a name and a number.
    """
    ordered = sorted((pair for pair in values if pair[0] != "lr"), key=lambda pair: str(pair[0]).startswith("val_"))
    differ = [name for name, _ in ordered] != [name for name, _ in values]
    return ordered if differ and callers.era_of_caller().has_graphs else values


_SUMS = "_parallel_compat_sums"


def summing(original: Any) -> Any:
    """Let a bar that the user's code makes (`Progbar.__init__`) keep the sums of what it shows."""

    @functools.wraps(original)
    def __init__(self: Any, *given: Any, **keywords: Any) -> None:
        frame = callers.user_frame(sys._getframe(1))
        if frame is not None and callers.era_of(frame) is not Era.TODAY:
            vars(self)[_SUMS] = {}, callers.era_of(frame)
        original(self, *given, **keywords)

    return __init__


def averaged(bar: Any, values: list[tuple[str, Any]], steps: int) -> list[tuple[str, Any]] | None:
    """Return what a bar of the user's own shows, means over the steps; None of a bar of Keras.

    The last update of a bar shows the last values in Keras 3, as its own bars get means then.

    Args:
        bar: the bar.
        values: pairs of a name and a number.
        steps: how many there were since its last update.
    """
    sums, era = vars(bar).get(_SUMS, (None, Era.TODAY))
    if sums is None:
        return None
    weight = max(steps, 1) if era is Era.TF_KERAS_2_2 else steps
    means = []
    for name, value in values:
        if name in (bar.stateful_metrics or ()):
            means.append((name, value))
            continue
        total, count = sums.get(name, (0, 0))
        sums[name] = total + value * weight, count + weight
        means.append((name, sums[name][0] / max(1, sums[name][1])))
    return means


_SAMPLES = "_parallel_compat_samples_of_fit"


@contextlib.contextmanager
def of_fit(model: Any, verbose: Any, samples: int | None, validated: int | None) -> Iterator[None]:
    """Print what `fit` said first of arrays, up to TensorFlow 1.15 (`training_arrays.py`), and count their samples.

    Args:
        model: the model that is trained.
        verbose: as in `fit`.
        samples: how many it is trained on; None where they are not known.
        validated: how many it is validated on, likewise.
    """
    era = object_eras.era_of_training(model)
    is_told = era is Era.TF_KERAS_1_15 or (era.is_standalone and validated is not None)
    if samples is not None and verbose and is_told:
        print(f"Train on {samples} samples" + ("" if validated is None else f", validate on {validated} samples"))
    vars(model)[_SAMPLES] = samples
    try:
        yield
    finally:
        vars(model).pop(_SAMPLES, None)


_BATCHES = "_parallel_compat_batches_of_line"


def add_batch(bar: Any, values: dict[str, Any], era: Era) -> None:
    """Let the last line of an epoch count what a batch gave, where the bar of the era counted batches for itself.

    Args:
        bar: Keras's own (`ProgbarLogger`).
        values: what the batch gave; in TensorFlow 1.15 all but the loss went on from batch to batch.
        era: the era of the model.
    """
    if not era.has_graphs:
        return
    sums, count = vars(bar).get(_BATCHES, ({}, 0))
    own = values if era.is_standalone else {"loss": values["loss"]}
    vars(bar)[_BATCHES] = {name: sums.get(name, 0) + value for name, value in own.items()}, count + 1


def first_line_of_epoch(original: Any) -> Any:
    """Print "Epoch 1/1" of one epoch as well, as Keras 2.2.4 (`ProgbarLogger.on_epoch_begin`)."""

    @functools.wraps(original)
    def on_epoch_begin(self: Any, epoch: int, logs: Any = None) -> None:
        vars(self).pop(_BATCHES, None)
        original(self, epoch, logs)
        if self.verbose and self.epochs == 1 and object_eras.era_of_training(self.model).is_standalone:
            print("Epoch 1/1")

    return on_epoch_begin


def last_line_of_epoch(original: Any) -> Any:
    """Print of an epoch what its era did, up to TensorFlow 1.15.

    With `verbose=2` there was no line of an epoch that a callback stopped in its midst, and TensorFlow 1.15 counted the
    samples of arrays. Where batches were counted, not samples, the line had the mean over the batches, whatever their
    sizes, with the mean over the samples for one batch more.
    """

    @functools.wraps(original)
    def on_epoch_end(self: Any, epoch: int, logs: Any = None) -> None:
        era = object_eras.era_of_training(self.model)
        if not era.has_graphs:
            original(self, epoch, logs)
            return
        if self.verbose == 2 and self.target is not None and self.seen < self.target:
            return
        samples = vars(self.model).get(_SAMPLES)
        sums, count = vars(self).pop(_BATCHES, ({}, 0))
        if samples is None and logs:
            means = {name: (sums[name] + logs[name]) / (count + 1) for name in sums if name in logs}
            logs = {**logs, **means}
        with _counting_samples(self, samples if era is Era.TF_KERAS_1_15 else None):
            original(self, epoch, logs)

    return on_epoch_end


def last_line_of_evaluation(original: Any, samples: Callable[[Any], int | None]) -> Any:
    """Print with `verbose=2` no line in Keras 2.2.4, and in TensorFlow 1.15 one that counts the samples of arrays.

    Args:
        original: `ProgbarLogger.on_test_end` or `on_predict_end`.
        samples: returns how many a model evaluates; None where the batches are counted.
    """

    @functools.wraps(original)
    def on_end(self: Any, logs: Any = None) -> None:
        era = object_eras.era_of_training(self.model)
        if self.verbose == 2 and era.is_standalone:
            return
        with _counting_samples(self, samples(self.model)):
            original(self, logs)

    return on_end


@contextlib.contextmanager
def _counting_samples(bar: Any, samples: int | None) -> Iterator[None]:
    """Let the line that a bar prints with `verbose=2` say so many samples; None for the batches."""
    if bar.verbose != 2 or samples is None or bar.progbar is None:
        yield
        return
    steps, bar.target = bar.target, samples
    bar.progbar.target = samples
    try:
        yield
    finally:
        bar.target = steps
