"""The releases of Keras and TensorFlow that were tested, and what is said of others."""

from __future__ import annotations

import functools
import re
import sys
import warnings

from parallel_compat.backend import contract
from parallel_compat.warning_category import ParallelCompatWarning

# The releases that the tests ran with (`docs/versions.json`), as major and minor numbers.
TESTED = {"keras": ((3, 12), (3, 13), (3, 14), (3, 15)), "tensorflow": ((2, 18), (2, 19), (2, 20), (2, 21))}
_SPELLED = {"keras": "Keras", "tensorflow": "TensorFlow"}


def tested() -> str:
    """Return the releases of Keras and TensorFlow that were tested, in words."""
    return " and ".join(f"{_SPELLED[name]} {_in_words(releases)}" for name, releases in TESTED.items())


def _in_words(releases: tuple[tuple[int, int], ...]) -> str:
    """Return releases in words.

    >>> _in_words(((2, 18), (2, 20), (2, 21)))
    '2.18, 2.20, 2.21'
    """
    return ", ".join(".".join(map(str, release)) for release in releases)


def untested(loaded: dict[str, str]) -> list[str]:
    """Return which of some versions are of releases that were not tested.

    >>> untested({"keras": "3.15.1", "tensorflow": "2.23.0"})
    ['TensorFlow 2.23.0']
    """
    found = []
    for name, number in loaded.items():
        is_release = re.fullmatch(r"(\d+)\.(\d+)[.\d]*(\+.*)?", number)
        release = (int(is_release[1]), int(is_release[2])) if is_release else None
        if release not in TESTED[name]:
            found.append(f"{_SPELLED[name]} {number}")
    return found


def _loaded() -> dict[str, str]:
    return {name: str(getattr(sys.modules[name], "__version__", "?")) for name in TESTED if name in sys.modules}


@functools.cache
def warn_of_untested() -> None:
    """Warn, once, of a Keras or TensorFlow that was not tested."""
    found = untested(_loaded())
    if found:
        warnings.warn(
            f"parallel_compat was tested with {tested()}, not with {' and '.join(found)}. "
            "`parallel-compat names --contract` says whether it has all that is needed.",
            ParallelCompatWarning,
            stacklevel=3,
        )


def what_is_gone() -> str | None:
    """Name what the installed Keras and TensorFlow lack, in a sentence without a full stop; None if nothing."""
    if "keras" not in sys.modules:
        return None
    gone = contract.check()
    if not gone:
        return None
    received = " and ".join(f"{_SPELLED[name]} {number}" for name, number in _loaded().items())
    return f"Expected {tested()}. Received: {received}, where {'; '.join(gone)}. Install a version that was tested"
