"""The one category of this package's warnings."""

from __future__ import annotations


class ParallelCompatWarning(UserWarning, RuntimeWarning):
    """Every warning of this package; a filter that names it leaves all other warnings alone.

    >>> import warnings
    >>> import parallel_compat
    >>> warnings.filterwarnings("error", category=parallel_compat.ParallelCompatWarning)

    Both bases are there because Keras 2's callbacks warned with `RuntimeWarning` and all else with `UserWarning`:
    filters in old scripts still hold.
    """
