"""Sequences of several lengths and causal convolutions of tf.keras; the numbers are those of TensorFlow 2.2.3."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

import parallel_compat


def test_functions_and_recurrent_layers_take_ragged_tensors() -> None:
    x = tf.ragged.constant([[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0]]], ragged_rank=1)
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        from tensorflow.keras import Input
        from tensorflow.keras import backend as K
        from tensorflow.keras.layers import SimpleRNN

        ones = {"kernel_initializer": "ones", "recurrent_initializer": "zeros", "activation": None}
        inputs = Input((None, 2), batch_size=2, ragged=True)
        each = K.function([inputs], SimpleRNN(1, return_sequences=True, **ones)(inputs))(x)
        assert each.to_list() == [[[3.0], [7.0]], [[11.0]]]
        assert K.function([inputs], [SimpleRNN(1, **ones)(inputs)])([x])[0].tolist() == [[7.0], [11.0]]
        with pytest.raises(ValueError, match="does not support unrolling"):
            SimpleRNN(1, unroll=True)(inputs)

        from tensorflow.python.keras.backend import convert_inputs_if_ragged, maybe_convert_to_ragged

        dense, lengths = convert_inputs_if_ragged(x)
        assert dense.shape == (2, 2, 2)
        assert lengths.numpy().tolist() == [2, 1]
        assert maybe_convert_to_ragged(True, dense, lengths).to_list() == x.to_list()
        assert maybe_convert_to_ragged(False, dense, None) is dense
        assert convert_inputs_if_ragged(dense) == (dense, None)


def test_separable_convolutions_may_be_causal() -> None:
    with parallel_compat.legacy_names(era="tf.keras-2.2"):
        from tensorflow.keras import Sequential, models
        from tensorflow.keras.layers import SeparableConv1D

        for dilation, expected in ((1, [0.0, 2.0, 6.0, 12.0, 18.0]), (2, [0.0, 2.0, 4.0, 8.0, 12.0])):
            ones = {"depthwise_initializer": "ones", "pointwise_initializer": "ones", "dilation_rate": dilation}
            layer = SeparableConv1D(1, 3, padding="causal", input_shape=(5, 2), **ones)
            model = Sequential([layer])
            x = np.repeat(np.arange(5.0, dtype="float32"), 2).reshape(1, 5, 2)
            assert model.predict(x).ravel().tolist() == expected
            assert model.output_shape == (None, 5, 1)
            again = models.model_from_json(model.to_json())
            assert again.layers[0].padding == "causal"
            assert again.predict(x).ravel().tolist() == expected
