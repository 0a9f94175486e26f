"""Which files are the user's, and how they are named in reports."""

from __future__ import annotations

import os
import site
import sys
import sysconfig
from types import FrameType

_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_PACKAGES = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
# How far a module is searched for after an error.
_FOLDERS_LOOKED_INTO, _DEPTH_LOOKED_INTO = 500, 3


def _started_in() -> str:
    try:
        return os.getcwd()
    except OSError:  # it was removed
        return ""


# A script may change the folder, or remove it.
_STARTED_IN = _started_in()


def is_users(frame: FrameType) -> bool:
    """Say whether a frame runs the user's own code: no installed package, not Python's library, not an original."""
    file = frame.f_globals.get("__file__") or frame.f_code.co_filename
    if file.startswith("<"):
        return not file.startswith("<frozen ") and file != "<__array_function__ internals>"
    path = os.path.abspath(file)
    return not (is_installed(path) or path.startswith((_HERE, *_roots("stdlib", "platstdlib"))))


def is_installed(file: str) -> bool:
    """Say whether a file is an installed package's, or an original's."""
    from parallel_compat.originals import cache

    path = os.path.abspath(file)
    roots = [*_roots("purelib", "platlib"), os.path.join(str(cache.root()), "")]
    if site.ENABLE_USER_SITE:
        roots.append(os.path.join(site.getusersitepackages(), ""))
    return path.startswith(tuple(roots)) or any(folder in path for folder in _PACKAGES)


def short(file: str) -> str:
    """Name a file relative to the folder that the script was started in, if it is below it."""
    if file.startswith("<") or not _STARTED_IN or not os.path.isabs(file):
        return file
    relative = os.path.relpath(file, _STARTED_IN)
    return file if relative.startswith("..") else relative


def folder_of_module(name: str) -> str | None:
    """Return the folder, below the one that the script was started in, that has a module of this name, or None."""
    if not _STARTED_IN:
        return None
    for looked_into, (folder, folders, files) in enumerate(os.walk(_STARTED_IN)):
        if looked_into == _FOLDERS_LOOKED_INTO:
            return None
        relative = os.path.relpath(folder, _STARTED_IN)
        # A folder without `__init__.py` is a module as well, but so is one of data.
        is_package = name in folders and os.path.isfile(os.path.join(folder, name, "__init__.py"))
        if relative != os.curdir and (is_package or f"{name}.py" in files):
            return relative
        depth = 0 if relative == os.curdir else relative.count(os.sep) + 1
        folders[:] = sorted(f for f in folders if not f.startswith(".")) if depth < _DEPTH_LOOKED_INTO else []
    return None


def _roots(*names: str) -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    found = {os.path.join(paths[name], "") for name in names}
    return tuple(found | {os.path.realpath(each) + os.sep for each in found})


def main_script() -> str | None:
    """Return the file of the script that this process runs; None for code without one, and in a notebook."""
    file = getattr(sys.modules.get("__main__"), "__file__", None)
    return os.path.abspath(file) if file else None
