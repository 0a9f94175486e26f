"""Losses and metrics of tensors that are added to a functional model, which Keras 3 refuses."""

from __future__ import annotations

from typing import Any

import keras

from parallel_compat.backend import keras3
from parallel_compat.backend.keras3.layers import mean_of_layer
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
    _add(model, list(loss) if isinstance(loss, (list, tuple)) else [loss], [])


def add_metric(owner: Any, value: Any, aggregation: str | None = None, name: str | None = None) -> None:
    """Log the mean of a tensor: one of a functional model's own, or one that a layer computes in its `call`.

        x = keras.Input((3,))
        y = keras.layers.Dense(3)(x)
        model = keras.Model(x, y)
        add_metric(model, keras.ops.max(y), name="largest")
        model.compile("sgd", "mse")
        model.fit(pictures, pictures)  # logs `loss` and `largest`

    Args:
        owner: the model, or the layer.
        value: the tensor.
        aggregation: "mean" or None; any other text is taken for the name, which comes first in Keras 2.3.
        name: of the metric; none for the result of a metric of the layer, which logs itself.

    Raises:
        ValueError: there is no name, and no metric of the layer.
    """
    own = getattr(type(owner), "add_metric", None)
    if own not in (None, keras.Layer.add_metric):
        own(owner, value, aggregation=aggregation, name=name)
        return
    name = aggregation if name is None and aggregation != "mean" else name
    if name is None:
        if owner.metrics and not isinstance(value, keras.KerasTensor):
            return
        raise ValueError("Expected a `name` for the metric. Received: None.")
    if isinstance(value, keras.KerasTensor):
        _add(owner, [], [_Logged(name)(value)])
    else:
        mean_of_layer(owner, name).update_state(value)


class _Logged(keras.layers.Layer):  # type: ignore[misc]
    """Logs the mean of what it is called on. As a layer it also logs in a parallel model."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.mean = keras.metrics.Mean(name)

    def call(self, x: Any) -> Any:
        self.mean.update_state(x)
        return x


def _add(model: keras.Model, losses: list[Any], logged: list[Any]) -> None:
    """Compute more in the calls of a functional model: losses, and tensors that are logged."""
    added, logged_before = vars(model).setdefault("_parallel_compat_added", ([], []))
    added += losses
    logged_before += logged
    outputs = keras.tree.flatten(model.output)
    symbolic = [each for each in added if isinstance(each, keras.KerasTensor)]
    others = [each for each in added if not isinstance(each, keras.KerasTensor)]
    # One graph, for outputs and losses share layers: each layer runs once, with one draw of random numbers.
    whole = keras.Model(model.input, [*outputs, *symbolic, *logged_before])
    own = [layer for layer in whole.layers if (layer.weights or layer.metrics) and layer not in model.layers]
    if own:
        keras3.layers.train_further_layers(model, own)

    def call(inputs: Any, training: Any = None, mask: Any = None) -> Any:
        found = keras.tree.flatten(whole.call(inputs, training=training, mask=mask))
        values = found[len(outputs) : len(outputs) + len(symbolic)]
        for each in [*values, *(each() if callable(each) else each for each in others)]:
            # A functional model refuses its own method.
            keras.layers.Layer.add_loss(model, keras.ops.convert_to_tensor(each))
        return keras.tree.pack_sequence_as(model.output, found[: len(outputs)])

    vars(model)["call"] = call
