"""The one error that a file can end in."""

from __future__ import annotations

import re
from typing import Any

_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
MOST_CHARACTERS = 4_000  # of one message, whatever the file puts into it


def without_colours(text: str) -> str:
    """Return a text without the codes of terminals: Keras prints parts of its own in bold."""
    return _COLOURS.sub("", text)


class CheckpointError(ValueError):
    """Raised for a checkpoint that cannot be read or used; the message says what is wrong and where.

    Examples:
        >>> import parallel_compat
        >>> parallel_compat.inspect_checkpoint("missing.h5")
        Traceback (most recent call last):
        ...
        parallel_compat.recover.errors.CheckpointError: missing.h5: no such file.
    """

    def __init__(self, sentence: str = "") -> None:
        sentence = without_colours(sentence)
        super().__init__(sentence if len(sentence) <= MOST_CHARACTERS else f"{sentence[:MOST_CHARACTERS]} ...")


class naming:
    """Put the file's name in front of errors inside the block; turn what a malformed config raises into one."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, CheckpointError) and not str(error).startswith(self._path):
            raise CheckpointError(f"{self._path}: {error}") from error
        if isinstance(error, (KeyError, TypeError, IndexError, AttributeError, RecursionError)) or (
            isinstance(error, (UnicodeError, OverflowError)) or type(error) is ValueError
        ):
            raise CheckpointError(
                f"{self._path}: not of a form that Keras wrote ({type(error).__name__}: {str(error)[:200]})."
            ) from error
