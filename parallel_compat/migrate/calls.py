"""Reading and editing the arguments of a call."""

from __future__ import annotations

import ast
import io
import tokenize

from parallel_compat.migrate.edits import Addition, Edit, Item, Removal
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
    items = tuple(_items(file, call))
    return [Removal(items, every.index(argument)) for argument in arguments]


def _items(file: File, call: ast.Call) -> list[Item]:
    """Return where the arguments lie, in the order of the text."""
    source = file.source
    opening, closing = file.opening(call), source.end(call)
    text = source.text[opening:closing]
    commas = [opening + position for position in _top_level_commas(text)]
    items = []
    begin = opening + 1
    for comma in [*commas, closing - 1]:
        content = source.text[begin:comma]
        stripped = _skip_blank(content)
        if stripped < len(content):
            tail = len(_without_comment(content).rstrip())
            items.append(Item(begin + stripped, begin + tail, comma + 1 if comma < closing - 1 else None))
        begin = comma + 1
    return items


def _skip_blank(text: str) -> int:
    """Return the offset of the first character that is neither blank nor in a comment."""
    position = 0
    while position < len(text):
        if text[position] == "#":
            while position < len(text) and text[position] not in "\r\n":
                position += 1
        elif text[position] in " \t\r\n\f\\":
            position += 1
        else:
            break
    return position


def _without_comment(text: str) -> str:
    """Cut comments off the end of an argument."""
    lines = text.splitlines(keepends=True)
    while lines and lines[-1].strip().startswith("#"):
        lines.pop()
    text = "".join(lines)
    last = lines[-1] if lines else ""
    if "#" in last:
        tokens = _tokens(last)
        for kind, position in tokens:
            if kind == tokenize.COMMENT:
                return text[: len(text) - len(last) + position]
    return text


def _tokens(line: str) -> list[tuple[int, int]]:
    found = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(line.strip("\r\n")).readline):
            found.append((token.type, token.start[1]))
    except (tokenize.TokenError, IndentationError):
        pass
    return found


def _top_level_commas(text: str) -> list[int]:
    """Return the offsets of the commas between a call's arguments; `text` begins with its parenthesis."""
    starts = [0]
    for position, character in enumerate(text):
        if character == "\n" or (character == "\r" and text[position + 1 : position + 2] != "\n"):
            starts.append(position + 1)
    depth = 0
    commas = []
    for token in tokenize.generate_tokens(io.StringIO(text, newline="").readline):
        if token.type != tokenize.OP:
            continue
        if token.string in "([{":
            depth += 1
        elif token.string in ")]}":
            depth -= 1
            if depth == 0:
                break
        elif token.string == "," and depth == 1:
            commas.append(starts[token.start[0] - 1] + token.start[1])
    return commas


def outer_end(file: File, node: ast.expr) -> int:
    """Return where an argument ends, the parentheses around it included."""
    call = file.tree.parents[node]
    assert isinstance(call, ast.Call)
    return next(item.end for item in _items(file, call) if item.start <= file.source.start(node) < item.end)


def append(file: File, call: ast.Call, text: str) -> Edit | Addition:
    """Add an argument at the end of a call."""
    items = tuple(_items(file, call))
    if not items:
        position = file.opening(call) + 1
        return Edit(position, position, text)
    return Addition(items, text)
