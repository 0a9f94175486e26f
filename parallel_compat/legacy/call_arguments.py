"""Arguments of legacy calls, turned into today's: the table's rows, and the few shapes that no row can say.

`translate` is pure: it takes the arguments as the user gave them and returns those that today's callable takes. It
is used by the classes of `parallel_compat.legacy.layers` and others, and by what `run` puts on Keras's own classes.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from parallel_compat.names.arguments import (
    AFTER_KERNEL_SIZE,
    DROPOUTS,
    KERNEL_SIDES,
    OF_SEQUENCES,
    arguments,
)
from parallel_compat.names.defaults import defaults
from parallel_compat.names.eras import Era
from parallel_compat.names.identifiers import identifiers
from parallel_compat.names.positions import named_positions, order
from parallel_compat.names.table import Change

if TYPE_CHECKING:
    from collections.abc import Callable

    # What is noted of each translation: (what was given, what it became).
    Note = Callable[[str, str], None]


def translate(
    of: str,
    given: tuple[Any, ...],
    keywords: dict[str, Any],
    note: Note,
    *,
    era: Era = Era.TODAY,
    in_run: bool = False,
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Turn the arguments of a legacy call into today's.

    >>> notes = []
    >>> translate("keras.layers.Dense", (), {"output_dim": 3, "init": "uniform"}, lambda *note: notes.append(note))
    ((), {'units': 3, 'kernel_initializer': 'uniform'})
    >>> notes
    [('output_dim=', 'units='), ('init=', 'kernel_initializer=')]

    Args:
        of: the callable, as the table spells it.
        given: the positional arguments, without self.
        keywords: the keyword arguments.
        note: called for each argument that changes.
        era: whose defaults arguments get that are not passed.
        in_run: whether legacy names are on, and Keras's classes take what `run` puts on them.

    Returns:
        The positional and the keyword arguments of today.

    Raises:
        TypeError: an argument is given twice, or cannot be honoured.
    """
    if "Pooling" in of:
        given = _lower_padding(given, keywords, note)
    if _is_of_today(of, len(given), tuple(keywords)) and _SIMPLE.issuperset(map(type, (*given, *keywords.values()))):
        return given, keywords
    given = tuple(_plain(value) for value in given)
    keywords = {key: _plain(value) for key, value in keywords.items()}
    name = of.rpartition(".")[2]
    given = _convolution(of, given, keywords, note, era)
    given = _positions(of, given, keywords, note, era)
    given = _sizes(of, given, keywords, note, era)
    _recurrent(of, keywords, note)
    _input_of_sequence(of, keywords, note)
    if of == "keras.layers.Embedding":
        _input_of_embedding(keywords, note)
    if name.startswith("ZeroPadding"):
        given = _padding(given, keywords, note)
    rows = arguments().get(of, {})
    for old in [key for key in keywords if key in rows]:
        row = rows[old]
        if era in row.not_in or (row.by_run and in_run and era.is_tf_keras):
            continue
        if row.is_harmless(keywords[old]) or row.change is Change.DROPPED:
            keywords.pop(old)
            if row.change is not Change.SAME:
                note(f"{old}=", f"left out: {row.note}")
        elif row.change is Change.GONE:
            raise TypeError(f"`{name}({old}=...)`: {row.note}")
        elif row.change is Change.RENAMED and row.new is not None:
            value = keywords.pop(old)
            if row.new in keywords:
                raise TypeError(f"`{name}()` got both `{old}` and `{row.new}`, which is the same argument today.")
            keywords[row.new] = next((new for was, new in row.values if was == value), value)
            note(f"{old}=", f"{row.new}=")
    _constraints(keywords, note)
    if era.is_standalone and of in DROPOUTS:
        given = _rate_outside(given, keywords, note)
    _old_defaults(of, given, keywords, note, era)
    return given, keywords


# Of such a value nothing has to be translated, whatever argument it is; of a name or a list it depends on the argument.
_SIMPLE = frozenset((np.ndarray, int, bool, float, type(None)))


@functools.lru_cache(256)
def _is_of_today(of: str, given: int, keywords: tuple[str, ...]) -> bool:
    """Whether arguments of these numbers and names are today's in every era, if their values are simple.

    Of `Model.fit` and its relatives, which are called in loops; a layer's arguments say more together.
    """
    if not of.startswith("keras.Model.") or defaults().get(of) or arguments().get(of, {}).keys() & set(keywords):
        return False
    return all(given <= order(of, era)[0] or not order(of, era)[1] for era in Era)


def _plain(value: Any) -> Any:
    """Turn numpy's whole numbers into Python's: `Dense(np.max(y) + 1)` is refused today."""
    if isinstance(value, tuple):
        return tuple(_plain(each) for each in value) if type(value) is tuple else value
    is_whole = type(value).__module__ == "numpy" and hasattr(value, "__index__") and getattr(value, "ndim", 1) == 0
    return int(value) if is_whole else value


# Layers of which today's Keras refuses `True` as a size, which was 1: the parameters that they begin with.
_SIZES = {
    "keras.layers.Embedding": ("input_dim", "output_dim"),
    "keras.layers.RepeatVector": ("n",),
    "keras.layers.UpSampling1D": ("size",),
}
# And those of which `tf.keras` cut a size to a whole number (`Dense(units / 2)`), which Keras 2.2.4 refused as well.
_CUT = {
    Era.TF_KERAS_1_15: {"keras.layers.Dense": ("units",)},
    Era.TF_KERAS_2_2: {
        "keras.layers.Dense": ("units",),
        **{
            f"keras.layers.{name}": ("filters",)
            for name in (
                *("Conv1D", "Conv2D", "Conv3D", "Conv2DTranspose", "Conv3DTranspose"),
                *("SeparableConv1D", "SeparableConv2D"),
            )
        },
    },
}


def _sizes(of: str, given: tuple[Any, ...], keywords: dict[str, Any], note: Note, era: Era) -> tuple[Any, ...]:
    """Turn what an era took for a size into the whole number that it was there."""
    names, kind = (_SIZES[of], bool) if of in _SIZES else (_CUT.get(era, {}).get(of, ()), float)
    for position, name in enumerate(names):
        is_given = position < len(given)
        value = given[position] if is_given else keywords.get(name)
        if not isinstance(value, kind):
            continue
        note(f"{name}={value}", f"{name}={int(value)}")
        if is_given:
            given = (*given[:position], int(value), *given[position + 1 :])
        else:
            keywords[name] = int(value)
    return given


def _lower_padding(given: tuple[Any, ...], keywords: dict[str, Any], note: Note) -> tuple[Any, ...]:
    """Spell `padding="SAME"` of a pooling layer in small letters, as `conv_utils.normalize_padding` did."""
    padding = keywords.get("padding", given[2] if len(given) > 2 else None)
    if not isinstance(padding, str) or padding.islower():
        return given
    note(f"padding={padding!r}", f"padding={padding.lower()!r}")
    if "padding" in keywords:
        keywords["padding"] = padding.lower()
        return given
    return (*given[:2], padding.lower(), *given[3:])


def _positions(of: str, given: tuple[Any, ...], keywords: dict[str, Any], note: Note, era: Era) -> tuple[Any, ...]:
    agreeing, names = named_positions(of, given, keywords, era)
    for position, (name, value) in enumerate(zip(names, given[agreeing:], strict=True), agreeing + 1):
        if name in keywords:
            raise TypeError(f"`{of}` got `{name}` twice.")
        keywords[name] = value
        note(f"positional argument {position}", f"{name}=")
    return given[:agreeing]


def _convolution(of: str, given: tuple[Any, ...], keywords: dict[str, Any], note: Note, era: Era) -> tuple[Any, ...]:
    sides = KERNEL_SIDES.get(of)
    name = of.rpartition(".")[2]
    if sides is not None:
        dimensions = len(sides)
        if name.endswith("Transpose"):
            given = _without_output_shape(given, keywords, dimensions, note)
        is_keras_2 = not era.is_tf_keras  # to tf.keras the third argument always was the strides
        if is_keras_2 and len(given) == dimensions + 1 and all(isinstance(side, int) for side in given[1:]):
            # `Conv2D(64, 3, 3)`: Keras 2 took the two sides of Keras 1's kernel, unless what follows it was given too.
            if AFTER_KERNEL_SIZE & keywords.keys() and dimensions == 2:
                raise TypeError(
                    f"Expected `{name}(filters, kernel_size)`. Received two whole numbers after `filters`, and "
                    "arguments of Keras 2: it is not clear whether the second is a side of the kernel or the strides. "
                    "Pass `kernel_size=` and `strides=`."
                )
            note("positional sides of the kernel", f"kernel_size={tuple(given[1:])}")
            given = (given[0], tuple(given[1:]))
        named = [side for side in sides if side in keywords]
        if named:
            positional = [value for value in given[1:] if isinstance(value, int)]
            values = (*positional, *(keywords.pop(side) for side in named))
            if len(values) != dimensions:
                raise TypeError(f"Expected {', '.join(sides)} for `{name}`. Received: {', '.join(named)}")
            given = given[:1]
            keywords["kernel_size"] = values
            note(", ".join(f"{side}=" for side in named), "kernel_size=")
    if name == "SeparableConv2D" and "init" in keywords:
        keywords["depthwise_initializer"] = keywords["pointwise_initializer"] = keywords.pop("init")
        note("init=", "depthwise_initializer=, pointwise_initializer=")
    return given


def _without_output_shape(
    given: tuple[Any, ...], keywords: dict[str, Any], dimensions: int, note: Note
) -> tuple[Any, ...]:
    if "output_shape" in keywords:
        keywords.pop("output_shape")
        note("output_shape=", "left out: the layer computes it")
    if len(given) == dimensions + 2 and isinstance(given[-1], tuple):
        note("positional output_shape", "left out: the layer computes it")
        given = given[:-1]
    return given


def _recurrent(of: str, keywords: dict[str, Any], note: Note) -> None:
    if "forget_bias_init" in keywords and "forget_bias_init" in arguments().get(of, {}):
        if keywords.pop("forget_bias_init") == "one":
            keywords["unit_forget_bias"] = True
        note("forget_bias_init=", "unit_forget_bias=")


def _input_of_sequence(of: str, keywords: dict[str, Any], note: Note) -> None:
    if of in OF_SEQUENCES and "input_dim" in keywords:
        keywords["input_shape"] = (keywords.pop("input_length", None), keywords.pop("input_dim"))
        note("input_dim=, input_length=", "input_shape=")


def _input_of_embedding(keywords: dict[str, Any], note: Note) -> None:
    """A `Sequential` that began with an Embedding was built at once (`keras/layers/embeddings.py`, 2.2.4)."""
    length = keywords.pop("input_length", None)
    lengths = tuple(length) if isinstance(length, (tuple, list)) else (length,)
    if keywords.keys() & {"input_shape", "batch_input_shape"}:
        shape = tuple(keywords["input_shape"] if "input_shape" in keywords else keywords["batch_input_shape"][1:])
        pairs = [] if length is None or len(lengths) != len(shape) else list(zip(lengths, shape, strict=True))
        if length is not None and (not pairs or any(None not in pair and pair[0] != pair[1] for pair in pairs)):
            raise ValueError(
                f"Expected `input_length` to be that of `input_shape`. Received: input_length={length!r}, "
                f"input_shape={shape}"
            )
        return
    keywords["input_shape"] = lengths
    if length is not None:
        note("input_length=", "input_shape=")


def _padding(given: tuple[Any, ...], keywords: dict[str, Any], note: Note) -> tuple[Any, ...]:
    padding = given[0] if given else keywords.get("padding")
    if not isinstance(padding, dict):
        return given
    top, bottom, left, right = (padding.get(f"{side}_pad", 0) for side in ("top", "bottom", "left", "right"))
    keywords["padding"] = ((top, bottom), (left, right))
    note("padding={...}", "padding=((top, bottom), (left, right))")
    return ()


def _rate_outside(given: tuple[Any, ...], keywords: dict[str, Any], note: Note) -> tuple[Any, ...]:
    """Keras 2 dropped nothing where the rate is not between 0 and 1 (`keras/layers/core.py` and `noise.py`, 2.2.4)."""
    rate = given[0] if given else keywords.get("rate")
    if not isinstance(rate, (int, float)) or 0 <= rate < 1:
        return given
    note(f"rate={rate}", "rate=0, as Keras 2 took it")
    if given:
        return (0.0, *given[1:])
    keywords["rate"] = 0.0
    return given


def _constraints(keywords: dict[str, Any], note: Note) -> None:
    for name in [name for name in keywords if name.endswith("constraint") and isinstance(keywords[name], str)]:
        row = identifiers()["constraint"].get(keywords[name])
        if row is not None:
            keywords[name] = row.new
            note(f"{name}={row.old!r}", f"{name}={row.new!r}")


def _old_defaults(of: str, given: tuple[Any, ...], keywords: dict[str, Any], note: Note, era: Era) -> None:
    for row in defaults().get(of, ()):
        old = row.was(era)
        if old is None or row.argument in keywords or (row.position is not None and len(given) > row.position):
            continue
        if set(row.modern) & keywords.keys():
            continue
        keywords[row.argument] = _value_of(old)
        note(f"default of {row.argument}", f"{row.argument}={old}")


@functools.lru_cache(256)
def _value_of(text: str) -> Any:
    """Return the value of a default as the table spells it: a literal, none of which can be changed, or a name."""
    import ast

    from parallel_compat.names import lookup

    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return lookup.fetch(text)
