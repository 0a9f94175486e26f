"""Logs by both names of a metric: `acc` for `accuracy`, and the other way round."""

from __future__ import annotations

from typing import Any

import numpy as np

from parallel_compat.names.identifiers import LOGS_TODAY


def _spellings(name: str) -> tuple[str, ...]:
    """Return the other spellings of a log's name.

    >>> _spellings("val_acc")
    ('val_accuracy',)
    >>> _spellings("val_output_1_mean_absolute_error")
    ('val_output_1_mae',)
    """
    for pair in LOGS_TODAY.items():
        for this, other in (pair, pair[::-1]):
            if name == this or name.endswith(f"_{this}"):
                return (name[: -len(this)] + other,)
    return ()


def value_of(logs: dict[str, Any], name: str) -> Any:
    """Return the log of a name in either spelling, or None.

    >>> value_of({"val_acc": 0.5}, "val_accuracy")
    0.5
    """
    return next((logs[each] for each in (name, *_spellings(name)) if each in logs), None)


def rename_rate(logs: dict[str, Any]) -> None:
    """Let a callback's logs spell the learning rate `lr`, in the place where it is.

    The rate is a number in single precision: it is logged with the digits of one, 0.05 for 0.05000000074505806.

    >>> logs = {"loss": 0.5, "learning_rate": 0.05000000074505806}
    >>> rename_rate(logs)
    >>> logs
    {'loss': 0.5, 'lr': 0.05}
    """
    if "learning_rate" in logs:
        logs["lr"] = float(str(np.float32(logs.pop("learning_rate"))))


def with_old_names(logs: dict[str, Any]) -> dict[str, Any]:
    """Return a dict that has every log under today's name and under the old one."""
    named = dict(logs)
    for name, value in logs.items():
        for other in _spellings(name):
            named.setdefault(other, value)
    return named
