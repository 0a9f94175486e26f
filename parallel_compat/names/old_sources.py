"""Sources that this Python does not parse because of their age: of Python 2, or in Latin-1 without a coding line."""

from __future__ import annotations

import re

_PYTHON_2 = re.compile(
    r"^\s*print\s+[^(=\s]|^\s*exec\s+[^(]|except\s+[\w.()]+\s*,\s*\w+\s*:|<>|^\s*raise\s+\w+\s*,|\bur['\"]|\b0\d+\b|`[^`]+`|__builtin__"
)
CONVERT = "Convert it first: `pip install fissix`, then `python -m fissix -w FILE` (Python 3.13 has no 2to3 any more)"
CODING_LINE = "If it is in Latin-1, add this as its first line: # -*- coding: latin-1 -*-"


def is_of_python_2(error: SyntaxError) -> bool:
    """Say whether a syntax error is one that Python 2 would not have raised.

    >>> is_of_python_2(SyntaxError("Missing parentheses in call to 'print'. Did you mean print(...)?"))
    True
    """
    message = error.msg or ""
    old = "print'" in message or "exec'" in message or "multiple exception types" in message
    return old or bool(error.text and _PYTHON_2.search(error.text))


def is_in_another_coding(error: SyntaxError) -> bool:
    """Say whether a source could not be read because it is not in UTF-8 and does not say in what it is."""
    message = error.msg or ""
    return message.startswith("Non-UTF-8 code") or "codec can't decode" in message
