"""Arguments of legacy calls, turned into today's: the table's rows, and the few shapes that no row can say.

`translate` is pure: it takes the arguments as the user gave them and returns those that today's callable takes. It
is used by the classes of `parallel_compat.legacy.layers` and others, and by what `run` puts on Keras's own classes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from parallel_compat.names.arguments import AGREEING, POSITIONS, arguments
from parallel_compat.names.defaults import defaults
from parallel_compat.names.eras import Era
from parallel_compat.names.identifiers import identifiers
from parallel_compat.names.table import Change

if TYPE_CHECKING:
    from collections.abc import Callable

    # What is told of each translation: (what was given, what it became).
    Note = Callable[[str, str], None]

_CONVOLUTIONS = {
    "Conv1D": 1,
    "Conv2D": 2,
    "Conv3D": 3,
    "Conv2DTranspose": 2,
    "Conv3DTranspose": 3,
    "SeparableConv1D": 1,
    "SeparableConv2D": 2,
    "ConvLSTM2D": 2,
}
_SIDES = {1: ("filter_length",), 2: ("nb_row", "nb_col"), 3: ("kernel_dim1", "kernel_dim2", "kernel_dim3")}
_DROPOUTS = ("Dropout", "SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D", "GaussianDropout", "AlphaDropout")
_RECURRENT = ("SimpleRNN", "GRU", "LSTM", "ConvLSTM2D")
_OF_SEQUENCES = (*_RECURRENT, "Conv1D")


def translate(
    of: str, given: tuple[Any, ...], keywords: dict[str, Any], note: Note, *, era: Era = Era.TODAY
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

    Returns:
        The positional and the keyword arguments of today.

    Raises:
        TypeError: an argument is given twice, or cannot be honoured.
    """
    given = tuple(_plain(value) for value in given)
    keywords = {key: _plain(value) for key, value in keywords.items()}
    name = of.rpartition(".")[2]
    given = _positions(of, given, keywords, note)
    if name in _CONVOLUTIONS and of.startswith("keras.layers."):
        given = _convolution(name, given, keywords, note)
    if name in _RECURRENT:
        _recurrent(keywords, note)
    if name in _OF_SEQUENCES:
        _input_of_sequence(keywords, note)
    if name == "Embedding":
        _input_of_embedding(keywords, note)
    if name.startswith("ZeroPadding"):
        given = _padding(given, keywords, note)
    if name == "BatchNormalization":
        _batch_normalization(keywords)
    rows = arguments().get(of, {})
    for old in [key for key in keywords if key in rows]:
        row = rows[old]
        if row.change is Change.GONE:
            raise TypeError(f"`{name}({old}=...)`: {row.note}")
        if row.change is Change.RENAMED and row.new is not None:
            value = keywords.pop(old)
            if row.new in keywords:
                raise TypeError(f"`{name}()` got both `{old}` and `{row.new}`, which is the same argument today.")
            keywords[row.new] = next((new for was, new in row.values if was == value), value)
            note(f"{old}=", f"{row.new}=")
        elif row.change is Change.DROPPED:
            keywords.pop(old)
            note(f"{old}=", f"left out: {row.note}")
    _constraints(keywords, note)
    if era is Era.KERAS_2_2_4:
        if name in _DROPOUTS:
            given = _rate_outside(given, keywords, note)
        _old_defaults(of, given, keywords, note)
    return given, keywords


def _plain(value: Any) -> Any:
    """Turn numpy's whole numbers into Python's: `Dense(np.max(y) + 1)` is refused today."""
    if isinstance(value, tuple):
        return tuple(_plain(each) for each in value) if type(value) is tuple else value
    is_whole = type(value).__module__ == "numpy" and hasattr(value, "__index__") and getattr(value, "ndim", 1) == 0
    return int(value) if is_whole else value


def _positions(of: str, given: tuple[Any, ...], keywords: dict[str, Any], note: Note) -> tuple[Any, ...]:
    names, agreeing = POSITIONS.get(of, ()), AGREEING.get(of, 0)
    if len(given) <= agreeing or not names or _is_todays_order(of, given):
        return given
    for position, value in enumerate(given[agreeing:], agreeing):
        if position >= len(names):
            raise TypeError(f"Expected at most {len(names)} positional arguments for `{of}`. Received: {len(given)}")
        if names[position] in keywords:
            raise TypeError(f"`{of}` got `{names[position]}` twice.")
        keywords[names[position]] = value
        note(f"positional argument {position + 1}", f"{names[position]}=")
    return given[:agreeing]


def _is_todays_order(of: str, given: tuple[Any, ...]) -> bool:
    """Say whether positional arguments can only be meant in today's order."""
    if of == "keras.callbacks.ModelCheckpoint":
        return not isinstance(given[6], int) or len(given) > 7
    if of == "keras.layers.Layer.add_weight":
        return given[0] is not None and not isinstance(given[0], str)
    if of == "keras.optimizers.SGD":
        return isinstance(given[2], bool)
    return False


def _convolution(name: str, given: tuple[Any, ...], keywords: dict[str, Any], note: Note) -> tuple[Any, ...]:
    dimensions = _CONVOLUTIONS[name]
    sides = _SIDES[dimensions]
    if name.endswith("Transpose"):
        given = _without_output_shape(given, keywords, dimensions, note)
    if dimensions > 1 and len(given) == dimensions + 1 and all(isinstance(side, int) for side in given[1:]):
        # `Conv2D(64, 3, 3)`: Keras 2 took the two sides of Keras 1's kernel, unless what follows it was given as well.
        if {"padding", "strides", "data_format"} & keywords.keys() and dimensions == 2:
            raise TypeError(
                f"Expected `{name}(filters, kernel_size)`. Received two whole numbers after `filters`, and arguments "
                "of Keras 2: it is not clear whether the second is a side of the kernel or the strides. Pass "
                "`kernel_size=` and `strides=`."
            )
        note("positional sides of the kernel", f"kernel_size={tuple(given[1:])}")
        given = (given[0], tuple(given[1:]))
    named = [side for side in sides if side in keywords]
    if named and dimensions > 1:
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


def _recurrent(keywords: dict[str, Any], note: Note) -> None:
    if "forget_bias_init" in keywords:
        if keywords.pop("forget_bias_init") == "one":
            keywords["unit_forget_bias"] = True
        note("forget_bias_init=", "unit_forget_bias=")


def _input_of_sequence(keywords: dict[str, Any], note: Note) -> None:
    if "input_dim" in keywords:
        keywords["input_shape"] = (keywords.pop("input_length", None), keywords.pop("input_dim"))
        note("input_dim=, input_length=", "input_shape=")


def _input_of_embedding(keywords: dict[str, Any], note: Note) -> None:
    """A `Sequential` that began with an Embedding was built at once (`keras/layers/embeddings.py`, 2.2.4)."""
    length = keywords.pop("input_length", None)
    if keywords.keys() & {"input_shape", "batch_input_shape"}:
        return
    keywords["input_shape"] = tuple(length) if isinstance(length, (tuple, list)) else (length,)
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


def _batch_normalization(keywords: dict[str, Any]) -> None:
    mode = keywords.pop("mode", 0)
    if mode != 0:
        raise TypeError(
            f"Expected `mode=0`, the only one that Keras 2 kept. Received: BatchNormalization(mode={mode!r})"
        )


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


def _old_defaults(of: str, given: tuple[Any, ...], keywords: dict[str, Any], note: Note) -> None:
    import ast

    from parallel_compat.names import lookup

    for row in defaults().get(of, ()):
        position = _POSITIONS_OF_DEFAULTS.get((of, row.argument), 99)
        if row.argument in keywords or len(given) > position:
            continue
        if set(row.modern) & (keywords.keys() - {row.argument}) and row.argument != "initial_accumulator_value":
            continue
        try:
            value = ast.literal_eval(row.old)
        except (ValueError, SyntaxError):
            value = lookup.fetch(row.old)
        keywords[row.argument] = value
        note(f"default of {row.argument}", f"{row.argument}={row.old}")


# Where an argument with a changed default can be given by position; the others come after what anybody counts.
_POSITIONS_OF_DEFAULTS: dict[tuple[str, str], int] = {
    **{(f"keras.optimizers.{name}", "learning_rate"): 0 for name in ("Adadelta", "Adagrad", "Adamax", "Nadam")},
    ("keras.regularizers.l1_l2", "l1"): 0,
    ("keras.regularizers.l1_l2", "l2"): 1,
    ("keras.layers.AveragePooling1D", "pool_size"): 0,
    ("keras.layers.AveragePooling2D", "pool_size"): 0,
    ("keras.layers.AveragePooling3D", "pool_size"): 0,
    ("keras.layers.LSTM", "recurrent_activation"): 2,
    ("keras.layers.GRU", "recurrent_activation"): 2,
    ("keras.layers.LSTMCell", "recurrent_activation"): 2,
    ("keras.layers.GRUCell", "recurrent_activation"): 2,
}
