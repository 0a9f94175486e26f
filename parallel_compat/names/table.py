"""What a legacy name is today: one table, pure data, two readers (`run` answers from it, `migrate` writes it).

Kinds of rows, each in a table of its own (`tsv.py` reads them):

- `Path` (`paths.tsv`, `tensorflow_1.tsv`): every importable name of Keras 2.2.4, the other names that old code
  imports, and TensorFlow 1's own.
- `Argument` (`arguments.tsv`): an argument that is spelled, placed or understood differently today.
- `Member` (`members.tsv`): a method, attribute or callback field of an object.
- `Default` (`defaults.tsv`): an argument whose value changed for those who do not pass it.
- `Identifier` (`identifiers.tsv`): a string that names a loss, an initializer, a field of the logs.

Nothing here imports Keras or TensorFlow. `tests/legacy/` walks every row: each target imports and accepts what
the row promises.
"""

from __future__ import annotations

import enum
from collections import Counter
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from parallel_compat.names import tsv

# The spellings under which old code reaches Keras, longest first.
ROOTS: tuple[str, ...] = (
    "tensorflow.contrib.keras.python.keras",
    "tensorflow.contrib.keras.api.keras",
    "tensorflow.python.keras.api.keras",
    "tensorflow.compat.v1.keras",
    "tensorflow.compat.v2.keras",
    "tensorflow.contrib.keras",
    "tensorflow.python.keras",
    "tensorflow.keras",
    "keras",
)


class Status(str, enum.Enum):
    """What became of a path."""

    SAME = "same"  # the path imports the same thing today
    MOVED = "moved"  # the thing is elsewhere in Keras or TensorFlow
    PROVIDED = "provided"  # this package has it
    GONE = "gone"  # it cannot mean what it meant; the note says what to do instead


class Path(NamedTuple):
    """What one import path is today."""

    path: str  # the path as it was passed
    status: Status  # what became of it
    target: str | None  # the dotted path to use today (`path` itself for `SAME`, None for `GONE`)
    note: str = ""  # for `GONE`, one sentence on why and what to do instead


class Change(str, enum.Enum):
    """What became of an argument or a member."""

    RENAMED = "renamed"  # the same thing under `new`
    SAME = "same"  # the same thing; only its harmless values go
    DROPPED = "dropped"  # it had no effect on results, or has none any more: leave it out
    PROVIDED = "provided"  # not expressible today; `new` (a dotted path) of this package takes it
    GONE = "gone"  # it cannot be honoured; the note says what to do instead


class Argument(NamedTuple):
    """What one argument of a legacy call is today."""

    # The call: a path under `keras.` as today's Keras spells it (`keras.layers.Dense`), or a method
    # (`keras.Model.fit`).
    of: str
    old: str  # the argument's old name
    change: Change  # what became of it
    # The argument's name today (`RENAMED`), or the dotted path of the callable of this package that takes the old
    # argument (`PROVIDED`).
    new: str | None = None
    values: tuple[tuple[Any, Any], ...] = ()  # old value -> new value, where these changed as well
    note: str = ""  # one sentence, for the report
    # Values that ask for what happens without the argument: it is removed, whatever became of it.
    harmless: tuple[Any, ...] = ()
    not_in: tuple[str, ...] = ()  # the eras for which the row does not hold

    def is_harmless(self, value: Any) -> bool:
        """Return whether a value asks for what happens without the argument.

        >>> row = Argument("keras.Model.compile", "target_tensors", Change.GONE, harmless=(None,))
        >>> row.is_harmless(None), row.is_harmless([])
        (True, False)
        """
        if type(value) not in (type(None), bool, int, float, str, dict, list, tuple):
            return False
        return any(value == each and isinstance(value, str) == isinstance(each, str) for each in self.harmless)


class Member(NamedTuple):
    """What one method, attribute or callback field is today."""

    # The kind of object: `keras.Model`, `keras.optimizers.Optimizer`, `keras.callbacks.Callback`, `keras.layers.Layer`,
    # `keras.KerasTensor`.
    of: str
    old: str  # the member's old name
    change: Change  # what became of it
    # The member's name today (`RENAMED`), or the dotted path of a function that takes the object as its first argument
    # (`PROVIDED`).
    new: str | None = None
    method: bool = False  # whether it is called
    note: str = ""  # one sentence, for the report
    known_by: str = ""  # how the rule on gone members knows it, see `members.tsv`


class Default(NamedTuple):
    """An argument whose value was another in some era when it was not passed."""

    of: str  # the call, as in `Argument`
    argument: str  # its name today
    # The default by era, as Python source (a dotted path of this package where no literal says it), if another.
    before: dict[str, str]
    today: str  # the default today, as Python source
    position: int | None = None  # where old code may have passed it by position
    old_names: tuple[str, ...] = ()  # what else it was called
    # Names of arguments that only newer code passes; where one is passed, the code knew the new default.
    modern: tuple[str, ...] = ()
    note: str = ""  # one sentence, for the report


class Identifier(NamedTuple):
    """A string that named a thing to old Keras (`init="normal"`, `loss="kld"`, `monitor="val_acc"`)."""

    kind: str  # what it names: `initializer`, `loss`, `metric`, `constraint`, `log`
    old: str  # the old string
    new: str  # the string today


class _Row(NamedTuple):
    keras: Status
    keras_target: str
    tensorflow: Status
    tensorflow_target: str
    note: str


@cache
def canonical(path: str) -> str:
    """Spell a path as the table does: under `keras` where it is under any spelling of Keras.

    >>> canonical("tf.python.keras.layers.Dense"), canonical("tf.log")
    ('keras.layers.Dense', 'tensorflow.log')
    """
    if path == "tf" or path.startswith("tf."):
        path = "tensorflow" + path[2:]
    written = root_of(path)
    return path if written is None else "keras" + path[len(written) :]


@cache
def root_of(path: str) -> str | None:
    """Return the spelling of Keras that a path begins with, or None where it is not under Keras.

    >>> root_of("tensorflow.python.keras.layers")
    'tensorflow.python.keras'
    """
    if path.startswith("tf."):
        path = "tensorflow" + path[2:]
    return next((root for root in ROOTS if path == root or path.startswith(root + ".")), None)


@cache
def lookup(path: str) -> Path | None:
    """Say what an import path is today.

    >>> lookup("keras.utils.multi_gpu_model").target
    'parallel_compat.multi_gpu_model'
    >>> lookup("tensorflow.python.keras.layers.core.Dense").target
    'tensorflow.keras.layers.Dense'
    >>> lookup("tf.log").target
    'tensorflow.math.log'

    Args:
        path: a dotted path: of Keras under any spelling in `ROOTS`, of TensorFlow 1, or of a third party that the
            table knows.

    Returns:
        The answer, or None where the table does not know the path.
    """
    row = _rows().get(canonical(path))
    if row is None and (note := _gone_from_home().get(canonical(path))):
        return Path(path, Status.GONE, None, note)
    if row is None:
        return _gone_with_its_parent(path)
    root = root_of(path)
    status, target = (
        (row.keras, row.keras_target) if root in (None, "keras") else (row.tensorflow, row.tensorflow_target)
    )
    if status is Status.SAME and root not in ("keras", "tensorflow.keras") and target != canonical(path):
        status = Status.MOVED  # private spellings of Keras still import, and give another Keras
    return Path(path, status, target or None, row.note)


def _gone_with_its_parent(path: str) -> Path | None:
    """Names below a row that is gone are gone with it (`tf.contrib.rnn`)."""
    parent = path
    while "." in parent:
        parent = parent.rpartition(".")[0]
        if root_of(path) is not None and root_of(parent) is None:
            return None  # `tf.contrib.keras` is a spelling of Keras, not a part of `tf.contrib`
        row = _rows().get(canonical(parent))
        if row is not None:
            return Path(path, Status.GONE, None, row.note) if row.tensorflow is Status.GONE else None
    return None


@cache
def _gone_from_home() -> dict[str, str]:
    """What is gone, under the module that has the rest today: `parallel_compat.legacy.backend.placeholder`."""
    notes = {}
    for path, row in _rows().items():
        if row.keras is Status.GONE:
            parent, _, name = path.rpartition(".")
            for home in _module_homes().get(parent, ()):
                notes[f"{canonical(home)}.{name}"] = row.note
    return {path: note for path, note in notes.items() if path not in _rows() and path not in _module_names()}


def module(path: str) -> str | None:
    """Return the module that holds today most of what a legacy module held, or None if the table knows none.

    >>> module("keras.layers.core"), module("keras.backend")
    ('keras.layers', 'parallel_compat.legacy.backend')
    """
    name = canonical(path)
    row = _rows().get(name)
    if row is not None:
        entry = lookup(path)
        return entry.target if entry else None
    homes = _module_homes().get(name)
    if not homes:
        return None
    return homes[0] if root_of(path) in (None, "keras") else homes[1]


def names_of(path: str) -> tuple[str, ...]:
    """Return the names that a legacy module (spelled under any root) held, or () if the table knows no such module."""
    return _module_names().get(canonical(path), ())


def submodules_of(path: str) -> frozenset[str]:
    """Return the names of the modules below a legacy package: `layers` and others below `keras`."""
    package = canonical(path)
    return frozenset(module.rpartition(".")[2] for module in _module_names() if module.rpartition(".")[0] == package)


def paths() -> tuple[str, ...]:
    """Return every path of the table, spelled under `keras` or `tensorflow`."""
    return tuple(_rows())


@cache
def modules_today(root: str = "keras") -> frozenset[str]:
    """Return the modules that old code imports and that can still be imported, spelled under `keras`.

    Args:
        root: `keras` or `tensorflow.keras`.
    """
    alive = {"keras"}
    for path, row in _rows().items():
        if path.startswith("tensorflow."):
            continue
        if (row.keras if root == "keras" else row.tensorflow) is Status.SAME:
            parent = path.rpartition(".")[0]
            while parent:
                alive.add(parent)
                parent = parent.rpartition(".")[0]
    return frozenset(alive)


def counts(root: str = "keras") -> Counter[Status]:
    """Count the importable names of Keras 2.2.4 by what became of them, for code that spells Keras `root`."""
    entries = (lookup(root + path[len("keras") :]) for path in keras_2_2_4())
    return Counter(entry.status for entry in entries if entry is not None)


@cache
def keras_2_2_4() -> tuple[str, ...]:
    """Return the importable names of Keras 2.2.4: the rows before the marker line of `paths.tsv`."""
    text = (files(__package__) / "paths.tsv").read_text("utf-8")
    listed = text.partition("# In addition to Keras 2.2.4")[0]
    return tuple(line.partition("\t")[0] for line in listed.splitlines() if line and not line.startswith("#"))


@cache
def _rows() -> dict[str, _Row]:
    # Thousands of rows, made when a script starts: a dict and a named tuple take half the time of the enum's call
    # and a frozen dataclass.
    status_of = {status.value: status for status in Status}
    rows: dict[str, _Row] = {}
    for path, keras, keras_target, tensorflow, tensorflow_target, note in tsv.rows("paths.tsv", 6):
        rows[path] = _Row(status_of[keras], keras_target, status_of[tensorflow], tensorflow_target, note)
    for path, status, target, note in tsv.rows("tensorflow_1.tsv", 4):
        rows[path] = _Row(status_of[status], target, status_of[status], target, note)
    return rows


@cache
def tensorflow_1_signatures() -> dict[str, tuple[int, tuple[str, ...]]]:
    """Return TensorFlow 1 functions whose arguments changed: how many positions agree, which names are gone."""
    rows = tsv.rows("tensorflow_1_signatures.tsv", 3)
    return {path: (int(agree), tuple(gone.split(",")) if gone else ()) for path, agree, gone in rows}


def tensorflow_1_changed() -> dict[str, str]:
    """Return functions of TensorFlow 1 that return something else today, with what returns what they did."""
    return dict(tsv.rows("tensorflow_1_changed.tsv", 2))


@cache
def _module_names() -> dict[str, tuple[str, ...]]:
    names: dict[str, list[str]] = {}
    for path in _rows():
        parent, _, name = path.rpartition(".")
        names.setdefault(parent, []).append(name)
    return {parent: tuple(children) for parent, children in names.items()}


@cache
def _module_homes() -> dict[str, tuple[str, str]]:
    """For each legacy module: where most of its names live today, for `keras` and for `tensorflow.keras`."""
    homes: dict[str, tuple[str, str]] = {}
    for parent, names in _module_names().items():
        rows = [_rows()[f"{parent}.{name}"] for name in names if not name.startswith("_")]
        both = []
        for targets in ([row.keras_target for row in rows], [row.tensorflow_target for row in rows]):
            counted = Counter(target.rpartition(".")[0] for target in targets if target)
            both.append(counted.most_common(1)[0][0] if counted else "")
        if all(both):
            homes[parent] = (both[0], both[1])
    return homes
