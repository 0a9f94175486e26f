"""Strings that name things: losses, initializers, constraints, and the fields of logs and history."""

from __future__ import annotations

from functools import cache
from typing import Any

from parallel_compat.names import tsv
from parallel_compat.names.table import Identifier

_ROWS = tsv.rows("identifiers.tsv", 4)


def _pairs(kind: str) -> dict[str, str]:
    return {old: new for of, old, new, _ in _ROWS if of == kind}


def _words(kind: str) -> frozenset[str]:
    return frozenset(" ".join(_pairs(kind)).split())


# Strings that hardly anything but old Keras reads, wherever they stand: what each is, and what to say today.
TELLING = {old: (what, today) for of, old, today, what in _ROWS if of == "telling"}
# Those of them that code of today says, too.
ALSO_TODAY = ("huber_loss", "hard_sigmoid")
NEED_TARGETS_OF_RANK = _words("need targets of rank")
# The metric of these names had the sign of the loss, which none of Keras 3 has; `COSINE_PROXIMITY` has it.
COSINE_METRICS = ("cosine_proximity", "cosine")
COSINE_PROXIMITY = "parallel_compat.legacy.losses.cosine_proximity"
FUNCTIONS_TODAY = _pairs("function")
SHORT_NAMES = _pairs("short name")
# The same as Keras 2 logged them: under the name that the function had then.
SHORT_FUNCTIONS = {**SHORT_NAMES, "kld": "kullback_leibler_divergence", "cosine": "cosine_proximity"}
FUNCTIONS_OF_TODAY = _words("functions of today")

# What was logged under another name than today: Keras 2 logged a metric that was given by a short string under the
# name that the function had then, Keras 3 under the string.
LOGS_TODAY = {
    "acc": "accuracy",
    **{full: short for short, full in SHORT_NAMES.items() if full not in FUNCTIONS_TODAY.values()},
    **FUNCTIONS_TODAY,
    "lr": "learning_rate",
}


def log_today(log: str) -> str:
    """Return the name of a log as Keras 3 spells it.

    >>> log_today("val_acc"), log_today("size_mean_absolute_error"), log_today("loss")
    ('val_accuracy', 'size_mae', 'loss')
    """
    for then, today in LOGS_TODAY.items():
        if log == then or log.endswith(f"_{then}"):
            return log[: len(log) - len(then)] + today
    return log


def larger_is_better(log: str, mode: str = "auto", *, auc: bool = False) -> bool:
    """Return whether a callback takes the larger value of a log for the better one.

    >>> larger_is_better("val_acc"), larger_is_better("val_loss"), larger_is_better("val_loss", "max")
    (True, False, True)

    Args:
        mode: "min", "max", or "auto", which goes by the name as Keras 2's callbacks did.
        auc: whether "auto" takes the larger AUC as well, as Keras 3 does and Keras 2 did not.
    """
    if mode != "auto":
        return mode == "max"
    return "acc" in log or log.startswith("fmeasure") or (auc and "auc" in log.lower())


def _spellings(log: str) -> list[str]:
    """Return the other spellings of a log's name: Keras 2's of today's, and the other way round."""
    pairs = [pair for names in LOGS_TODAY.items() for pair in (names, names[::-1])]
    return [log.removesuffix(this) + other for this, other in pairs if log == this or log.endswith(f"_{this}")][:1]


def value_of(logs: dict[str, Any], name: str) -> Any:
    """Return the log of a name in either spelling, or None.

    >>> value_of({"val_acc": 0.5, "val_out_mae": 2.0}, "val_out_mean_absolute_error")
    2.0
    """
    return next((logs[each] for each in (name, *_spellings(name)) if each in logs), None)


def with_both_names(logs: dict[str, Any]) -> dict[str, Any]:
    """Return a dict that has every log under today's name and under the old one.

    >>> with_both_names({"val_acc": 0.5})
    {'val_accuracy': 0.5, 'val_acc': 0.5}
    """
    return {**{other: value for name, value in logs.items() for other in _spellings(name)}, **logs}


@cache
def identifiers() -> dict[str, dict[str, Identifier]]:
    """Return the rows by kind and old string."""
    kinds = ("loss", "metric", "constraint", "log")
    return {kind: {old: Identifier(kind, old, new) for old, new in _pairs(kind).items()} for kind in kinds}
