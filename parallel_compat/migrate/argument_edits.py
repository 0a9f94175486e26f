"""Rewriting the arguments of a call by the rows of the table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from parallel_compat.migrate import calls
from parallel_compat.migrate.findings import Status
from parallel_compat.names.arguments import AGREEING, POSITIONS, arguments
from parallel_compat.names.table import Argument, Change

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator

    from parallel_compat.migrate.edits import Edit, Removal
    from parallel_compat.migrate.file import File
    from parallel_compat.migrate.findings import Finding

# Where a position had another meaning before: a literal of this type there is newer code, and stays.
_MODERN: dict[tuple[str, int], type] = {
    ("keras.optimizers.SGD", 2): bool,
    ("keras.optimizers.Adam", 4): bool,
    ("keras.Input", 1): int,
    ("keras.layers.Input", 1): int,
    ("keras.callbacks.TensorBoard", 2): bool,
    ("keras.callbacks.ModelCheckpoint", 6): str,
    ("keras.preprocessing.image.load_img", 1): str,
}
# Literals that say what is the default today: the argument can go.
_NOTHING: dict[str, tuple[Any, ...]] = {
    "decay": (0, 0.0, None),
    "mode": (0,),
    "period": (1,),
    "embeddings_layer_names": (None,),
    "embeddings_data": (None,),
    "schedule_decay": (0.004,),
    "target_tensors": (None,),
    "options": (None,),
    "run_metadata": (None,),
    "grayscale": (False,),
    "dtype": ("float32",),
    "load_weights_on_restart": (False,),
}


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


def rewrite(
    file: File, rule: str, call: ast.Call, target: str, name: str, *, leave: frozenset[str] = frozenset()
) -> Iterator[Finding]:
    """Rewrite a call's arguments.

    Args:
        file: the source.
        rule: the rule that asks.
        call: the call.
        target: what is called, as the table spells it.
        name: how to speak of it.
        leave: keywords that the rule has seen to itself.

    Yields:
        One finding for each argument that changes.
    """
    rows = rows_of(target)
    yield from _positional(file, rule, call, target, name, rows)
    for argument in call.keywords:
        row = rows.get(argument.arg or "")
        if row is not None and argument.arg not in leave:
            yield from _keyword(file, rule, call, argument, row, name)


def _positional(
    file: File, rule: str, call: ast.Call, target: str, name: str, rows: dict[str, Argument]
) -> Iterator[Finding]:
    order = POSITIONS.get(target)
    agreeing = AGREEING.get(target, 0)
    if order is None or len(call.args) <= agreeing:
        return
    if any(calls.keyword(call, new) for new in ("learning_rate", "weight_decay", "save_freq", "run_eagerly")):
        return
    if calls.has_star(call):
        yield file.attention(rule, call, f"`{name}` takes its arguments in another order today; name them.")
        return
    first = calls.constant(call.args[agreeing])
    modern = _MODERN.get((target, agreeing))
    if modern is not None and type(first) is modern:
        return
    if len(call.args) > len(order):
        return
    for position in range(agreeing, len(call.args)):
        argument, old = call.args[position], order[position]
        row = rows.get(old)
        edits: list[Edit | Removal] = []
        if row is None or row.change is Change.RENAMED:
            new = old if row is None else row.new or old
            edits.append(calls.name_positional(file, argument, new))
            message = f"Argument {position + 1} of `{name}` was `{old}`; today it is passed as `{new}=`."
        elif row.change is Change.DROPPED or calls.constant(argument) in _NOTHING.get(old, ()):
            edits += calls.remove(file, call, argument)
            message = f"`{old}` of `{name}` is dropped. {row.note}"
        elif row.change is Change.PROVIDED and file.redirect(call.func, _stand_in(row, target)):
            edits.append(calls.name_positional(file, argument, old))
            message = f"`{name}` with `{old}` is provided by `{_stand_in(row, target)}`. {row.note}"
        else:
            yield file.attention(rule, argument, f"`{old}` of `{name}`: {row.note}")
            continue
        yield file.found(rule, argument, message, edits)


def _keyword(
    file: File, rule: str, call: ast.Call, argument: ast.keyword, row: Argument, name: str
) -> Iterator[Finding]:
    old = argument.arg
    assert old is not None
    value = calls.constant(argument.value)
    if row.change is Change.RENAMED:
        assert row.new is not None
        if calls.keyword(call, row.new) is not None:
            yield file.attention(rule, argument, f"`{name}` has both `{old}` and `{row.new}`; keep one.")
            return
        edits = [calls.rename(file, argument, row.new)]
        if row.values:
            known = {repr(before): after for before, after in row.values}
            if value is ... or repr(value) not in known:
                yield from _provided(file, rule, call, argument, row, name)
                return
            edits.append(file.replace(argument.value, _literal(known[repr(value)], file, argument.value)))
        yield file.found(rule, argument, f"`{old}` of `{name}` is now `{row.new}`.", edits)
    elif row.change is Change.DROPPED or (value is not ... and value in _NOTHING.get(old, ())):
        message = f"`{old}` of `{name}` is dropped. {row.note}"
        yield file.found(rule, argument, message, calls.remove(file, call, argument))
    elif row.change is Change.PROVIDED:
        yield from _provided(file, rule, call, argument, row, name)
    else:
        yield file.attention(rule, argument, f"`{old}` of `{name}`: {row.note}")


def _provided(
    file: File, rule: str, call: ast.Call, argument: ast.keyword, row: Argument, name: str
) -> Iterator[Finding]:
    target = file.names.target(call.func) or row.of
    stand_in = _stand_in(row, target)
    if target == stand_in:
        return
    if file.redirect(call.func, stand_in):
        message = f"`{name}` with `{argument.arg}` is provided by `{stand_in}`. {row.note}"
        yield file.found(rule, argument, message.rstrip())
    else:
        message = f"`{argument.arg}` of `{name}`: use `{stand_in}`, which takes it. {row.note}"
        yield file.attention(rule, argument, message.rstrip(), hint=False)


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


def unsafe_if(guess: bool) -> Status:
    """Return the status of a rewrite that rests on a guess or does not."""
    return Status.UNSAFE if guess else Status.REWRITTEN
