"""What other packages had in the years of old Keras and what it is today: names, arguments, members.

`run` answers them, `migrate` rewrites them, and `check` lists them.
"""

from __future__ import annotations

import ast
import functools
import importlib
from collections.abc import Collection, Mapping
from typing import NamedTuple

from parallel_compat.names import tsv
from parallel_compat.names.other_packages import NUMPY

_OURS = "parallel_compat.packages."


class Fact(NamedTuple):
    """One name that a package had."""

    old: str  # its dotted path
    until: str  # the package and the last version that had it
    now: str  # the dotted path of the same thing today


class Member(NamedTuple):
    """One attribute that objects of a package had."""

    package: str
    now: str  # today's name; "" where it depends on the object
    advice: str  # what to write
    call: ast.Call | None  # the call of it


class Positions(NamedTuple):
    """What a callable took by position and takes by name today."""

    agreeing: int  # how many leading positions mean today what they meant
    # The names that the following ones have today, with `-` before one without effect and `!` before one that is gone.
    names: tuple[str, ...]


@functools.cache
def _positions() -> dict[str, Positions]:
    rows = tsv.rows("old_positions.tsv", 3)
    return {path: Positions(int(agreeing), tuple(names.split(","))) for path, agreeing, names in rows}


def modules_with_positions() -> set[str]:
    """Return the modules with callables that took more by position."""
    return {path.rpartition(".")[0] for path in _positions()}


def positions(path: str) -> Positions | None:
    """Return what a callable took by position, if it takes less today; of any module of its package.

    >>> positions("sklearn.metrics.confusion_matrix")
    Positions(agreeing=2, names=('labels', 'sample_weight'))
    """
    first, *between, last = path.split(".") if path.count(".") > 1 else (path, path)
    return _positions().get(path) or (_positions().get(f"{first}.{between[0]}.{last}") if between else None)


@functools.cache
def _facts() -> tuple[dict[str, dict[str, Fact]], dict[str, Fact]]:
    names: dict[str, dict[str, Fact]] = {}
    modules: dict[str, Fact] = {}
    for old, until, now in tsv.rows("old_packages.tsv", 3):
        module, _, last = old.rpartition(".")
        for name in last.split("|"):
            fact = Fact(f"{module}.{name}".rstrip("."), until, now.replace("{}", name))
            if name:
                names.setdefault(module, {})[name] = fact
            else:
                modules[module] = fact
    return names, modules


@functools.cache
def _arguments() -> dict[str, dict[str, dict[str, str | None]]]:
    found: dict[str, dict[str, dict[str, str | None]]] = {}
    for paths, olds, new in tsv.rows("old_arguments.tsv", 3):
        home, _, names = paths.rpartition(".")
        above, _, owner = home.rpartition(".")
        module, owner = (above, f"{owner}.") if owner[:1].isupper() else (home, "")
        for name in names.split("|"):
            of = found.setdefault(module, {}).setdefault(f"{owner}{name}", {})
            of.update(dict.fromkeys(olds.split("|"), None if new == "-" else new))
    return found


def arguments_of(module: str) -> dict[str, dict[str, str | None]]:
    """Return what became of arguments of a module's callables: today's names, None for those without effect.

    >>> arguments_of("matplotlib.pyplot")["annotate"]
    {'s': 'text'}
    """
    return _arguments().get(module, {})


@functools.cache
def _members() -> dict[str, tuple[str, str, str]]:
    return {member: (package, now, advice) for package, member, now, advice in tsv.rows("old_members.tsv", 4)}


def member(node: ast.Attribute, parents: Mapping[ast.AST, ast.AST], packages: Collection[str]) -> Member | None:
    """Return what an attribute is today if objects of one of some packages had it; None for others' attributes.

    Args:
        node: the attribute.
        parents: the nodes of the source -> what they are part of.
        packages: what the source imports.
    """
    package, now, advice = _members().get(node.attr, ("", "", ""))
    above = parents.get(node)
    call = above if isinstance(above, ast.Call) and above.func is node else None
    if package not in packages or (node.attr in ("ix", "value")) == (call is not None):
        return None
    if node.attr == "value" and not isinstance(node.value, ast.Subscript):
        return None
    if node.attr == "append" and call is not None and isinstance(parents.get(call), ast.Expr):
        return None  # a list's, which returns nothing
    return Member(package, now, advice, call)


def modules() -> dict[str, Fact]:
    """Return the modules that are gone, by their names."""
    return _facts()[1]


def packages() -> set[str]:
    """Return the packages that had something that is gone."""
    names, gone = _facts()
    return {module.partition(".")[0] for module in (*names, *gone)} - {""}


def names_of(module: str) -> dict[str, Fact]:
    """Return the names that a module had, by their names; "*" is each one."""
    return _facts()[0].get(module, {})


def find(path: str) -> Fact | None:
    """Return what is known of a dotted path, of a name or a module; None if nothing is.

    >>> find("scipy.signal.hann")
    Fact(old='scipy.signal.hann', until='SciPy 1.12', now='scipy.signal.windows.hann')
    """
    names, gone = _facts()
    if path in gone:
        return gone[path]
    module, _, name = path.rpartition(".")
    known = names.get(module, {})
    if name in known:
        return known[name]
    every = known.get("*")
    if every is not None and not name.startswith("_") and _was_there(module, name, every.now):
        return Fact(path, every.until, f"{every.now}.{name}")
    return None


def _was_there(module: str, name: str, now: str) -> bool:
    """Return whether a module had a name of another one; it has others of its own."""
    if module not in ("scipy", "collections"):
        return True
    there = name in NUMPY or hasattr(importlib.import_module(now), name)
    return there and name not in ("fft", "linalg", "show_config", "test")


def advice(fact: Fact) -> str:
    """Say in a few words what became of a name."""
    if fact.now.startswith(_OURS):
        return f"{fact.until} was the last to have it: `{fact.now}` does the same"
    return f"it is `{fact.now}` today"
