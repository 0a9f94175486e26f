"""`np.load` read pickled objects until numpy 1.16.2: so it does for files of the project itself."""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING, Any

from parallel_compat.packages.arguments import asks_user
from parallel_compat.packages.noted import note

if TYPE_CHECKING:
    from collections.abc import Callable


def _change(module: Any) -> None:
    original = module.load

    @functools.wraps(original)
    def load(file: Any, mmap_mode: Any = None, allow_pickle: Any = None, *args: Any, **options: Any) -> Any:
        if allow_pickle is None:
            allow_pickle = _is_of_project(file) and asks_user()
            if allow_pickle:
                note("numpy.load", "pickled objects are read, too, for files of the project itself")
        return original(file, mmap_mode, allow_pickle, *args, **options)

    module.load = load


def _is_of_project(file: Any) -> bool:
    """Return whether a file lies below the script's folder or the current one."""
    from parallel_compat.run import users_code

    if not isinstance(file, str | os.PathLike):
        return False
    script = users_code.main_script()
    folders = [os.getcwd(), *([os.path.dirname(script)] if script else [])]
    path = os.path.realpath(os.fspath(file))
    return any(path.startswith(os.path.join(os.path.realpath(folder), "")) for folder in folders)


CHANGES: dict[str, Callable[[Any], None]] = {"numpy": _change}
