"""The one category of this package's warnings."""

from __future__ import annotations


class ParallelCompatWarning(UserWarning, RuntimeWarning):
    """The category of all warnings of this package, for filters that leave other warnings alone.

    It derives from `RuntimeWarning` and `UserWarning`, the categories that Keras 2 used, so filters in old scripts
    still match.

    Examples:
        >>> import warnings
        >>> import parallel_compat
        >>> warnings.filterwarnings("error", category=parallel_compat.ParallelCompatWarning)
    """
