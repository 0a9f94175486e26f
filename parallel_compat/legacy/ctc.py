"""Decoding of connectionist temporal classification, in arrays as wide as Keras 2's and `tf.keras` until 2.2."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf


def ctc_decode(
    y_pred: Any, input_length: Any, greedy: bool = True, beam_width: int = 100, top_paths: int = 1
) -> tuple[list[Any], Any]:
    """Decode what a network says at each step: the labels of each sample, -1 after its end, and their log probability.

    The arrays are as wide as the longest decoded sequence; those of Keras 3 are as wide as the input.

    Args:
        y_pred: probabilities (samples, steps, labels); the last label is the blank.
        input_length: the steps of each sample.
        greedy: whether the best label of each step is taken, without a beam search.
        beam_width: of the beam search.
        top_paths: how many decodings the beam search returns.
    """
    steps = tf.math.log(tf.transpose(keras.ops.convert_to_tensor(y_pred), (1, 0, 2)) + keras.config.epsilon())
    lengths = tf.cast(keras.ops.convert_to_tensor(input_length), tf.int32)
    if greedy:
        decoded, log_probability = tf.nn.ctc_greedy_decoder(steps, lengths)
    else:
        decoded, log_probability = tf.compat.v1.nn.ctc_beam_search_decoder(steps, lengths, beam_width, top_paths)
    return [tf.sparse.to_dense(each, default_value=-1) for each in decoded], log_probability
