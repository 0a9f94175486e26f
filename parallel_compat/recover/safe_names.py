"""Names that a file gives to layers and weights: what is let through, and how they are quoted."""

from __future__ import annotations

import re

from parallel_compat.recover import limits
from parallel_compat.recover.errors import CheckpointError

PRINTABLE = re.compile(r"[^\x00-\x1f\x7f\ud800-\udfff]+")


def parts(name: str, where: str) -> list[str]:
    """Split a name at its slashes; refuse any that could leave its group.

    >>> from parallel_compat.recover.safe_names import parts
    >>> parts("block/conv/kernel:0", "layer 'block'")
    ['block', 'conv', 'kernel:0']

    Raises:
        CheckpointError: it is absolute, holds `.` or `..`, control characters or half of a surrogate pair, or is
            longer or deeper than any that Keras wrote.
    """
    found = name.split("/")
    if len(name) > limits.NAME_LENGTH or len(found) > limits.NAME_DEPTH:
        raise CheckpointError(f"{where}: the name {short(name)} is too long or too deep.")
    if any(part in ("", ".", "..") for part in found) or not PRINTABLE.fullmatch(name):
        raise CheckpointError(
            f"{where}: the name {short(name)} would leave its group, or is not text; names may not be absolute, or "
            "hold `.`, `..` or control characters."
        )
    return found


def short(name: str) -> str:
    """Quote a name from the file for a message: bounded and printable."""
    return ascii(name if len(name) <= 120 else f"{name[:80]}...{name[-20:]}")


def printable(text: str) -> str:
    """Keep what a file says on one line, and from steering the terminal."""
    text = " ".join(text.splitlines()) if "\n" in text else text
    return "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in text)
