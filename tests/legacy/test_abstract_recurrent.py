"""Layers that derive from `Recurrent` compute what they did in Keras 2.2.4."""

from __future__ import annotations

import json
from pathlib import Path

import keras
import numpy as np
import pytest

from parallel_compat.legacy.abstract_recurrent import Recurrent, _time_distributed_dense

WANTED = json.loads((Path(__file__).parents[1] / "data/legacy/recurrent_keras_2_2_4.json").read_text())


def test_what_is_refused():
    with pytest.raises(NotImplementedError, match=r"define `step\(self, inputs, states\)`"):
        Recurrent().step(None, None)
    layer = Recurrent()
    layer.units, layer.states = 2, [None]
    with pytest.raises(AttributeError, match="stateful=True"):
        layer.reset_states()
    with pytest.raises(ValueError, match=r"Expected 1 initial states.* Received: 2"):
        layer.call([np.zeros((1, 3, 2))] * 3)
    layer.unroll = True
    with pytest.raises(ValueError, match="more than one step"):
        layer.call(np.zeros((1, 1, 2)))
    layer.stateful = True
    with pytest.raises(ValueError, match="batch size"):
        layer.reset_states()
    layer.input_spec = [keras.layers.InputSpec(shape=(4, None, 2))]
    with pytest.raises(ValueError, match=r"1 states of shape \(4, 2\).* Received: \[\(4, 3\)\]"):
        layer.reset_states(np.zeros((4, 3)))


def test_time_distributed_dense_drops_the_same_features_in_each_step():
    x, w = np.ones((5, 4, 20), "float32"), np.eye(20, dtype="float32")
    kept = np.array(_time_distributed_dense(x, w, np.full(20, 0.5), dropout=0.5, training=True))
    assert set(np.unique(kept)) == {0.5, 2.5}
    np.testing.assert_array_equal(kept, np.repeat(kept[:, :1], 4, axis=1))
    np.testing.assert_array_equal(_time_distributed_dense(x, w, dropout=0.5, training=False), x)
