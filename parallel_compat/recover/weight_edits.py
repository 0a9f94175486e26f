"""Change the weights of a layer so that Keras 3's layer computes what the old one did."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from parallel_compat.recover.errors import CheckpointError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Arrays = list["np.ndarray[Any, Any]"]

# clip(0.2 x + 0.5) is clip(1.2 x / 6 + 0.5): see `rules.activations.hard_sigmoid`.
SLOPE = 1.2
# The gates that pass through `recurrent_activation`, of how many: LSTM i, f, (c), o; GRU z, r, (h).
GATES = {
    "LSTM": (4, (0, 1, 3)),
    "UnifiedLSTM": (4, (0, 1, 3)),
    "ConvLSTM2D": (4, (0, 1, 3)),
    "GRU": (3, (0, 1)),
    "LSTMCell": (4, (0, 1, 3)),
    "GRUCell": (3, (0, 1)),
    "UnifiedGRU": (3, (0, 1)),
}


def apply(edits: Sequence[str], class_name: str, arrays: Arrays) -> Arrays:
    """Do the named edits to the arrays of one layer."""
    for edit in edits:
        name, _, part = edit.partition("@")
        if part:
            inner, start, stop = part.split(":")
            mine = slice(int(start), int(stop))
            arrays = [*arrays[: mine.start], *EDITS[name](inner, arrays[mine]), *arrays[mine.stop :]]
        else:
            arrays = EDITS[name](class_name, arrays)
    return arrays


def part_of(edit: str, class_name: str, start: int, stop: int) -> str:
    """Name an edit that is done to some arrays of a layer alone, as if they were another layer's.

    >>> from parallel_compat.recover.weight_edits import part_of
    >>> part_of("old_hard_sigmoid_gates", "LSTMCell", 3, 6)
    'old_hard_sigmoid_gates@LSTMCell:3:6'
    """
    return f"{edit}@{class_name}:{start}:{stop}"


def _old_hard_sigmoid(class_name: str, arrays: Arrays) -> Arrays:
    return [(array * np.asarray(SLOPE, "float64")).astype(array.dtype) for array in arrays]


def _old_hard_sigmoid_gates(class_name: str, arrays: Arrays) -> Arrays:
    count, gates = GATES[class_name]
    scaled = []
    for array in arrays:
        size = array.shape[-1] // count
        factor = np.ones(array.shape[-1], "float64")
        for gate in gates:
            factor[gate * size : (gate + 1) * size] = SLOPE
        scaled.append((array * factor).astype(array.dtype))
    return scaled


def _cudnn(gates: int) -> Callable[[str, Arrays], Arrays]:
    """From cuDNN's layout: kernels column-major and recurrent kernels transposed, gate by gate; two biases.

    After `_convert_rnn_weights` in Keras 2.2.4's `keras/engine/saving.py`.
    """

    def edit(class_name: str, arrays: Arrays) -> Arrays:
        if len(arrays) != 3:
            raise CheckpointError(f"expected 3 weights for a {class_name}. Received: {len(arrays)}.")
        kernel, recurrent, bias = arrays
        kernel = np.hstack([part.T.reshape(part.shape, order="F") for part in np.hsplit(kernel, gates)])
        recurrent = np.hstack([part.T for part in np.hsplit(recurrent, gates)])
        # The LSTM adds its two biases; the GRU (reset_after) keeps them apart.
        bias = np.sum(np.split(bias, 2), axis=0) if gates == 4 else bias.reshape(2, -1)
        return [kernel, recurrent, bias]

    return edit


EDITS: dict[str, Callable[[str, Arrays], Arrays]] = {
    "old_hard_sigmoid": _old_hard_sigmoid,
    "old_hard_sigmoid_gates": _old_hard_sigmoid_gates,
    "cudnn_lstm": _cudnn(4),
    "cudnn_gru": _cudnn(3),
}
