"""Change the weights of a layer so that Keras 3's layer computes what the old one did."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from parallel_compat.recover.errors import CheckpointError
from parallel_compat.recover.layer_weights import RENAMED

Arrays = list["np.ndarray[Any, Any]"]

# clip(0.2 x + 0.5) is clip(1.2 x / 6 + 0.5): see `rules.activations.hard_sigmoid`.
SLOPE = 1.2
# The gates that pass through `recurrent_activation`, of how many: LSTM i, f, (c), o; GRU z, r, (h).
GATES = {
    "LSTM": (4, (0, 1, 3)),
    "ConvLSTM2D": (4, (0, 1, 3)),
    "GRU": (3, (0, 1)),
    "LSTMCell": (4, (0, 1, 3)),
    "GRUCell": (3, (0, 1)),
}


def apply(edits: Sequence[str], class_name: str, arrays: Arrays) -> Arrays:
    """Do the named edits to the arrays of one layer."""
    try:
        for edit in edits:
            arrays = _apply(edit, class_name, arrays)
    except (ValueError, IndexError, TypeError) as error:
        if isinstance(error, CheckpointError):
            raise
        shapes = [array.shape for array in arrays]
        raise CheckpointError(f"weights of the shapes {shapes} are not those of a {class_name} ({error}).") from error
    return arrays


def _apply(edit: str, class_name: str, arrays: Arrays) -> Arrays:
    name, _, part = edit.partition("@")
    if name.startswith("locally_connected"):
        return _locally_connected(name, arrays)
    if part:
        inner, start, stop = part.split(":")
        mine = slice(int(start), int(stop))
        return [*arrays[: mine.start], *EDITS[name](inner, arrays[mine]), *arrays[mine.stop :]]
    return EDITS[name](class_name, arrays)


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
    count, gates = GATES[RENAMED.get(class_name, class_name)]
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


def _turned(class_name: str, arrays: Arrays) -> Arrays:
    """Theano convolved, where TensorFlow correlates: kernels stand the other way round along each axis of space."""
    kernels = 2 if class_name == "ConvLSTM2D" else 1
    turned = [np.ascontiguousarray(np.flip(array, tuple(range(array.ndim - 2)))) for array in arrays[:kernels]]
    return [*turned, *arrays[kernels:]]


def _of_gates(gates: str, order: str, axis: int = -1) -> Callable[[str, Arrays], Arrays]:
    """Join the kernels, recurrent kernels and biases of the gates, which Keras 1 kept apart."""

    def edit(class_name: str, arrays: Arrays) -> Arrays:
        places = [3 * gates.index(gate) for gate in order]
        axes = (axis, axis, -1)
        return [np.concatenate([arrays[place + kind] for place in places], axes[kind]) for kind in range(3)]

    return edit


def _films_first(class_name: str, arrays: Arrays) -> Arrays:
    kernel, recurrent, bias = _of_gates("icfo", "ifco", 0)(class_name, arrays)
    return [np.transpose(kernel, (2, 3, 1, 0)), np.transpose(recurrent, (2, 3, 1, 0)), bias]


def _transposed(*axes: int) -> Callable[[str, Arrays], Arrays]:
    def edit(class_name: str, arrays: Arrays) -> Arrays:
        kernel = arrays[0]
        order = axes or (*range(2, kernel.ndim), 1, 0)  # (filters, channels, *space) -> (*space, channels, filters)
        if kernel.ndim != len(order):
            raise CheckpointError(f"expected a kernel of {len(order)} axes. Received: the shape {kernel.shape}.")
        return [np.ascontiguousarray(np.transpose(kernel, order)), *arrays[1:]]

    return edit


def _conv1d(class_name: str, arrays: Arrays) -> Arrays:
    """Its kernel had an axis more: (width, 1, channels, filters), and until Keras 1.0 (filters, channels, width, 1)."""
    kernel = arrays[0]
    if kernel.ndim != 4 or 1 not in (kernel.shape[1], kernel.shape[3]):
        raise CheckpointError(f"expected a kernel of the shape (any, 1, any, any). Received: {kernel.shape}.")
    if kernel.shape[1] != 1:
        kernel = np.transpose(kernel, (2, 3, 1, 0))
    return [np.ascontiguousarray(kernel[:, 0]), *arrays[1:]]


EDITS: dict[str, Callable[[str, Arrays], Arrays]] = {
    "old_hard_sigmoid": _old_hard_sigmoid,
    "old_hard_sigmoid_gates": _old_hard_sigmoid_gates,
    "cudnn_lstm": _cudnn(4),
    "cudnn_gru": _cudnn(3),
    "turned": _turned,
    "keras1_LSTM": _of_gates("icfo", "ifco"),
    "keras1_GRU": _of_gates("zrh", "zrh"),
    "keras1_ConvLSTM2D": _of_gates("icfo", "ifco"),
    "keras1_ConvLSTM2D_first": _films_first,
    "keras1_Conv1D": _conv1d,
    "keras1_first": _transposed(),
    "keras1_transposed": _transposed(0, 1, 3, 2),
    "keras1_transposed_first": _transposed(2, 3, 0, 1),
}

# What a layer has after an edit that makes fewer or more arrays: name, and whether it is trained.
WRITTEN = dict.fromkeys(
    ("keras1_LSTM", "keras1_GRU", "keras1_ConvLSTM2D", "keras1_ConvLSTM2D_first"),
    (("kernel", True), ("recurrent_kernel", True), ("bias", True)),
)


def written(edits: Sequence[str], count: int) -> tuple[tuple[str, bool], ...] | None:
    """Return the weights of a layer after its edits, if these join or split arrays of the file.

    Returns:
        Name, and whether it is trained, of each weight.
    """
    for edit in edits:
        if edit in WRITTEN:
            return WRITTEN[edit]
        if edit.startswith("locally_connected"):
            own, windows = [("kernel", True), ("bias", True)][:count], ("depthwise_kernel", False)
            return (windows, *own) if "_frozen" in edit else (*own, windows)
    return None


def _locally_connected(edit: str, arrays: Arrays) -> Arrays:
    """Lay out a kernel for each place (places, window * channels, filters) as `rules.locally_connected` has it.

    A depthwise convolution gives the values of a window channel by channel; the old layer took them place by place.
    """
    name, _, said = edit.partition(":")
    size = [int(side) for side in said.split(",")]
    kernel, *bias = arrays
    window = math.prod(size)
    if kernel.ndim != 3 or kernel.shape[1] % window or (bias and math.prod(bias[0].shape[:-1]) != kernel.shape[0]):
        raise CheckpointError(f"expected a kernel for each position. Received: the shape {kernel.shape}.")
    places, values, filters = kernel.shape
    channels = values // window
    kernel = kernel.reshape(places, window, channels, filters).swapaxes(1, 2)
    along = bias[0].shape[:-1] if bias else (places,)
    kernel = np.ascontiguousarray(kernel.reshape(*along, values, filters))
    windows = np.zeros((*size, channels, window), kernel.dtype)
    for number, place in enumerate(np.ndindex(*size)):
        windows[(*place, slice(None), number)] = 1
    return [windows, kernel, *bias] if name.endswith("_frozen") else [kernel, *bias, windows]
