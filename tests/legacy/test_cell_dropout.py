"""A cell's masks: one for all steps of a call, another in the next call, ones outside of training."""

from __future__ import annotations

import keras
import numpy as np
import tensorflow as tf

from parallel_compat.legacy.cell_dropout import DropoutRNNCellMixin


class Cell(DropoutRNNCellMixin, keras.layers.Layer):
    """Returns the mask of its inputs as its output."""

    def __init__(self):
        super().__init__()
        self.dropout, self.recurrent_dropout, self.state_size = 0.5, 0.25, 40

    def call(self, inputs, states, training=None):
        return self.get_dropout_mask_for_cell(inputs, training), states


def test_all_steps_of_a_call_have_one_mask():
    cell = Cell()
    layer = keras.layers.RNN(cell, return_sequences=True)
    first = layer(np.ones((2, 3, 40), "f4"), training=True).numpy()
    assert set(np.unique(first)) == {0.0, 2.0}
    np.testing.assert_array_equal(first[:, 0], first[:, 2])
    cell.reset_dropout_mask()
    second = layer(np.ones((2, 3, 40), "f4"), training=True).numpy()
    assert (first != second).any()


def test_nothing_is_dropped_outside_of_training():
    out = keras.layers.RNN(Cell(), return_sequences=True)(np.ones((2, 3, 40), "f4"), training=False)
    np.testing.assert_array_equal(out, np.ones((2, 3, 40)))


def test_inputs_and_states_have_masks_of_their_own():
    cell = Cell()
    ones = tf.ones((1, 1000))
    inputs = cell.get_dropout_mask_for_cell(ones, training=True)
    states = cell.get_recurrent_dropout_mask_for_cell(ones, training=True, count=4)
    assert len(states) == 4
    assert 0.4 < float(tf.reduce_mean(tf.cast(inputs == 0, "float32"))) < 0.6
    assert 0.15 < float(tf.reduce_mean(tf.cast(states[0] == 0, "float32"))) < 0.35
    assert cell.get_dropout_mask_for_cell(ones, training=True) is inputs
