"""Reads marshalled code without making a code object, and says whether the script has the same.

Bytes out of a file can crash `marshal` and the interpreter.

The layouts are those of `Python/marshal.c` of CPython 2.7, 3.7, 3.10 and 3.13.
"""

from __future__ import annotations

import functools
import linecache
import marshal
import os
import struct
import sys
import types
from collections.abc import Iterator
from types import CodeType, ModuleType
from typing import Any, NamedTuple

_LARGEST = 1 << 20  # bytes of one function
_DEEPEST = 50
_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


class BytecodeError(ValueError):
    """Bytes are not the code of a function, or of another Python; the message says which."""


class _Layout(NamedTuple):
    """How a code object is written: so many numbers, so many objects, a number, so many objects."""

    python: str
    counts: int
    objects: int
    last: int
    name: int  # which of the objects is the function's name
    compared: int  # how many of the objects say what the function does


_LAYOUTS = (
    _Layout("Python 3.11 or newer", 5, 8, 2, 6, 5),
    _Layout("Python 3.8 to 3.10", 6, 8, 1, 7, 6),
    _Layout("Python 3.0 to 3.7", 5, 8, 1, 7, 6),
    _Layout("Python 2", 4, 8, 1, 7, 6),
)
_OWN = _LAYOUTS[0] if sys.version_info >= (3, 11) else _LAYOUTS[1]


class Code(NamedTuple):
    """A function's code as plain data; two that are equal do the same."""

    counts: tuple[int, ...]  # of arguments and the like
    objects: tuple[Any, ...]  # bytecode, constants and names


def read(raw: bytes) -> Code:
    """Read marshalled code of this Python."""
    if len(raw) > _LARGEST:
        raise BytecodeError(f"more than {_LARGEST} bytes")
    found = _read_as(_OWN, raw)
    if isinstance(found, Code):
        return found
    for layout in _LAYOUTS:
        if layout is not _OWN and isinstance(_read_as(layout, raw), Code):
            raise BytecodeError(f"code of {layout.python}")
    raise BytecodeError("no code of a function")


def of_code(code: CodeType) -> Code:
    """Return the plain data of a code object of this process."""
    return read(marshal.dumps(code))


def code_of_script(wanted: Code) -> tuple[CodeType, dict[str, Any]] | None:
    """Return code of the user's modules that is equal to a file's, with its globals; None if they have none."""
    for module, file in modules_of_script():
        for code in _codes_of_module(module, file):
            # Reading code is slow; most of it differs in the first of its objects.
            if code.co_code == wanted.objects[0] and of_code(code) == wanted:
                return code, vars(module)
    return None


def modules_of_script() -> Iterator[tuple[ModuleType, str]]:
    """Yield the imported modules of the user, each with its file ("" for none): no installed package, no library."""
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None) or ""
        if "site-packages" in file or "dist-packages" in file or not hasattr(module, "__dict__"):
            continue
        if file.startswith(_PACKAGE):  # a checkout of this one
            continue
        if module.__name__ == "__main__" or (file and not file.startswith(sys.base_prefix)):
            yield module, file


def _codes_of_module(module: ModuleType, file: str) -> Iterator[CodeType]:
    if file.endswith(".py"):
        yield from _codes_of_source("".join(linecache.getlines(file)), file)
    else:
        for value in list(vars(module).values()):
            if isinstance(value, types.FunctionType):
                yield from _nested(value.__code__)


@functools.lru_cache(1024)
def _codes_of_source(source: str, file: str) -> list[CodeType]:
    try:
        return list(_nested(compile(source, file, "exec", dont_inherit=True)))
    except (SyntaxError, ValueError):
        return []


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _nested(constant)


def _read_as(layout: _Layout, raw: bytes) -> Code | None:
    reader = _Reader(layout, raw)
    try:
        found = reader.object(0)
    except (struct.error, IndexError, KeyError, ValueError, OverflowError):
        return None
    return found if isinstance(found, Code) and reader.at == len(raw) else None


_SINGLE = {"N": None, "T": True, "F": False, ".": ..., "S": StopIteration}


class _Reader:
    def __init__(self, layout: _Layout, raw: bytes) -> None:
        self.layout, self.raw, self.at = layout, raw, 0
        self.kept: list[Any] = []

    def take(self, count: int) -> bytes:
        if count < 0 or self.at + count > len(self.raw):
            raise ValueError("cut off")
        self.at += count
        return self.raw[self.at - count : self.at]

    def number(self, form: str = "<i") -> Any:
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    def object(self, depth: int) -> Any:
        if depth > _DEEPEST:
            raise ValueError("too deep")
        head = self.take(1)[0]
        kind = chr(head & 0x7F)
        index = None
        if head & 0x80:
            index = len(self.kept)
            self.kept.append(None)
        value = self.content(kind, depth + 1)
        if index is not None:
            self.kept[index] = value
        elif kind == "t" and self.layout.python == "Python 2":
            self.kept.append(value)
        return value

    def content(self, kind: str, depth: int) -> Any:
        if kind in _SINGLE:
            return _SINGLE[kind]
        if kind == "c":
            return self.code(depth)
        if kind in "rR":
            return self.kept[self.number("<I")]
        if kind == "i":
            return self.number()
        if kind == "I":
            return self.number("<q")
        if kind == "l":
            count = self.number()
            digits = [self.number("<H") for _ in range(abs(count))]
            return (1 if count > 0 else -1) * sum(digit << 15 * i for i, digit in enumerate(digits))
        if kind == "g":
            return ("float", self.take(8))
        if kind == "y":
            return ("complex", self.take(16))
        if kind in "fx":
            return ("text of a number", [self.take(self.number("<B")) for _ in range(1 if kind == "f" else 2)])
        if kind in "stuaA":
            return self.text(kind, self.number("<I"))
        if kind in "zZ":
            return self.text(kind, self.number("<B"))
        if kind in "([<>)":
            count = self.number("<B") if kind == ")" else self.number("<I")
            if count > len(self.raw):
                raise ValueError("cut off")
            return ("(" if kind in "()" else kind, tuple(self.object(depth) for _ in range(count)))
        if kind == ":":
            return (":", tuple(self.object(depth) for _ in range(3)))
        raise ValueError(kind)

    def text(self, kind: str, count: int) -> Any:
        taken = self.take(count)
        return taken if kind == "s" else taken.decode("utf-8", "surrogatepass")

    def code(self, depth: int) -> Code:
        layout = self.layout
        counts = tuple(self.number() for _ in range(layout.counts))
        objects = tuple(self.object(depth) for _ in range(layout.objects))
        self.number()
        for _ in range(layout.last):
            self.object(depth)
        if not isinstance(objects[0], bytes) or not isinstance(objects[layout.name], str):
            raise ValueError("not as code is written")
        return Code(counts, objects[: layout.compared])
