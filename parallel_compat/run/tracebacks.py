"""Tracebacks of the user's code without our frames: they show what the user wrote and what Keras did with it."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any

from parallel_compat.run import remedies

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# The folders whose frames say nothing to a user. Those of the core stay.
_OURS = tuple(os.path.join(_PACKAGE, folder) + os.sep for folder in ("run", "originals", "packages", "names"))


_before_an_error: Callable[[], None] | None = None


def hide_our_frames(before: Callable[[], None] | None = None) -> None:
    """Print uncaught errors without the frames of these folders; `PARALLEL_COMPAT_TRACEBACK=full` keeps them.

    Args:
        before: called before the error that ends the script is printed, so that the error comes last.
    """
    global _before_an_error
    _before_an_error = before
    sys.excepthook = _excepthook
    threading.excepthook = _thread_excepthook


def without_our_frames(error: BaseException | None) -> None:
    """Take our frames out of an error's traceback and of those it came from."""
    if os.environ.get("PARALLEL_COMPAT_TRACEBACK") == "full":
        return
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        error.__traceback__ = _shorten(error.__traceback__)
        error = error.__cause__ or error.__context__


def _shorten(traceback: TracebackType | None) -> TracebackType | None:
    entries = []
    while traceback is not None:
        entries.append(traceback)
        traceback = traceback.tb_next
    kept = [entry for entry in entries if not entry.tb_frame.f_code.co_filename.startswith(_OURS)]
    # An error of ours that nobody else's code led to keeps its frames: there is nothing else to show.
    if len(kept) == len(entries) or not kept:
        return entries[0] if entries else None
    shortened: TracebackType | None = None
    for entry in reversed(kept):
        shortened = TracebackType(shortened, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return shortened


def _excepthook(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    if _before_an_error is not None and not issubclass(kind, KeyboardInterrupt):
        _before_an_error()
    line = remedies.remedy(error)
    without_our_frames(error)
    sys.__excepthook__(kind, error, error.__traceback__)
    if line is not None and sys.stderr is not None:
        print(line, file=sys.stderr, flush=True)


def _thread_excepthook(arguments: Any) -> None:
    without_our_frames(arguments.exc_value)
    traceback = arguments.exc_value.__traceback__ if arguments.exc_value is not None else arguments.exc_traceback
    threading.__excepthook__(
        threading.ExceptHookArgs((arguments.exc_type, arguments.exc_value, traceback, arguments.thread))
    )
