"""`re.split` split only where something stands until Python 3.6; today it splits at empty matches, too."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from parallel_compat.packages import notes
from parallel_compat.packages.arguments import around, called_by_user


def _split(original: Any, pattern: Any, string: Any, maxsplit: int = 0, flags: int = 0) -> Any:
    compiled = re.compile(pattern, flags)
    if notes.is_of_2018 and called_by_user() and any(not m.group() for m in compiled.finditer(string)):
        notes.note("re.split", "where a pattern matches nothing it does not split, as in Python 3.6")
        return _split_at_texts(compiled, string, maxsplit)
    return original(pattern, string, maxsplit=maxsplit, flags=flags)


def _split_at_texts(pattern: re.Pattern[Any], string: Any, most: int) -> list[Any]:
    """Split at matches that are not empty; after an empty one the search goes on a character later."""
    parts, begin, at = [], 0, 0
    splits = 0
    while at <= len(string) and (not most or splits < most):
        match = pattern.search(string, at)
        if match is None:
            break
        if match.start() == match.end():
            at = match.end() + 1
            continue
        parts += [string[begin : match.start()], *match.groups()]
        begin = at = match.end()
        splits += 1
    return [*parts, string[begin:]]


CHANGES: dict[str, Callable[[Any], None]] = {"re": lambda module: around(module, "split", _split)}
