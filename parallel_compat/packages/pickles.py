"""`pickle` of Python 2 wrote to files that were opened as text and read from them, and read text as bytes.

What Python 3 refuses is answered; what it does is left alone.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

from parallel_compat.packages.arguments import around, called_by_user
from parallel_compat.packages.notes import note


def _change(module: Any) -> None:
    around(module, "dump", _dump)
    around(module, "load", _load)


def _dump(original: Any, obj: Any, file: Any, *args: Any, **options: Any) -> None:
    original(obj, _of_bytes(file, "dump"), *args, **options)


def _load(original: Any, file: Any, **options: Any) -> Any:
    file = _of_bytes(file, "load")
    if options or not called_by_user() or not getattr(file, "seekable", bool)():
        return original(file, **options)
    begin = file.tell()
    try:
        return original(file)
    except UnicodeDecodeError:
        note("pickle.load", "a file of Python 2: its bytes are read as text in latin-1")
        file.seek(begin)
        return original(file, encoding="latin-1")


def _of_bytes(file: Any, function: str) -> Any:
    if not isinstance(file, io.TextIOWrapper):
        return file
    note(f"pickle.{function}", "the file was opened as text: its bytes are used, as in Python 2")
    return file.buffer


CHANGES: dict[str, Callable[[Any], None]] = {"pickle": _change}
