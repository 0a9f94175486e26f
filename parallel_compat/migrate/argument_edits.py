"""Rewriting the arguments of a call by the rows of the table."""

from __future__ import annotations

import ast

from parallel_compat.migrate import calls
from parallel_compat.migrate.edits import AnyEdit
from parallel_compat.migrate.file import File, Findings
from parallel_compat.names.arguments import arguments
from parallel_compat.names.positions import UNKNOWN, named_positions
from parallel_compat.names.table import Argument, Change


def rows_of(target: str) -> dict[str, Argument]:
    """Return the rows for a call, by the old argument's name; those of every layer included."""
    rows = arguments().get(target, {})
    if target.startswith("keras.layers.") and target.rpartition(".")[2][:1].isupper():
        every = dict(arguments()["keras.layers.Layer"])
        if target == "keras.layers.Embedding":
            every.pop("weights")  # Keras 3's Embedding still takes it
        if target in ("keras.layers.Input", "keras.layers.InputLayer"):
            every.pop("batch_size")  # as above
        return {**every, **rows}
    return rows


def rewrite(file: File, call: ast.Call, target: str, name: str, *, leave: frozenset[str] = frozenset()) -> Findings:
    """Rewrite a call's arguments.

    Args:
        target: what is called, as the table spells it.
        name: how to speak of it.
        leave: keywords that the rule has seen to itself.
    """
    rows = rows_of(target)
    yield from _positional(file, call, target, name, rows)
    for argument in call.keywords:
        row = rows.get(argument.arg or "")
        if row is not None and argument.arg not in leave:
            yield from _keyword(file, call, argument, row, name)


def _positional(file: File, call: ast.Call, target: str, name: str, rows: dict[str, Argument]) -> Findings:
    given = [calls.constant(argument) for argument in call.args]
    keywords = [keyword.arg or "" for keyword in call.keywords]
    agreeing, names = named_positions(target, given, keywords, file.era)
    if names and calls.has_star(call):
        yield file.attention(call, f"`{name}` takes its arguments in another order today; name them.")
        return
    for position, old in enumerate(names, agreeing):
        argument, value = call.args[position], given[position]
        row = rows.get(old)
        edits: list[AnyEdit] = []
        if row is not None and (row.change is Change.DROPPED or _is_harmless(file, row, value)):
            edits += calls.remove(file, call, argument)
            message = f"`{old}` of `{name}` is dropped. {row.note}"
        elif row is None or row.change in (Change.RENAMED, Change.SAME):
            new = old if row is None else row.new or old
            edits.append(calls.name_positional(file, argument, new))
            message = f"Argument {position + 1} of `{name}` was `{old}`; today it is passed as `{new}=`."
        elif row.change is Change.PROVIDED and file.redirect(call.func, _stand_in(row, target)):
            edits.append(calls.name_positional(file, argument, old))
            message = f"`{name}` with `{old}` is provided by `{_stand_in(row, target)}`. {row.note}"
        else:
            yield file.attention(argument, f"`{old}` of `{name}`: {row.note}")
            continue
        yield file.found(argument, message, edits)


def _keyword(file: File, call: ast.Call, argument: ast.keyword, row: Argument, name: str) -> Findings:
    old = argument.arg
    assert old is not None
    value = calls.constant(argument.value)
    if row.change is Change.DROPPED or _is_harmless(file, row, value):
        message = f"`{old}` of `{name}` is dropped. {row.note}"
        yield file.found(argument, message.rstrip(), calls.remove(file, call, argument))
    elif row.change is Change.SAME:
        return
    elif row.change is Change.RENAMED:
        assert row.new is not None
        if calls.keyword(call, row.new) is not None:
            yield file.attention(argument, f"`{name}` has both `{old}` and `{row.new}`; keep one.")
            return
        edits = [calls.rename(file, argument, row.new)]
        if row.values:
            known = {repr(before): after for before, after in row.values}
            if value is ... or repr(value) not in known:
                yield from _provided(file, call, argument, row, name)
                return
            edits.append(file.replace(argument.value, _literal(known[repr(value)], file, argument.value)))
        yield file.found(argument, f"`{old}` of `{name}` is now `{row.new}`.", edits)
    elif row.change is Change.PROVIDED:
        yield from _provided(file, call, argument, row, name)
    else:
        yield file.attention(argument, f"`{old}` of `{name}`: {row.note}")


def _is_harmless(file: File, row: Argument, value: object) -> bool:
    if row.change is Change.SAME and value is None:
        return False  # it may stay
    return value is not UNKNOWN and file.era not in row.not_in and row.is_harmless(value)


def _provided(file: File, call: ast.Call, argument: ast.keyword, row: Argument, name: str) -> Findings:
    target = file.names.target(call.func) or row.of
    stand_in = _stand_in(row, target)
    if target == stand_in:
        return
    if file.redirect(call.func, stand_in):
        message = f"`{name}` with `{argument.arg}` is provided by `{stand_in}`. {row.note}"
        yield file.found(argument, message.rstrip())
    else:
        message = f"`{argument.arg}` of `{name}`: use `{stand_in}`, which takes it. {row.note}"
        yield file.attention(argument, message.rstrip(), hint=False)


def _stand_in(row: Argument, target: str) -> str:
    if row.change is Change.PROVIDED and row.new is not None and row.new != "parallel_compat.legacy.layers":
        return row.new
    return f"parallel_compat.legacy.layers.{target.rpartition('.')[2]}"


def _literal(value: object, file: File, node: ast.expr) -> str:
    """Spell a literal with the quotes that the source used."""
    quote = file.source.segment(node)[-1:]
    if isinstance(value, str) and quote in ("'", '"'):
        return f"{quote}{value}{quote}"
    return repr(value)
