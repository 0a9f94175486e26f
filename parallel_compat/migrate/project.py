"""The other files of a project: what an imported function returns, what an imported class is.

A file is looked for as Python would find it: next to the importing one, or below one of the folders above it.
"""

from __future__ import annotations

import os

LIBRARIES = frozenset(("keras", "tensorflow", "tf", "parallel_compat", "numpy", "np", "os", "sys"))
_FOLDERS_ABOVE = 4


def module_of(path: str, dotted: str) -> tuple[str, str] | None:
    """Find the file of a project that holds a dotted name, and the rest of the name within it.

    Args:
        path: the importing file.
        dotted: an absolute name (`digits.models.small_net`), or a relative one with its dots (`..models.small_net`).

    Returns:
        The other file's path and the rest of the name (`small_net`), or None.
    """
    level = len(dotted) - len(dotted.lstrip("."))
    parts = dotted[level:].split(".")
    if not level and parts[0] in LIBRARIES:
        return None
    folder = os.path.dirname(os.path.abspath(path))
    levels = range(level - 1, level) if level else range(_FOLDERS_ABOVE + 1)
    for start in dict.fromkeys(_above(folder, up) for up in levels):
        for cut in range(len(parts) - 1, 0, -1):
            base = os.path.join(start, *parts[:cut])
            for candidate in (base + ".py", os.path.join(base, "__init__.py")):
                if os.path.isfile(candidate) and os.path.abspath(path) != candidate:
                    return candidate, ".".join(parts[cut:])
    return None


def _above(folder: str, levels: int) -> str:
    for _ in range(levels):
        folder = os.path.dirname(folder)
    return folder
