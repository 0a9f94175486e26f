"""`K.convert_inputs_if_ragged` and `K.maybe_convert_to_ragged`, by which tf.keras 2.2's recurrent layers took sequences
of several lengths."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf


def to_dense(inputs: Any) -> tuple[Any, Any]:
    """Return ragged tensors with zeros behind their ends, and their lengths.

    >>> dense, lengths = to_dense(tf.ragged.constant([[1, 2], [3]]))
    >>> dense.numpy().tolist(), lengths.numpy().tolist()
    ([[1, 2], [3, 0]], [2, 1])

    Args:
        inputs: tensors, ragged ones among them.

    Returns:
        The tensors, in their structure, and an int32 tensor of the lengths of the first, of shape (batch,); None
        where none is ragged.
    """
    flat = keras.tree.flatten(inputs)
    if not any(isinstance(each, tf.RaggedTensor) for each in flat):
        return inputs, None
    dense = [each.to_tensor() if isinstance(each, tf.RaggedTensor) else each for each in flat]
    return keras.tree.pack_sequence_as(inputs, dense), tf.cast(flat[0].nested_row_lengths()[0], "int32")


def from_dense(is_ragged_input: Any, output: Any, nested_row_lengths: Any) -> Any:
    """Return a tensor as a ragged one of given lengths, where the input was ragged.

    >>> from_dense(True, tf.constant([[1, 2], [3, 0]]), [2, 1]).to_list()
    [[1, 2], [3]]

    Args:
        is_ragged_input: whether it was.
        output: of shape (batch, longest, ...).
        nested_row_lengths: of shape (batch,).
    """
    return tf.RaggedTensor.from_tensor(output, nested_row_lengths) if is_ragged_input else output
