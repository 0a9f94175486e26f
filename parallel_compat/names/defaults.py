"""Arguments whose default changed between an era and Keras 3: silent, and worth another digit in the results.

Read from the signatures of all; those that give the same numbers (a tuple for an int) are omitted.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from parallel_compat.names.table import Default

if TYPE_CHECKING:
    from parallel_compat.names.eras import Era

_HARD_SIGMOID = "parallel_compat.legacy.activations.hard_sigmoid"
_GATES = "Its gates used `hard_sigmoid` (clip(0.2 x + 0.5, 0, 1)), today's use `sigmoid`."
_RESET = "The GRU applied the reset gate before the matrix product, and had one bias."
_NO_SIZE = "Keras 3 has no default pool size here."
_LASSO = "The default of `l1_l2()` was 0.01 for both."
_FILL = "Pixels outside the image were black."
_NEWER = ("use_cudnn", "seed")


def _rate(name: str, old: str) -> Default:
    note = "The default learning rate changed."
    return Default(f"keras.optimizers.{name}", "learning_rate", old, old, None, None, "0.001", 0, ("lr",), (), note)


def _gates(name: str, position: int, in_2: str | None = None) -> Default:
    old, today, names = _HARD_SIGMOID, '"sigmoid"', ("inner_activation",)
    of = f"keras.layers.{name}"
    return Default(of, "recurrent_activation", old, in_2, old, in_2, today, position, names, _NEWER, _GATES)


def _everywhere(of: str, argument: str, old: str, today: str, position: int, note: str, *old_names: str) -> Default:
    return Default(of, argument, old, old, old, old, today, position, old_names, (), note)


_DEFAULTS: tuple[Default, ...] = (
    _rate("Adadelta", "1.0"),
    _rate("Adagrad", "0.01"),
    _rate("Adamax", "0.002"),
    _rate("Nadam", "0.002"),
    Default(
        "keras.optimizers.Adagrad",
        "initial_accumulator_value",
        "0.0",
        "0.0",
        None,
        None,
        "0.1",
        note="Keras 2.2.4's accumulators began at zero.",
    ),
    *(_gates(name, 2) for name in ("LSTM", "GRU", "LSTMCell", "GRUCell")),
    _gates("ConvLSTM2D", 7, _HARD_SIGMOID),
    *(
        Default(
            f"keras.layers.{name}", "reset_after", "False", "False", "False", None, "True", position, (), _NEWER, _RESET
        )
        for name, position in (("GRU", 22), ("GRUCell", 16))
    ),
    _everywhere("keras.layers.AveragePooling1D", "pool_size", "2", "(required)", 0, _NO_SIZE, "pool_length"),
    _everywhere("keras.layers.AveragePooling2D", "pool_size", "(2, 2)", "(required)", 0, _NO_SIZE),
    _everywhere("keras.layers.AveragePooling3D", "pool_size", "(2, 2, 2)", "(required)", 0, _NO_SIZE),
    Default(
        "keras.metrics.KLDivergence",
        "name",
        '"kullback_leibler_divergence"',
        '"kullback_leibler_divergence"',
        '"kullback_leibler_divergence"',
        '"kullback_leibler_divergence"',
        '"kl_divergence"',
        0,
        note="It is logged under this name.",
    ),
    Default(
        "keras.metrics.MeanIoU",
        "dtype",
        None,
        None,
        '"float32"',
        '"float32"',
        "None",
        2,
        note="With an int dtype all weights below 1 become 0.",
    ),
    Default("keras.layers.RandomRotation", "fill_mode", None, None, None, '"constant"', '"reflect"', 1, note=_FILL),
    Default("keras.layers.RandomTranslation", "fill_mode", None, None, None, '"constant"', '"reflect"', 2, note=_FILL),
    Default(
        "keras.layers.RandomContrast",
        "value_range",
        None,
        None,
        None,
        "(-3e38, 3e38)",
        "(0, 255)",
        note="Values were not cut off.",
    ),
    _everywhere("keras.regularizers.l1_l2", "l1", "0.01", "0.0", 0, _LASSO),
    _everywhere("keras.regularizers.l1_l2", "l2", "0.01", "0.0", 1, _LASSO),
)


@cache
def defaults() -> dict[str, tuple[Default, ...]]:
    """Return the rows by callable."""
    table: dict[str, tuple[Default, ...]] = {}
    for row in _DEFAULTS:
        table[row.of] = (*table.get(row.of, ()), row)
    return table


def of_era(of: str, era: Era) -> dict[str, str]:
    """Return the arguments of a callable whose default was another in an era: name -> Python source.

    >>> from parallel_compat.names.eras import Era
    >>> of_era("keras.optimizers.Adagrad", Era.KERAS_2_2_4)
    {'learning_rate': '0.01', 'initial_accumulator_value': '0.0'}
    >>> of_era("keras.optimizers.Adagrad", Era.TF_KERAS_2_2)
    {}
    """
    values = {row.argument: row.was(era) for row in defaults().get(of, ())}
    return {argument: value for argument, value in values.items() if value is not None}


@cache
def optimizers_by_name() -> dict[str, str]:
    """Return the classes that `compile(optimizer="adagrad")` meant and whose defaults changed, by that name."""
    names = [of.rpartition(".")[2] for of in defaults() if of.startswith("keras.optimizers.")]
    return {name.lower(): name for name in names}
