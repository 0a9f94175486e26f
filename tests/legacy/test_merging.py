"""`merge` on Keras 3. Losses of Keras 2.0.8 on TensorFlow 1.15.5, which `run` gives, too."""

from __future__ import annotations

import json
from pathlib import Path

import keras
import numpy as np
import pytest

from parallel_compat.legacy.merging import merge

LOSSES = json.loads((Path(__file__).parents[1] / "data/legacy/merge_keras_2_0_8.json").read_text("utf-8"))
MODES = ["sum", "mul", "ave", "max", "concat", "dot", "cos", "a function"]


@pytest.mark.parametrize("mode", MODES)
def test_it_trains_as_in_keras_2(mode: str) -> None:
    draws = np.random.RandomState(1)
    a, b, y = draws.rand(16, 5), draws.rand(16, 5), draws.rand(16, 1)
    one, other = keras.Input((5,)), keras.Input((5,))
    axes = {"dot_axes": 1} if mode in ("dot", "cos") else {}
    function = (lambda tensors: tensors[0] - 2 * tensors[1]) if mode == "a function" else mode
    merged = merge([one, other], mode=function, **axes)
    model = keras.Model([one, other], keras.layers.Dense(1)(keras.layers.Flatten()(merged)))
    draws = np.random.RandomState(3)
    model.set_weights([draws.uniform(-0.3, 0.3, weight.shape) for weight in model.get_weights()])
    model.compile(keras.optimizers.SGD(0.01), "mse")
    history = model.fit([a, b], y, epochs=2, verbose=0, shuffle=False, batch_size=4).history
    assert history["loss"] == pytest.approx(LOSSES[mode], abs=2e-6)


def test_outputs_of_layers_and_other_modes() -> None:
    x = keras.Input((3,))
    layer = keras.layers.Dense(2)
    layer(x)
    assert merge([layer, keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)])]).shape == (None, 2)
    with pytest.raises(ValueError, match=r"Expected a `mode` of merge: .* Received: join"):
        merge([x, x], mode="join")
