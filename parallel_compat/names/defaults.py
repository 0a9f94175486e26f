"""Arguments whose default changed between Keras 2.2.4 and Keras 3: silent, and worth another digit in the results.

Read from the signatures of both; those that give the same numbers (a tuple for an int) are left out.
"""

from __future__ import annotations

from functools import cache

from parallel_compat.names.table import Default

_HARD_SIGMOID = "parallel_compat.legacy.activations.hard_sigmoid"
_GATES = "Keras 2.2.4's gates used `hard_sigmoid` (clip(0.2 x + 0.5, 0, 1)), today's use `sigmoid`."
_RATE = "The default learning rate changed."


def _rate(name: str, old: str) -> Default:
    return Default(f"keras.optimizers.{name}", "learning_rate", old, "0.001", ("learning_rate",), _RATE)


_DEFAULTS: tuple[Default, ...] = (
    _rate("Adadelta", "1.0"),
    _rate("Adagrad", "0.01"),
    _rate("Adamax", "0.002"),
    _rate("Nadam", "0.002"),
    Default(
        "keras.optimizers.Adagrad",
        "initial_accumulator_value",
        "0.0",
        "0.1",
        ("learning_rate",),
        "Keras 2.2.4's accumulators began at zero.",
    ),
    *(
        Default(
            f"keras.layers.{name}",
            "recurrent_activation",
            _HARD_SIGMOID,
            '"sigmoid"',
            ("use_cudnn", "seed"),
            _GATES,
        )
        for name in ("LSTM", "GRU", "LSTMCell", "GRUCell", "ConvLSTM2D")
    ),
    *(
        Default(
            f"keras.layers.{name}",
            "reset_after",
            "False",
            "True",
            ("use_cudnn", "seed"),
            "Keras 2.2.4's GRU applied the reset gate before the matrix product, and had one bias.",
        )
        for name in ("GRU", "GRUCell")
    ),
    *(
        Default(
            f"keras.layers.{name}",
            "pool_size",
            size,
            "(required)",
            (),
            "Keras 3 has no default pool size here.",
        )
        for name, size in (
            ("AveragePooling1D", "2"),
            ("AveragePooling2D", "(2, 2)"),
            ("AveragePooling3D", "(2, 2, 2)"),
        )
    ),
    Default("keras.regularizers.l1_l2", "l1", "0.01", "0.0", (), "The default of `l1_l2()` was 0.01 for both."),
    Default("keras.regularizers.l1_l2", "l2", "0.01", "0.0", (), "The default of `l1_l2()` was 0.01 for both."),
)


# What computes otherwise today and is not changed back: said in the report of a run. More in the migration guide.
OTHER_NUMBERS: dict[str, tuple[str, str]] = {
    "keras.layers.BatchNormalization": (
        "moving statistics",
        "they start at 0 and 1; Keras 2's were right after a batch, so early predictions differ",
    ),
}


@cache
def defaults() -> dict[str, tuple[Default, ...]]:
    """Return the rows by callable."""
    table: dict[str, tuple[Default, ...]] = {}
    for row in _DEFAULTS:
        table[row.of] = (*table.get(row.of, ()), row)
    return table
