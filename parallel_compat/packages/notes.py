"""Notes for the report: which old names were used, and whether the defaults of 2018 apply."""

from __future__ import annotations

_noted: dict[str, str] = {}
is_of_2018 = True  # set by `answer`


def answered() -> list[str]:
    """Return the old names that were used and answered, as in "scipy.misc.imresize: as SciPy 1.2 had it"."""
    return [f"{what}: {how}" for what, how in sorted(_noted.items())]


def note(what: str, how: str) -> None:
    """Note for the report that something old was used.

    Args:
        what: the name, as the script has it.
        how: what it got.
    """
    _noted.setdefault(what, how)
