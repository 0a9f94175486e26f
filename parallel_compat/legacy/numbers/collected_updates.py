"""Which layers of a model of Keras 2.2.4 updated their state in a step, such as the moving statistics of a batch.

A model ran the updates of the layers that it lists, as far as they are trainable. One of these that is a model itself
had collected those of its layers when it was called, from what was trainable then: layers in it that are frozen
later go on updating, and those that were frozen never do (`Network.updates` and `run_internal_graph` in
`keras/engine/network.py`, `Layer.get_updates_for` in `base_layer.py`).
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

from parallel_compat.backend.keras3.batch_normalization import model_in_training
from parallel_compat.backend.keras3.layers import all_layers, is_of_graph, layers_of
from parallel_compat.legacy import own_trainable
from parallel_compat.run import object_eras

if TYPE_CHECKING:
    from collections.abc import Iterator

    import keras

# On a model: the layers inside that were trainable when it was called; and those that update in its own steps.
_WHEN_CALLED, _IN_STEPS = "_parallel_compat_collected_when_called", "_parallel_compat_collected_in_steps"


def note_call(layer: keras.Layer) -> None:
    """Note of which layers a model collects the updates, as it is called on symbolic tensors.

    Args:
        layer: the model; other layers are left alone.
    """
    if is_of_graph(layer):
        inside = {id(each): each for part in layers_of(layer) for each in _collected_of(part)}
        vars(layer)[_WHEN_CALLED] = inside


def forget(model: keras.Model) -> None:
    """Let the next step of a model settle which layers update."""
    vars(model).pop(_IN_STEPS, None)


def are_collected(layer: keras.Layer) -> bool | None:
    """Say whether a layer updates in the step of a model that is traced or run.

    What was trainable when the first step was made decides, until the model is compiled anew.

    Args:
        layer: the layer.

    Returns:
        None outside of steps, and where that hangs on nothing but the layer's own flag.
    """
    model = model_in_training()
    if model is None or not is_of_graph(model):
        return None
    if _IN_STEPS not in vars(model):
        vars(model)[_IN_STEPS] = {id(each): each for each in _collected_in_steps(model)}
    if any(layer is each for each in all_layers(model)):
        return id(layer) in vars(model)[_IN_STEPS]
    return None


def is_outside(layer: keras.Layer) -> bool:
    """Say whether a layer is none of the model's of which a step is traced or run: its loss or a metric calls it.

    Args:
        layer: the layer.
    """
    model = model_in_training()
    return model is not None and is_of_graph(model) and all(layer is not each for each in all_layers(model))


def is_updated(layer: keras.Layer) -> bool:
    """Say whether the updates of a layer run in the steps of the model that trains, in the era of the layer."""
    collected = are_collected(layer) if object_eras.era_of_object(layer).is_standalone else None
    return bool(layer.trainable if collected is None else collected)


def _collected_of(layer: keras.Layer) -> Iterator[keras.Layer]:
    """Yield a layer that is trainable now, and the layers inside that are."""
    if _own_flag(layer):
        yield layer
        for each in layers_of(layer):
            yield from _collected_of(each)


def _collected_in_steps(layer: keras.Layer) -> Iterator[keras.Layer]:
    """Yield a layer that is trainable now, and of a model inside those that were when it was called."""
    if not _own_flag(layer):
        return
    yield layer
    for each in layers_of(layer):
        if _WHEN_CALLED not in vars(each):
            yield from _collected_in_steps(each)
        elif _own_flag(each):
            yield from vars(each)[_WHEN_CALLED].values()


def _own_flag(layer: keras.Layer) -> bool:
    return own_trainable.own(layer, operator.attrgetter("trainable"))
