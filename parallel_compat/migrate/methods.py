"""Method calls of Keras objects that become calls of functions: `model.m(x)` to `f(model, x)`."""

from __future__ import annotations

import ast

from parallel_compat.migrate.dotted_names import root_name
from parallel_compat.migrate.edits import AnyEdit, Edit
from parallel_compat.migrate.file import File, Findings
from parallel_compat.names.members import NODE, members
from parallel_compat.names.table import Member

WHAT = {
    "keras.Model": "a Keras model",
    "keras.optimizers.Optimizer": "a Keras optimizer",
    "keras.layers.Layer": "a Keras layer",
    "keras.KerasTensor": "a tensor",
    "keras.metrics.Metric": "a metric",
    NODE: "a call of a layer",
    "keras.callbacks.Callback": "a callback",
    "keras.callbacks.ModelCheckpoint": "a ModelCheckpoint",
}


def member(of: str, name: str) -> Member:
    """Return the table's row for a member of one kind of object."""
    return next(row for row in members()[name] if row.of == of)


def short(file: File, node: ast.expr) -> str:
    """Return a short spelling of an object, for messages."""
    text = file.source.segment(node)
    first = text.splitlines()[0]
    return first if first == text and len(first) <= 40 else first[:37] + "..."


def guessed(file: File, node: ast.expr, of: str) -> str:
    """Say what is a guess: that an object is of a kind."""
    return f"`{short(file, node)}` is assumed to be {WHAT[of]}."


def to_function(
    file: File, call: ast.Call, row: Member, *, more: tuple[AnyEdit, ...] = (), telling: bool = False
) -> Findings:
    """Turn a method's call into a function's; a `telling` call is certainly one of that method.

    >>> from parallel_compat.migrate.edits import apply; from parallel_compat.migrate.file import File, Findings
    >>> file = File("import keras\\nmodel = keras.Model(a, b)\\nmodel.predict_proba(x)")
    >>> row = member("keras.Model", "predict_proba")
    >>> finding, = to_function(file, file.method_calls["predict_proba"][0], row)
    >>> print(apply(file.source.text, finding.edits).splitlines()[-1])
    predict_proba(model, x)
    """
    func = call.func
    assert isinstance(func, ast.Attribute)
    assert row.new is not None
    guess = not telling and file.kinds.of(func.value) != row.of
    spelled = file.reference(row.new, call)
    if spelled is None:
        yield file.attention(func, f"`{row.old}` is now `{row.new}`, but the name `parallel_compat` is taken here.")
        return
    text, imports = spelled
    start, dot, opening = file.source.start(func), file.dot_of(func), file.opening(call)
    following = file.source.text[opening + 1 :]
    blank = following[: len(following) - len(following.lstrip(" \t"))]
    if not call.args and not call.keywords:
        separator = ""
    elif following[len(blank) : len(blank) + 1] in ("\n", "\r", "#"):
        separator = ","
    else:
        separator = ", "
    first = opening + 1 + (len(blank) if separator == ", " else 0)
    receiver = file.source.text[start:dot]
    if "\n" not in receiver and _is_plain(file, func.value):  # the bracket stays, and what is aligned with it
        hanging = following[: len(following) - len(following.lstrip())]
        if separator and "\n" in hanging:  # on a line of its own, as the arguments are
            first = opening + 1 + len(hanging)
            newline = "\r\n" if "\r\n" in hanging else "\n"
            given = Edit(first, first, f"{receiver},{newline}{hanging.rpartition(newline)[2]}")
        else:
            given = Edit(opening + 1, first, receiver + separator)
        edits: list[AnyEdit] = [Edit(start, opening, text), given]
    else:
        edits = [Edit(start, start, f"{text}("), Edit(dot, first, separator)]
    edits += [*imports, *more]
    message = f"`{row.old}` is provided by `{row.new}`."
    if row.note:
        message += " " + row.note
    yield file.found(func, message, edits, unsafe=guess and guessed(file, func.value, row.of))


def _is_plain(file: File, receiver: ast.expr) -> bool:
    """Return whether nothing within a receiver is rewritten: `model`, `self.model`, but no name of a module."""
    root = root_name(receiver)
    return root is not None and file.names.path(root) is None
