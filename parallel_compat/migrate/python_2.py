"""`migrate --python2`: sources of Python 2 become sources of Python 3, by fissix, before the rules run.

It leaves `/`: of two whole numbers it was a whole number in Python 2. Each such place is for a reader.
"""

from __future__ import annotations

import functools
from typing import Any

_NEWLINE = "\n"


class NoConverter(Exception):
    """Neither fissix nor lib2to3 is installed."""

    def __init__(self) -> None:
        super().__init__("Expected fissix, which rewrites Python 2. Received: none. Install it: pip install fissix")


def rewritten(text: str, path: str) -> str:
    """Return a source of Python 2 as one of Python 3."""
    convert, errors = _converter()
    whole = text if text.endswith(_NEWLINE) else text + _NEWLINE
    try:
        new = str(convert(whole, path))
    except errors as error:
        raise SyntaxError(f"not of Python 2 either: {error}") from error
    return new if whole is text else new.removesuffix(_NEWLINE)


@functools.cache
def _converter() -> tuple[Any, tuple[type[Exception], ...]]:
    try:
        from fissix import pgen2, pytree  # noqa: F401  # the second is what the first needs imported
        from fissix.refactor import RefactoringTool, get_fixers_from_package

        fixers = get_fixers_from_package("fissix.fixes")
    except ImportError:
        try:
            from lib2to3 import pgen2
            from lib2to3.refactor import RefactoringTool, get_fixers_from_package

            fixers = get_fixers_from_package("lib2to3.fixes")
        except ImportError:
            raise NoConverter from None
    tool = RefactoringTool(fixers)
    return tool.refactor_string, (pgen2.parse.ParseError, pgen2.tokenize.TokenError)
