"""What h5py 2 had: files that are opened without a mode can be written, `dataset.value`, `file.fid`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from parallel_compat.names.eras import Era
from parallel_compat.run import callers, usage
from parallel_compat.run.patches.wrapping import like

if TYPE_CHECKING:
    from collections.abc import Callable

    from parallel_compat.backend.patches import Patches

_READ_IN = "h5py 3.14"
_MODES = ("r+", "r", "x")  # in this order, the first that the file allows (`h5py/_hl/files.py` of h5py 2.10)


def put_on(patches: Patches) -> None:
    """Give it back to the user's code of an old era."""
    import h5py

    why = "files that are opened without a mode can be written, for the user's code"
    patches.wrap(h5py.File, "__init__", _with_mode, why=why, read_in=_READ_IN)
    members = "what h5py 3 dropped, for the user's code"
    patches.set(h5py.Dataset, "value", _member("value", lambda dataset: dataset[()]), why=members, read_in=_READ_IN)
    patches.set(h5py.File, "fid", _member("fid", lambda file: file.id), why=members, read_in=_READ_IN)


def _member(name: str, of: Callable[[Any], Any]) -> property:
    def get(self: Any) -> Any:
        frame = sys._getframe(1)
        if not callers.is_users(frame) or callers.era_of(frame) is Era.TODAY:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
        usage.record(f"h5py.{type(self).__name__}.{name}", "as in h5py 2", frame)
        return of(self)

    return property(get)


def _with_mode(original: Any) -> Any:
    @like(original)
    def __init__(self: Any, *given: Any, **keywords: Any) -> None:
        frame = sys._getframe(1)  # not that of a library, which leaves the mode out to read
        mode = given[1] if len(given) > 1 else keywords.get("mode")
        if mode is not None or not callers.is_users(frame) or callers.era_of(frame) is Era.TODAY:
            original(self, *given, **keywords)
            return
        for mode in _MODES:
            try:
                if len(given) > 1:
                    original(self, given[0], mode, *given[2:], **keywords)
                else:
                    original(self, *given, **{**keywords, "mode": mode})
            except OSError:
                if mode == _MODES[-1]:
                    raise
            else:
                break
        if mode != "r":
            usage.record("h5py.File(mode)", f'mode="{mode}", as h5py 2 opened it', frame)

    return __init__
