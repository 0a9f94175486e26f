"""Cells of notebooks as Python: IPython's commands become comments of the same length."""

from __future__ import annotations

import ast
import re
import warnings

_MAGIC = re.compile(r"^[ \t]*(?:[\w.,\[\] \t]+=[ \t]*)?(?P<magic>(?:%%?\w|[!?]).*)$", re.MULTILINE)
_SPACED_MAGIC = re.compile(r"^[ \t]*(?P<magic>%[ \t]*\w.*)$", re.MULTILINE)  # or a format's second line
_HELP = re.compile(r"^[ \t]*(?P<magic>[\w.]+\?{1,2})[ \t]*$", re.MULTILINE)
# Commands that IPython takes without `%`.
_AUTOMAGIC = re.compile(
    r"^[ \t]*(?P<magic>(?:cat|cd|conda|cp|ls|man|mkdir|more|mv|pip|rm|run|time)[ \t]+[^\s=(,].*)$",
    re.MULTILINE,
)
_CELL_MAGIC = re.compile(r"\A\s*%%(?P<name>\w+)")
_PYTHON_MAGICS = ("time", "timeit", "capture", "prun")
_FLAGS = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT


def python_of_cell(source: str) -> tuple[str, str]:
    """Hide IPython's commands behind characters that are Python, one for one; say why the rest does not parse.

    >>> python_of_cell("%matplotlib inline\\ncd data\\nx = 1")
    ('0#atplotlib inline\\n0# data\\nx = 1', '')

    Returns:
        Text of the same length, and the error of what is no Python of today.
    """
    magic = _CELL_MAGIC.match(source)
    if magic and magic.group("name") not in _PYTHON_MAGICS:
        return commented(source), ""
    error = _error(source)
    for pattern in (_MAGIC, _HELP, _SPACED_MAGIC, _AUTOMAGIC):
        if not error:
            break
        source = pattern.sub(_hide, source)
        error = _error(source)
    return source, error


def _error(source: str) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # escapes that this Python warns of
        try:
            compile(source, "<cell>", "exec", _FLAGS, dont_inherit=True)
        except SyntaxError as error:
            return f"line {error.lineno}: {error.msg}"
        except ValueError as error:  # a null byte
            return str(error)
        except (RecursionError, MemoryError):  # the parser's
            return "too deeply nested to be parsed"
    return ""


def _hide(match: re.Match[str]) -> str:
    whole, magic = match.group(), match.group("magic")
    before = whole[: match.start("magic") - match.start()]
    after = whole[match.end("magic") - match.start() :]
    return before + ("0#" + magic[2:] if len(magic) > 1 else "0") + after


def commented(source: str) -> str:
    """Return comments of the same length."""
    return "".join(
        character if character in "\r\n" else "#" if index == 0 or source[index - 1] in "\r\n" else " "
        for index, character in enumerate(source)
    )
