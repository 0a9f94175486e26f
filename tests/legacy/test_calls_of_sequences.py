"""What calls the layers of a `Sequential` list that grows and shrinks: the numbers are those of all three stacks."""

from __future__ import annotations

from typing import Any

import pytest

import parallel_compat


def calls(model: Any, layers: list[Any]) -> tuple[int, list[int], list[int], bool]:
    counts = [len(layer._inbound_nodes) for layer in layers], [len(layer._outbound_nodes) for layer in layers]
    return len(model._inbound_nodes), *counts, model.layers[-1].output is model.output


@pytest.mark.parametrize("era", ["keras-2.2.4", "tf.keras-1.15", "tf.keras-2.2"])
def test_a_layer_is_called_once_however_often_others_are_added_and_popped(era: str) -> None:
    with parallel_compat.legacy_names(era=era):
        if era == "keras-2.2.4":
            from keras import Input, layers, models
        else:
            from tensorflow.keras import Input, layers, models

        inside = [layers.Dense(3, input_shape=(2,)), layers.Dense(2), layers.Dense(1)]
        model = models.Sequential(inside)
        assert calls(model, inside) == (1, [1, 1, 1], [1, 1, 0], True)
        model.pop()
        assert calls(model, inside) == (1, [1, 1, 1], [1, 0, 0], True)
        held = model.layers[0].output
        model.add(layers.Dense(5))
        assert calls(model, [*inside, model.layers[-1]]) == (1, [1, 1, 1, 1], [1, 1, 0, 0], True)
        assert model.layers[0].output is held
        assert models.Model(model.input, held).output_shape == (None, 3)
        called = model(Input((2,)))
        assert len(model._inbound_nodes) == 2
        assert model._inbound_nodes[0].output_tensors == [model.outputs[0]]
        assert model.get_output_at(1) is called


@pytest.mark.parametrize(("era", "kind"), [("tf.keras-1.15", TypeError), ("tf.keras-2.2", ValueError)])
def test_a_layer_stands_alone_and_gives_one_tensor(era: str, kind: type[Exception]) -> None:
    with parallel_compat.legacy_names(era=era):
        from tensorflow.keras.layers import Dense, Layer
        from tensorflow.keras.models import Sequential

        class Two(Layer):
            def call(self, x: Any) -> Any:
                return x, x

        assert [layer.units for layer in Sequential(Dense(1)).layers] == [1]
        with pytest.raises(kind, match="should have a single output tensor"):
            Sequential([Dense(1, input_shape=(3,)), Two()])
