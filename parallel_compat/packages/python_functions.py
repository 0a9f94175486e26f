"""Functions that Python's library had."""

from __future__ import annotations

import platform


def linux_distribution(*args: object, **options: object) -> tuple[str, str, str]:
    """Return the system's name, version and code name."""
    try:
        found = platform.freedesktop_os_release()
    except OSError:
        return "", "", ""
    return found.get("NAME", ""), found.get("VERSION_ID", ""), found.get("VERSION_CODENAME", "")
