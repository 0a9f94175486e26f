"""The one error that a file can end in."""

from __future__ import annotations

MOST_CHARACTERS = 4_000  # of one message, whatever the file puts into it


class CheckpointError(ValueError):
    """A checkpoint that cannot be read, or whose content cannot be used: what is wrong, and where.

    >>> import parallel_compat
    >>> parallel_compat.inspect_checkpoint("missing.h5")
    Traceback (most recent call last):
    ...
    parallel_compat.recover.errors.CheckpointError: missing.h5: no such file.
    """

    def __init__(self, sentence: str = "") -> None:
        super().__init__(sentence if len(sentence) <= MOST_CHARACTERS else f"{sentence[:MOST_CHARACTERS]} ...")
