"""Arguments and methods that Python's standard library had up to 3.8, 3.10 and 3.11."""

from __future__ import annotations

import html
from collections.abc import Callable
from typing import Any

from parallel_compat.packages import c_types
from parallel_compat.packages.arguments import accept, around, member
from parallel_compat.packages.notes import note


def _random(random: Any) -> None:
    around(random.Random, "sample", _sample)
    around(random.Random, "shuffle", _shuffle)
    random.sample, random.shuffle = random._inst.sample, random._inst.shuffle


def _sample(original: Any, self: Any, population: Any, k: int, **options: Any) -> Any:
    if not hasattr(population, "__getitem__"):
        note("random.sample", "of a set, too")
        population = tuple(population)
    return original(self, population, k, **options)


def _shuffle(original: Any, self: Any, x: Any, random: Callable[[], float] | None = None) -> None:
    if random is None:
        original(self, x)
        return
    note("random.shuffle(random=)", "as Python 3.10 had it")
    for i in range(len(x) - 1, 0, -1):
        j = int(random() * (i + 1))
        x[i], x[j] = x[j], x[i]


def _json(json: Any) -> None:
    accept(json, "loads", encoding=None)
    accept(json, "load", encoding=None)


def _factorial(original: Any, x: Any, /) -> int:
    if isinstance(x, float) and not x.is_integer():
        raise ValueError("factorial() only accepts integral values")
    return int(original(int(x) if isinstance(x, float) else x))


def _open(original: Any, file: Any, mode: str = "r", *args: Any, **options: Any) -> Any:
    if "U" in mode:
        note("open(mode='U')", "any line ending, as always today")
        mode = mode.replace("U", "")
        mode = mode if "r" in mode else f"r{mode}"
    return original(file, mode, *args, **options)


def _of_class(name: str, **members: Any) -> Callable[[Any], None]:
    return lambda module: member([getattr(module, name)], **members)


def _of_c_type(name: str, **members: Any) -> Callable[[Any], None]:
    def change(module: Any) -> None:
        kind = getattr(module, name)
        c_types.give(kind, **{each: value for each, value in members.items() if not hasattr(kind, each)})

    return change


CHANGES: dict[str, Callable[[Any], None]] = {
    "array": _of_c_type(
        "array", tostring=lambda self: self.tobytes(), fromstring=lambda self, text: self.frombytes(text)
    ),
    "builtins": lambda module: around(module, "open", _open),
    "html.parser": _of_class("HTMLParser", unescape=lambda self, s: html.unescape(s)),
    "json": _json,
    "math": lambda module: around(module, "factorial", _factorial),
    "random": _random,
    "threading": _of_class("Thread", isAlive=lambda self: self.is_alive()),
    "xml.etree.ElementTree": _of_c_type(
        "Element", getchildren=lambda self: list(self), getiterator=lambda self, tag=None: list(self.iter(tag))
    ),
}
