"""Arguments of legacy calls, turned into today's: the table's rows, and the few shapes that no row can say.

`translate` is pure: it takes the arguments as the user gave them and returns those that today's callable takes.
"""

from __future__ import annotations

from typing import Any

from parallel_compat.names.arguments import AFTER_KERNEL_SIZE, KERNEL_SIDES, OF_SEQUENCES, arguments
from parallel_compat.names.eras import Era
from parallel_compat.names.identifiers import identifiers
from parallel_compat.names.positions import named_positions
from parallel_compat.names.table import Change


def translate(of: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Turn the arguments of a legacy call into today's.

    >>> translate("keras.layers.Dense", (), {"output_dim": 3, "init": "uniform"})
    ((), {'units': 3, 'kernel_initializer': 'uniform'})

    Args:
        of: the callable, as the table spells it.

    Returns:
        The positional and the keyword arguments of today.

    Raises:
        TypeError: an argument is args twice, or cannot be honoured.
    """
    if "Pooling" in of:
        args = _lower_padding(args, kwargs)
    args = tuple(_plain(value) for value in args)
    kwargs = {key: _plain(value) for key, value in kwargs.items()}
    name = of.rpartition(".")[2]
    args = _convolution(of, args, kwargs)
    args = _positions(of, args, kwargs)
    args = _sizes(of, args, kwargs)
    is_recurrent = "forget_bias_init" in arguments().get(of, {})
    if is_recurrent and "forget_bias_init" in kwargs and kwargs.pop("forget_bias_init") == "one":
        kwargs["unit_forget_bias"] = True
    if of in OF_SEQUENCES and "input_dim" in kwargs:
        kwargs["input_shape"] = (kwargs.pop("input_length", None), kwargs.pop("input_dim"))
    if of == "keras.layers.Embedding":
        _input_of_embedding(kwargs)
    if name.startswith("ZeroPadding"):
        args = _padding(args, kwargs)
    rows = arguments().get(of, {})
    for old in [key for key in kwargs if key in rows]:
        row = rows[old]
        if Era.TODAY in row.not_in:
            continue
        if row.is_harmless(kwargs[old]) or row.change is Change.DROPPED:
            kwargs.pop(old)
        elif row.change is Change.GONE:
            raise TypeError(f"`{name}({old}=...)`: {row.note}")
        elif row.change is Change.RENAMED and row.new is not None:
            value = kwargs.pop(old)
            if row.new in kwargs:
                raise TypeError(f"`{name}()` got both `{old}` and `{row.new}`, which is the same argument today.")
            kwargs[row.new] = next((new for was, new in row.values if was == value), value)
    for key in [key for key in kwargs if key.endswith("constraint") and isinstance(kwargs[key], str)]:
        row_of_name = identifiers()["constraint"].get(kwargs[key])
        if row_of_name is not None:
            kwargs[key] = row_of_name.new
    return args, kwargs


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


def _sizes(of: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """Turn True, where Keras 2 took it for a size, into 1."""
    for position, name in enumerate(_SIZES.get(of, ())):
        if position < len(args) and isinstance(args[position], bool):
            args = (*args[:position], int(args[position]), *args[position + 1 :])
        elif isinstance(kwargs.get(name), bool):
            kwargs[name] = int(kwargs[name])
    return args


def _lower_padding(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """Spell `padding="SAME"` of a pooling layer in small letters, as `conv_utils.normalize_padding` did."""
    padding = kwargs.get("padding", args[2] if len(args) > 2 else None)
    if not isinstance(padding, str) or padding.islower():
        return args
    if "padding" in kwargs:
        kwargs["padding"] = padding.lower()
        return args
    return (*args[:2], padding.lower(), *args[3:])


def _positions(of: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    agreeing, names = named_positions(of, args, kwargs, Era.TODAY)
    for name, value in zip(names, args[agreeing:], strict=True):
        if name in kwargs:
            raise TypeError(f"`{of}` got `{name}` twice.")
        kwargs[name] = value
    return args[:agreeing]


def _convolution(of: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    sides = KERNEL_SIDES.get(of)
    name = of.rpartition(".")[2]
    if sides is not None:
        dimensions = len(sides)
        if name.endswith("Transpose"):
            args = _without_output_shape(args, kwargs, dimensions)
        if len(args) == dimensions + 1 and all(isinstance(side, int) for side in args[1:]):
            # `Conv2D(64, 3, 3)`: Keras 2 took the two sides of Keras 1's kernel, unless what follows it was given too.
            if AFTER_KERNEL_SIZE & kwargs.keys() and dimensions == 2:
                raise TypeError(
                    f"Expected `{name}(filters, kernel_size)`. Received two whole numbers after `filters`, and "
                    "arguments of Keras 2: it is not clear whether the second is a side of the kernel or the strides. "
                    "Pass `kernel_size=` and `strides=`."
                )
            args = (args[0], tuple(args[1:]))
        named = [side for side in sides if side in kwargs]
        if named:
            positional = [value for value in args[1:] if isinstance(value, int)]
            values = (*positional, *(kwargs.pop(side) for side in named))
            if len(values) != dimensions:
                raise TypeError(f"Expected {', '.join(sides)} for `{name}`. Received: {', '.join(named)}")
            args = args[:1]
            kwargs["kernel_size"] = values
    if name == "SeparableConv2D" and "init" in kwargs:
        kwargs["depthwise_initializer"] = kwargs["pointwise_initializer"] = kwargs.pop("init")
    return args


def _without_output_shape(args: tuple[Any, ...], kwargs: dict[str, Any], dimensions: int) -> tuple[Any, ...]:
    if "output_shape" in kwargs:
        kwargs.pop("output_shape")
    if len(args) == dimensions + 2 and isinstance(args[-1], tuple):
        args = args[:-1]
    return args


def _input_of_embedding(kwargs: dict[str, Any]) -> None:
    """A `Sequential` that began with an Embedding was built at once (`keras/layers/embeddings.py`, 2.2.4)."""
    length = kwargs.pop("input_length", None)
    lengths = tuple(length) if isinstance(length, (tuple, list)) else (length,)
    if kwargs.keys() & {"input_shape", "batch_input_shape"}:
        shape = tuple(kwargs["input_shape"] if "input_shape" in kwargs else kwargs["batch_input_shape"][1:])
        pairs = [] if length is None or len(lengths) != len(shape) else list(zip(lengths, shape, strict=True))
        if length is not None and (not pairs or any(None not in pair and pair[0] != pair[1] for pair in pairs)):
            raise ValueError(
                f"Expected `input_length` to be that of `input_shape`. Received: input_length={length!r}, "
                f"input_shape={shape}"
            )
        return
    kwargs["input_shape"] = lengths


def _padding(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    padding = args[0] if args else kwargs.get("padding")
    if not isinstance(padding, dict):
        return args
    top, bottom, left, right = (padding.get(f"{side}_pad", 0) for side in ("top", "bottom", "left", "right"))
    kwargs["padding"] = ((top, bottom), (left, right))
    return ()
