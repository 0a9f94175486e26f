"""Functions that pandas had."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def _rolling(name: str) -> Callable[..., Any]:
    def rolls(arg: Any, window: int, min_periods: int | None = None, center: bool = False) -> Any:
        return getattr(arg.rolling(window, min_periods=min_periods, center=center), name)()

    return rolls


rolling_max, rolling_mean, rolling_median, rolling_min = (_rolling(name) for name in ("max", "mean", "median", "min"))
rolling_std, rolling_sum, rolling_var = (_rolling(name) for name in ("std", "sum", "var"))


def value_counts(values: Any, **options: Any) -> Any:
    """Count the values."""
    import pandas

    return pandas.Series(values).value_counts(**options)


def match(to_match: Any, values: Any, na_sentinel: int = -1) -> Any:
    """Return the places of some values among others."""
    import pandas

    found = pandas.Index(values).get_indexer(to_match)
    found[found < 0] = na_sentinel
    return found


class SettingWithCopyWarning(Warning):
    """What pandas warned with before version 3; nothing does today."""
