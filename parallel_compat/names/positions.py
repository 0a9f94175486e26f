"""Arguments by position: what each position meant in an era, where it means something else today."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache
from typing import Any

from parallel_compat.names import tsv
from parallel_compat.names.eras import Era

# A value that is not known, to a reader of sources.
UNKNOWN: Any = ...

_TYPES: dict[str, type] = {each.__name__: each for each in (bool, int, list, str, tuple)}
# Keywords with which positions are in today's order; the second ones tf.keras had as well.
_TODAYS_KEYWORDS = frozenset(("weight_decay", "jit_compile", "groups", "seed", "use_cudnn"))
_TODAYS_OR_TF_KERAS = frozenset(("learning_rate", "save_freq", "run_eagerly"))


def named_positions(
    of: str, given: Sequence[Any], keywords: Collection[str] = (), era: Era | None = None
) -> tuple[int, tuple[str, ...]]:
    """Return which of the arguments that a call gives by position have to be named today.

    >>> named_positions("keras.optimizers.SGD", (0.1, 0.9, 1e-6, True), (), Era.KERAS_2_2_4)
    (2, ('decay', 'nesterov'))
    >>> named_positions("keras.optimizers.SGD", (0.1, 0.9, True), (), Era.TF_KERAS_2_2)
    (3, ())

    Args:
        of: the callable, as the table spells it.
        given: the values that are given by position; `UNKNOWN` where only the source is known.
        keywords: the names of those given by keyword.
        era: of the call; None or today is code of any age, which is read as Keras 2.2.4's unless it cannot be.

    Returns:
        How many leading positions stay as they are, and the names of the others: none where all stay.
    """
    agreeing, names = order(of, Era.KERAS_2_2_4 if era is None or era is Era.TODAY else era)
    if not names or len(given) <= agreeing or len(given) > agreeing + len(names):
        return len(given), ()
    first = given[agreeing]
    if type(first) in _todays_values().get(of, ()) and names[0] != "amsgrad":  # which is a bool itself
        return len(given), ()
    if of == "keras.Model.compile" and _are_weights(first):
        return len(given), ()
    of_today = _TODAYS_KEYWORDS if era is not None and era.is_tf_keras else _TODAYS_KEYWORDS | _TODAYS_OR_TF_KERAS
    if of_today & set(keywords):
        return len(given), ()
    return agreeing, names[: len(given) - agreeing]


def has_positions(of: str) -> bool:
    """Return whether a callable takes positions in another order today than in some era."""
    return of in _orders()


def order(of: str, era: Era) -> tuple[int, tuple[str, ...]]:
    """Return how many leading positions of an era agree with today's, and the names of those that follow."""
    return _orders().get(of, {}).get(era, (0, ()))


def _are_weights(value: Any) -> bool:
    values = list(value.values()) if isinstance(value, dict) else value
    return isinstance(values, (list, tuple)) and bool(values) and all(isinstance(each, (int, float)) for each in values)


@cache
def _todays_values() -> dict[str, list[type]]:
    """Return the types of values that only newer code passes at the first position that differs."""
    return {row[0]: [_TYPES[name] for name in row[5].split()] for row in tsv.rows("positions.tsv", 6)}


@cache
def _orders() -> dict[str, dict[Era, tuple[int, tuple[str, ...]]]]:
    table: dict[str, dict[Era, tuple[int, tuple[str, ...]]]] = {}
    eras = (Era.KERAS_2_2_4, Era.KERAS_2_3, Era.TF_KERAS_1_15, Era.TF_KERAS_2_2)
    for of, *columns, _ in tsv.rows("positions.tsv", 6):
        row = table.setdefault(of, {})
        for era, column in zip(eras, columns, strict=True):
            agreeing, colon, names = column.partition(":")
            if colon:
                row[era] = (int(agreeing), tuple(names.split(",")))
    return table
