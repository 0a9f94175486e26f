"""Sources that this Python does not parse because of their age: of Python 2, or in Latin-1 without a coding line."""

from __future__ import annotations

import ast
import os
import re
import warnings

from parallel_compat.names import tsv

_MOST_FILES = 1000
_NOT_OF_PROJECT = frozenset(("venv", "env", "node_modules", "site-packages", "__pycache__"))
_PYTHON_2 = re.compile(
    r"^\s*print\s+[^(=\s]|^\s*exec\s+[^(]|except\s+[\w.()]+\s*,\s*\w+\s*:|<>|^\s*raise\s+\w+\s*,|\bur['\"]|\b0\d+\b|`[^`]+`|__builtin__"
)
_CONVERTER = "Rewrite it first: `pip install fissix`, then `parallel-compat migrate --python2"
CONVERT = f"{_CONVERTER} --write FILE`"
CONVERT_TO_RUN = f"{_CONVERTER} --select python-2-names --write FILE`"  # and no other rule: Keras stays old
# Names that only Python 2 has, and methods of its dicts, with what Python 3 calls them.
NAMES_OF_PYTHON_2, METHODS_OF_PYTHON_2 = (
    {name: now for of, name, now in tsv.rows("python_2.tsv", 3) if of == kind} for kind in ("name", "method")
)
CODING_LINE = "If it is in Latin-1, add this as its first line: # -*- coding: latin-1 -*-"


def advice_on_name(name: str) -> str | None:
    """Say what to write for a name or a dict's method that only Python 2 has; None for another name.

    >>> advice_on_name("reduce")
    'only Python 2 has it: `from functools import reduce`'
    """
    if name in METHODS_OF_PYTHON_2:
        return f"only Python 2 has it: `{METHODS_OF_PYTHON_2[name]}`"
    module, _, today = NAMES_OF_PYTHON_2.get(name, "").rpartition(".")
    if not today:
        return None
    return f"only Python 2 has it: `{f'from {module} import ' if module else ''}{today}`"


def is_of_python_2(error: SyntaxError) -> bool:
    """Return whether a syntax error is one that Python 2 would not have raised.

    >>> is_of_python_2(SyntaxError("Missing parentheses in call to 'print'. Did you mean print(...)?"))
    True
    """
    message = error.msg or ""
    old = "print'" in message or "exec'" in message or "multiple exception types" in message
    return old or bool(error.text and _PYTHON_2.search(error.text))


def parses_as_python_2_alone(text: str) -> bool:
    """Return whether a source is of Python 2: this Python does not parse it, and Python 2 would not have raised this.

    >>> [parses_as_python_2_alone(text) for text in ("print 'a'", "print('a')", "def f(:")]
    [True, False, False]
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # escapes that this Python warns of
            ast.parse(text)
    except SyntaxError as error:
        return is_of_python_2(error)
    except (ValueError, RecursionError, MemoryError):  # nested too deeply
        pass
    return False


def count_python_2(folder: str) -> tuple[int, int]:
    """Count the sources of Python 2 in a folder and below, and all sources."""
    old = count = 0
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name not in _NOT_OF_PROJECT and not name.startswith(".")]
        for name in files:
            if name.endswith(".py") and count < _MOST_FILES:
                count += 1
                with open(os.path.join(place, name), encoding="utf-8", errors="replace") as file:
                    old += parses_as_python_2_alone(file.read())
    return old, count


def is_in_another_coding(error: SyntaxError) -> bool:
    """Return whether a source could not be read because it is not in UTF-8 and does not say in what it is."""
    message = error.msg or ""
    return message.startswith("Non-UTF-8 code") or "codec can't decode" in message
