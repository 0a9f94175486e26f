"""Reading and editing the arguments of a call."""

from __future__ import annotations

import ast

from parallel_compat.migrate.edits import Addition, Edit, Item, Removal, items_between
from parallel_compat.migrate.file import File


def keyword(call: ast.Call, name: str) -> ast.keyword | None:
    """Return the keyword argument of that name."""
    return next((argument for argument in call.keywords if argument.arg == name), None)


def argument(call: ast.Call, name: str, position: int | None = None) -> ast.expr | None:
    """Return an argument, by its name or its position."""
    found = keyword(call, name)
    if found is not None:
        return found.value
    return call.args[position] if position is not None and len(call.args) > position else None


def receiver(call: ast.Call) -> ast.expr:
    """Return the object whose method is called."""
    assert isinstance(call.func, ast.Attribute)
    return call.func.value


def has_stars(call: ast.Call) -> bool:
    """Return whether a call passes `*args` or `**kwargs`, so that its arguments are not known here."""
    return has_star(call) or any(argument.arg is None for argument in call.keywords)


def has_star(call: ast.Call) -> bool:
    """Return whether a call passes `*args`."""
    return any(isinstance(argument, ast.Starred) for argument in call.args)


def constant(node: ast.expr | None) -> object:
    """Return the value of a literal, or `...` where the node is none."""
    if node is None:
        return ...
    try:
        value: object = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return ...
    return value


def rename(file: File, argument: ast.keyword, new: str) -> Edit:
    """Rename a keyword argument; an `=` that blanks put below others stays in its column."""
    assert argument.arg is not None
    start = file.source.start(argument)
    end = start + len(argument.arg)
    rest = file.source.text[end:]
    blanks = len(rest) - len(rest.lstrip(" "))
    if blanks > 1 and rest[blanks] == "=":
        return Edit(start, end + blanks, new.ljust(len(argument.arg) + blanks - 1) + " ")
    return Edit(start, end, new)


def name_positional(file: File, argument: ast.expr, name: str) -> Edit:
    """Write `name=` before a positional argument."""
    start = outer_start(file, argument)
    return Edit(start, start, f"{name}=")


def outer_start(file: File, node: ast.expr) -> int:
    """Return where an argument begins, the parentheses around it included."""
    text = file.source.text
    start = file.source.start(node)
    call = file.tree.parents[node]
    assert isinstance(call, ast.Call)
    floor = file.opening(call) + 1
    others = [file.source.end(other) for other in call.args if file.source.end(other) <= start]
    floor = max([floor, *others])
    between = text[floor:start]
    opening = between.find("(")
    return floor + opening if opening >= 0 and "#" not in between[:opening] else start


def remove(file: File, call: ast.Call, *arguments: ast.keyword | ast.expr) -> list[Removal]:
    """Remove arguments together with their commas; what follows on their line stays."""
    every: list[ast.keyword | ast.expr] = [*call.args, *call.keywords]
    every.sort(key=file.source.start)
    items = _items(file, call)
    return [Removal(items, every.index(argument)) for argument in arguments]


def _items(file: File, call: ast.Call) -> tuple[Item, ...]:
    """Return where the arguments lie, in the order of the text."""
    return items_between(file.source.text, file.opening(call) + 1, file.source.end(call) - 1)


def outer_end(file: File, node: ast.expr) -> int:
    """Return where an argument ends, the parentheses around it included."""
    call = file.tree.parents[node]
    assert isinstance(call, ast.Call)
    return next(item.end for item in _items(file, call) if item.start <= file.source.start(node) < item.end)


def append(file: File, call: ast.Call, text: str) -> Edit | Addition:
    """Add an argument at the end of a call."""
    items = _items(file, call)
    if not items:
        position = file.opening(call) + 1
        return Edit(position, position, text)
    return Addition(items, text)
