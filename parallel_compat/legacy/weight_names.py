"""The names of weights as old code prints and compares them: `dense_1/kernel:0`, where Keras 3 says `kernel`.

They are the names of TensorFlow's variables: the layer's name, where there is one the direction of a Bidirectional,
in TensorFlow 2.2 the cell of a recurrent layer, then the weight, and the number of the operation's output.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import keras

from parallel_compat.backend import keras3
from parallel_compat.names.eras import Era

_SCOPES = "_parallel_compat_scopes"
_CELL = "_parallel_compat_cell_name"
_CELLS = ("lstm_cell", "gru_cell", "simple_rnn_cell")


class _Scopes(NamedTuple):
    """Where a weight was made: layers from the outermost, and whether each is a cell; which of several cells it is."""

    names: tuple[tuple[str, bool], ...]
    cell: int
    depthwise: bool


def remember(weight: Any, layer: Any) -> None:
    """Note whose a weight is.

    Args:
        weight: what `add_weight` returned.
        layer: the layer that added it.
    """
    names: list[tuple[str, bool]] = []
    number, outer = 0, None
    layers = keras3.layers_being_built()
    for each in layers if layers and layers[-1] is layer else [layer]:
        cells = getattr(outer, "cells", None) if isinstance(outer, keras.layers.StackedRNNCells) else None
        is_cell = cells is not None or (outer is not None and each is getattr(outer, "cell", None))
        if cells is not None:
            number = next((at for at, cell in enumerate(cells) if cell is each), 0)
        # TimeDistributed built its layer without a scope, and so did layers of the kind of ConvLSTM2D their cell.
        without = isinstance(outer, keras.layers.TimeDistributed) or (is_cell and not _has_scope(each))
        if not without and not isinstance(each, keras.Model):
            names.append((getattr(each, _CELL, each.name), is_cell))
        outer = each
    of_depthwise = isinstance(layer, keras.layers.DepthwiseConv2D)
    setattr(weight, _SCOPES, _Scopes(tuple(names), number, of_depthwise))


def _has_scope(cell: Any) -> bool:
    return type(cell).__name__ != "ConvLSTMCell"


def count_cell(layer: Any, era: Era) -> None:
    """Number the cell of a recurrent layer as TensorFlow 2.2 did; Keras 3 calls every one `lstm_cell`.

    Args:
        layer: a layer that has just been made.
        era: that of the code which made it.
    """
    if era is Era.TF_KERAS_2_2 and layer.name in _CELLS:
        before = keras.backend.get_uid(f"{layer.name}_of_layer") - 1
        setattr(layer, _CELL, f"{layer.name}_{before}" if before else layer.name)


def in_era(weight: Any, name: str, era: Era) -> str:
    """Return a weight's name as an era spelled it.

    Args:
        weight: the weight.
        name: its name in Keras 3.
        era: the era.
    """
    scopes: _Scopes | None = getattr(weight, _SCOPES, None)
    if scopes is None:
        return name if ":" in name else f"{name}:0"
    if scopes.depthwise and name == "kernel":
        name = "depthwise_kernel"
    with_cells = era is Era.TF_KERAS_2_2
    if scopes.cell and not with_cells:
        name = f"{name}_{scopes.cell}"  # the cells had one scope, in which TensorFlow told the names apart
    return "/".join([*(scope for scope, is_cell in scopes.names if with_cells or not is_cell), f"{name}:0"])
