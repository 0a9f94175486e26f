"""What `fit` and its callbacks print, as each era spelled it: scripts of the time read such lines again."""

from __future__ import annotations

import re
from typing import Any

from parallel_compat.names.eras import Era
from parallel_compat.run import callers

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
