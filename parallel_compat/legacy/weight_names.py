"""The names of weights as old code prints and compares them: `dense_1/kernel:0`, where Keras 3 says `kernel`.

They are the names of TensorFlow's variables: the layer's name, where there is one the direction of a Bidirectional,
in TensorFlow 2.2 the cell of a recurrent layer, then the weight, and the number of the operation's output.
"""

from __future__ import annotations

import re
from typing import Any

import keras

from parallel_compat.names.eras import Era

_LAYER = "_parallel_compat_layer_name"
_CELL = "_parallel_compat_cell_name"
_CELLS = ("lstm_cell", "gru_cell", "simple_rnn_cell")
_PASSED_OVER = re.compile("(lstm|gru|simple_rnn|conv_lstm)_cell(_[0-9]+)?")


def remember(weight: Any, layer: Any) -> None:
    """Note whose a weight is.

    Args:
        weight: what `add_weight` returned.
        layer: the layer that added it.
    """
    setattr(weight, _LAYER, layer.name)
    if hasattr(layer, _CELL):
        setattr(weight, _CELL, getattr(layer, _CELL))


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
    layer = getattr(weight, _LAYER, None)
    if layer is None:
        return name if ":" in name else f"{name}:0"
    scopes = weight.path.split("/")[:-1]
    parts = [layer]
    if scopes and _PASSED_OVER.fullmatch(layer):
        scopes = scopes[:-1]
        cell = [getattr(weight, _CELL, layer)] if era is Era.TF_KERAS_2_2 else []
        parts = [*scopes[-1:], *cell]
    outer = scopes[-2] if len(scopes) > 1 else ""
    if outer.startswith("time_distributed"):
        parts = [outer]
    elif scopes and scopes[-1].startswith(("forward_", "backward_")) and outer:
        parts = [outer, *parts]
    return "/".join([*parts, f"{name}:0"])
