"""`merge` on Keras 3. Losses of Keras 2.0.8 on TensorFlow 1.15.5, as in `tests/originals/test_keras_1.py`."""

from __future__ import annotations

import keras
import numpy as np
import pytest

from parallel_compat.legacy.merging import merge

LOSSES = {
    "sum": [0.083745, 0.081595],
    "mul": [0.103952, 0.099173],
    "ave": [0.080272, 0.077431],
    "max": [0.070205, 0.068735],
    "concat": [0.728842, 0.462669],
    "dot": [0.160318, 0.135324],
    "cos": [0.169505, 0.147700],
    "a function": [0.243630, 0.206640],
}


@pytest.mark.parametrize("mode", LOSSES)
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
