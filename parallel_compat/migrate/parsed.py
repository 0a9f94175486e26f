"""A source's syntax tree and scopes, read once for all readers: the project, the file itself, those that import it."""

from __future__ import annotations

import ast
import warnings
from functools import lru_cache
from typing import cast

from parallel_compat.migrate import scopes
from parallel_compat.migrate.scopes import Tree

_FLAGS = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT


def parse(text: str) -> ast.Module:
    """Parse a source; `await` may stand at the top, as it may in a notebook."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "invalid escape sequence" is the author's affair
        try:
            return cast("ast.Module", compile(text, "<source>", "exec", _FLAGS, dont_inherit=True))
        except ValueError as error:  # a null byte
            raise SyntaxError(str(error)) from None
        except MemoryError:  # so Python's parser says that a source is nested too deeply
            raise RecursionError("too deeply nested to be parsed") from None


@lru_cache(maxsize=256)  # a tree takes some 5 kB a line
def read(text: str) -> Tree:
    """Return the scopes of a source, with its tree. Nobody changes them."""
    return scopes.read(parse(text), declares="global " in text)
