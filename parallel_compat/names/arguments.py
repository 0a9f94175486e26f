"""Arguments of legacy calls: the facts of `arguments.tsv`, and sets of arguments that belong together."""

from __future__ import annotations

import ast
from functools import cache

from parallel_compat.names import tsv
from parallel_compat.names.table import Argument, Change

_DIM_ORDERING = (("tf", "channels_last"), ("th", "channels_first"), ("default", None))

NO_CLIPPING = (0.0, None)

# Keras 1 gave the sides of a kernel one by one: their names, by layer.
KERNEL_SIDES: dict[str, tuple[str, ...]] = {
    **{
        f"keras.layers.{name}": ("nb_row", "nb_col")
        for name in ("Conv2D", "Conv2DTranspose", "SeparableConv2D", "ConvLSTM2D")
    },
    **{f"keras.layers.{name}": ("kernel_dim1", "kernel_dim2", "kernel_dim3") for name in ("Conv3D", "Conv3DTranspose")},
}
# With these Keras 2 did not take two whole numbers for the sides of a kernel.
AFTER_KERNEL_SIZE = frozenset(("padding", "strides", "data_format", "kernel_size"))
# Names that only Keras 1 had: what stands in the same call is of Keras 1 as well.
KERAS_1_ALONE = frozenset(
    ("border_mode", "subsample", "dim_ordering", "init", "nb_filter", "W_regularizer", "b_regularizer", "bias")
)
# Layers that took `input_dim` and `input_length` for the two parts of the shape of their input.
OF_SEQUENCES = frozenset(f"keras.layers.{name}" for name in ("LSTM", "GRU", "SimpleRNN", "Conv1D"))


@cache
def arguments() -> dict[str, dict[str, Argument]]:
    """Return the rows by callable and old name.

    >>> arguments()["keras.layers.Dense"]["output_dim"].new
    'units'
    """
    table: dict[str, dict[str, Argument]] = {}
    for callables, names, change, taken_by, harmless, not_in, note in tsv.rows("arguments.tsv", 7):
        values = ast.literal_eval(f"({harmless},)") if harmless else ()
        paths = tsv.each_name(callables)
        # The backend of this package takes the same arguments.
        of_package = [f"parallel_compat.legacy.{of[6:]}" for of in paths if of.startswith("keras.backend.")]
        for of in (*paths, *of_package):
            for pair in names.split():
                old, _, new = pair.partition(">")
                table.setdefault(of, {})[old] = Argument(
                    of,
                    old,
                    Change(change),
                    new or taken_by.replace("{}", of.rpartition(".")[2]) or (old if change == Change.SAME else None),
                    _DIM_ORDERING if old == "dim_ordering" else (),
                    note,
                    values,
                    tuple(not_in.split()),
                )
    return table
