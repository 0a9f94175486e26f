"""The order of the weights of models of a script's own class, as TensorFlow 1.15.5 and 2.2.3 list them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import parallel_compat


@pytest.mark.parametrize("era", ["tf.keras-1.15", "tf.keras-2.2"])
@pytest.mark.parametrize(
    ("own", "many", "kinds"),
    [
        (False, False, "wwwwmmww"),
        (False, True, "wwwwmmwwwwwwmm"),
        (True, False, "wwwwmmwww"),
        (True, True, "wwwwmmwwwwwwmmw"),
    ],
)
def test_moving_statistics_stand_where_their_layer_does(era: str, own: bool, many: bool, kinds: str) -> None:
    with parallel_compat.legacy_names(era=era):
        from tensorflow.keras import Model, Sequential, layers

        class Net(Model):
            def __init__(self) -> None:
                super().__init__()
                self.block = Sequential([layers.Dense(2), layers.BatchNormalization()])
                self.last = layers.Dense(2)
                if own:
                    self.own = self.add_weight(name="own", shape=(1,), initializer="ones")
                if many:
                    self.many = [layers.Dense(1), layers.BatchNormalization()]

            def call(self, x: Any, training: Any = None) -> Any:
                x = self.last(self.block(x, training=training))
                for layer in getattr(self, "many", []):
                    x = layer(x)
                return x

        model = Net()
        model(np.zeros((2, 4), "float32"))
        assert "".join("m" if "moving" in weight.name else "w" for weight in model.weights) == kinds
        values = [np.full(weight.shape, number, "float32") for number, weight in enumerate(model.weights)]
        model.set_weights(values)
        assert [float(value.ravel()[0]) for value in model.get_weights()] == list(map(float, range(len(kinds))))
        assert float(model.block.layers[1].moving_mean.numpy()[0]) == 4
