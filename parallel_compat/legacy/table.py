"""What a legacy name is today: one table, pure data, two readers (`run` answers from it, `migrate` writes it).

Four kinds of rows:

- `Path` (`paths.tsv`): every importable name of Keras 2.2.4, and the names beside it that old code imports.
- `Argument` (`arguments.py`): an argument that is spelled, placed or understood otherwise today.
- `Member` (`members.py`): a method, attribute or callback field of an object.
- `Default` (`defaults.py`): an argument whose value changed for those who do not pass it.

Nothing here imports Keras or TensorFlow. `tests/legacy/` walks every row: each target imports and accepts what
the row promises.
"""

from __future__ import annotations

import enum
from collections import Counter
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

# The spellings under which old code reaches Keras, longest first: (as written, the root whose answers hold).
ROOTS: tuple[tuple[str, str], ...] = (
    ("tensorflow.contrib.keras.api.keras", "tensorflow.python.keras"),
    ("tensorflow.contrib.keras.python.keras", "tensorflow.python.keras"),
    ("tensorflow.python.keras.api.keras", "tensorflow.python.keras"),
    ("tensorflow.compat.v1.keras", "tensorflow.python.keras"),
    ("tensorflow.compat.v2.keras", "tensorflow.python.keras"),
    ("tensorflow._api.v1.keras", "tensorflow.python.keras"),
    ("tensorflow.contrib.keras", "tensorflow.python.keras"),
    ("tensorflow.python.keras", "tensorflow.python.keras"),
    ("tensorflow.keras", "tensorflow.keras"),
    ("tf.keras", "tensorflow.keras"),
    ("keras", "keras"),
)


class Status(str, enum.Enum):
    """What became of a path."""

    SAME = "same"  # the path imports the same thing today
    MOVED = "moved"  # the thing is elsewhere in Keras or TensorFlow
    PROVIDED = "provided"  # this package has it
    GONE = "gone"  # it cannot mean what it meant; the note says what to do instead


@dataclass(frozen=True, slots=True)
class Path:
    """What one import path is today.

    Attributes:
        path: the path as it was asked for.
        status: what became of it.
        target: the dotted path to use today (`path` itself for `SAME`, None for `GONE`).
        note: for `GONE`, one sentence on why and what to do instead.
    """

    path: str
    status: Status
    target: str | None
    note: str = ""


class Change(str, enum.Enum):
    """What became of an argument or a member."""

    RENAMED = "renamed"  # the same thing under `new`
    DROPPED = "dropped"  # it had no effect on results, or has none any more: leave it out
    PROVIDED = "provided"  # not expressible today; `new` (a dotted path) of this package takes it
    GONE = "gone"  # it cannot be honoured; the note says what to do instead


@dataclass(frozen=True, slots=True)
class Argument:
    """What one argument of a legacy call is today.

    Attributes:
        of: the call: a path under `keras.` as today's Keras spells it (`keras.layers.Dense`), or a method
            (`keras.Model.fit`).
        old: the argument's old name.
        change: what became of it.
        new: the argument's name today (`RENAMED`), or the dotted path of the callable of this package that takes
            the old argument (`PROVIDED`).
        values: old value -> new value, where these changed as well.
        position: where old code may have passed it by position (0 is the first argument after self), if today
            that position means something else.
        note: one sentence, for the report.
    """

    of: str
    old: str
    change: Change
    new: str | None = None
    values: tuple[tuple[Any, Any], ...] = ()
    position: int | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Member:
    """What one method, attribute or callback field is today.

    Attributes:
        of: the kind of object: `keras.Model`, `keras.optimizers.Optimizer`, `keras.callbacks.Callback`,
            `keras.layers.Layer`, `keras.KerasTensor`.
        old: the member's old name.
        change: what became of it.
        new: the member's name today (`RENAMED`), or the dotted path of a function that takes the object as its
            first argument (`PROVIDED`).
        method: whether it is called.
        note: one sentence, for the report.
    """

    of: str
    old: str
    change: Change
    new: str | None = None
    method: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class Default:
    """An argument whose value is another today when it is not passed.

    Attributes:
        of: the call, as in `Argument`.
        argument: its name today.
        old: the old default, as Python source (a dotted path of this package where no literal says it).
        today: the default today, as Python source.
        modern: names of arguments that only newer code passes; where one is passed, the code knew the new default.
        note: one sentence, for the report.
    """

    of: str
    argument: str
    old: str
    today: str
    modern: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class _Row:
    keras: Status
    tensorflow: Status
    target: str
    note: str


def split_root(path: str) -> tuple[str, str, str] | None:
    """Split a path into the root as written, the root whose answers hold, and the path under `keras`.

    >>> split_root("tf.keras.layers.Dense")
    ('tf.keras', 'tensorflow.keras', 'keras.layers.Dense')

    Args:
        path: a dotted path.

    Returns:
        The three, or None where the path is not under any spelling of Keras.
    """
    for written, root in ROOTS:
        if path == written or path.startswith(written + "."):
            return written, root, "keras" + path[len(written) :]
    return None


def lookup(path: str) -> Path | None:
    """Say what an import path is today.

    >>> lookup("keras.utils.multi_gpu_model").target
    'parallel_compat.multi_gpu_model'
    >>> lookup("tensorflow.python.keras.layers.core.Dense").target
    'tensorflow.keras.layers.Dense'

    Args:
        path: a dotted path under `keras`, `tf.keras`, `tensorflow.keras`, `tensorflow.python.keras` or one of the
            other spellings in `ROOTS`.

    Returns:
        The answer, or None where the table does not know the path.
    """
    parts = split_root(path)
    if parts is None:
        return None
    _written, root, canonical = parts
    row = _rows().get(canonical)
    if row is None:
        return None
    status = row.keras if root == "keras" else row.tensorflow
    if status is Status.GONE:
        return Path(path, status, None, row.note)
    if status is Status.PROVIDED:
        return Path(path, status, row.target, row.note)
    target = canonical if status is Status.SAME else row.target
    if root != "keras" and target.startswith("keras."):
        target = "tensorflow." + target
    same = path if path.startswith(("keras.", "tensorflow.keras.")) else "tensorflow.keras" + canonical[len("keras") :]
    return Path(path, Status.SAME if target == same == path else Status.MOVED, target, row.note)


def module(path: str) -> str | None:
    """Return the module that holds today what a legacy module held, or None where the table knows no such module.

    >>> module("keras.layers.core")
    'keras.layers'
    >>> module("keras.backend")
    'parallel_compat.legacy.backend'
    """
    parts = split_root(path)
    if parts is None:
        return None
    _written, root, canonical = parts
    homes = Counter(
        row.target.rpartition(".")[0]
        for name, row in _rows().items()
        if name.rpartition(".")[0] == canonical and row.target
    )
    if not homes:
        return None
    home = homes.most_common(1)[0][0]
    return "tensorflow." + home if root != "keras" and home.split(".")[0] == "keras" else home


def names_of(path: str) -> tuple[str, ...]:
    """Return the names that a legacy module (spelled under any root) held."""
    parts = split_root(path)
    prefix = parts[2] + "." if parts else ""
    return tuple(
        name[len(prefix) :]
        for name in _rows()
        if prefix and name.startswith(prefix) and "." not in name[len(prefix) :]
    )


def paths() -> tuple[str, ...]:
    """Return every path of the table, spelled under `keras`."""
    return tuple(_rows())


@cache
def _rows() -> dict[str, _Row]:
    text = (files(__package__) / "paths.tsv").read_text("utf-8")
    rows: dict[str, _Row] = {}
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        path, keras, tensorflow, target, note = line.split("\t")
        rows[path] = _Row(Status(keras), Status(tensorflow), target, note)
    return rows
