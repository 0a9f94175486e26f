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
    from collections.abc import Iterator

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
        sets = rate[2] == "LearningRateScheduler" and era is Era.KERAS_2_2_4
        return f"\nEpoch {int(rate[1]):05d}: {rate[2]} {'setting' if sets else 'reducing'} {rate[3]}"
    assert epoch is not None
    return ("" if era is Era.KERAS_2_2_4 else epoch[1]) + epoch[2] + epoch[3]


def shown(values: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Return what a bar shows, in its order.

    Up to TensorFlow 1.15 the rate that callbacks log was not among it. Keras 2.2.4 logged the validation first, and
    showed it last.

    Args:
        values: pairs of a name and a number.
    """
    ordered = sorted((pair for pair in values if pair[0] != "lr"), key=lambda pair: str(pair[0]).startswith("val_"))
    differ = [name for name, _ in ordered] != [name for name, _ in values]
    return ordered if differ and callers.era_of_caller() in (Era.KERAS_2_2_4, Era.TF_KERAS_1_15) else values


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
    is_told = era is Era.TF_KERAS_1_15 or (era is Era.KERAS_2_2_4 and validated is not None)
    if samples is not None and verbose and is_told:
        print(f"Train on {samples} samples" + ("" if validated is None else f", validate on {validated} samples"))
    vars(model)[_SAMPLES] = samples
    try:
        yield
    finally:
        vars(model).pop(_SAMPLES, None)


def first_line_of_epoch(original: Any) -> Any:
    """Print "Epoch 1/1" of one epoch as well, as Keras 2.2.4 (`ProgbarLogger.on_epoch_begin`)."""

    @functools.wraps(original)
    def on_epoch_begin(self: Any, epoch: int, logs: Any = None) -> None:
        original(self, epoch, logs)
        if self.verbose and self.epochs == 1 and object_eras.era_of_training(self.model) is Era.KERAS_2_2_4:
            print("Epoch 1/1")

    return on_epoch_begin


def last_line_of_epoch(original: Any) -> Any:
    """Let the line of an epoch over arrays say how many samples they have, as in TensorFlow 1.15 (`verbose=2`)."""

    @functools.wraps(original)
    def on_epoch_end(self: Any, epoch: int, logs: Any = None) -> None:
        samples = vars(self.model).get(_SAMPLES)
        if self.verbose != 2 or samples is None or object_eras.era_of_training(self.model) is not Era.TF_KERAS_1_15:
            original(self, epoch, logs)
            return
        steps, self.target = self.target, samples
        self.progbar.target = samples
        original(self, epoch, logs)
        self.target = steps

    return on_epoch_end
