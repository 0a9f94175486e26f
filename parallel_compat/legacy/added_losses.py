"""Losses of tensors that are added to a functional model, which Keras 3 refuses."""

from __future__ import annotations

from typing import Any

import keras

from parallel_compat.backend import keras3
from parallel_compat.own_methods import of_models


@of_models("add_loss")
def add_loss(model: keras.Model, loss: Any) -> None:
    """Add a loss to a functional model: a tensor that layers and functions made of the model's own.

    It comes before `compile`, and is not saved with the model.

        x = keras.Input((3,))
        y = keras.layers.Dense(3)(x)
        model = keras.Model(x, y)
        add_loss(model, keras.ops.mean((x - y) ** 2))
        model.compile("sgd")
        model.fit(pictures)

    Args:
        model: the model.
        loss: a symbolic tensor, a function of no arguments, a number, or a list of these.
    """
    added: list[Any] = vars(model).setdefault("_parallel_compat_added_losses", [])
    added += loss if isinstance(loss, (list, tuple)) else [loss]
    outputs = keras.tree.flatten(model.output)
    symbolic = [each for each in added if isinstance(each, keras.KerasTensor)]
    others = [each for each in added if not isinstance(each, keras.KerasTensor)]
    # One graph, for outputs and losses share layers: each layer runs once, with one draw of random numbers.
    whole = keras.Model(model.input, [*outputs, *symbolic])
    own = [layer for layer in whole.layers if layer.weights and layer not in model.layers]
    if own:
        keras3.train_further_layers(model, own)

    def call(inputs: Any, training: Any = None, mask: Any = None) -> Any:
        found = keras.tree.flatten(whole.call(inputs, training=training, mask=mask))
        for each in [*found[len(outputs) :], *(each() if callable(each) else each for each in others)]:
            # A functional model refuses its own method.
            keras.layers.Layer.add_loss(model, keras.ops.convert_to_tensor(each))
        return keras.tree.pack_sequence_as(model.output, found[: len(outputs)])

    vars(model)["call"] = call
