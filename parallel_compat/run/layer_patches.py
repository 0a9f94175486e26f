"""What `run` puts on Keras's layers so that they are named, called and wrapped as in Keras 2."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from parallel_compat.backend.keras3 import layer_calls, patch_points
from parallel_compat.names.eras import Era
from parallel_compat.run import assigned_attributes, callers, object_eras

if TYPE_CHECKING:
    from collections.abc import Callable

    from parallel_compat.backend.patches import Patches


def put_on(patches: Patches, keras: Any, looking_alike: Callable[[Any], Callable[[Any], Any]]) -> None:
    """Put everything on the classes.

    Args:
        patches: where it is undone.
        keras: the module.
        looking_alike: lets what a function returns pass for what it was made of.
    """
    from parallel_compat.legacy import recurrent, time_distributed

    layers = keras.layers
    assigned_attributes.put_on(patches, keras)
    for points, why in (
        (layer_calls.of_names_with_slashes(), "a name may have a `/`"),
        (layer_calls.of_numbers_among_tensors(), "numbers among tensors become tensors"),
        (layer_calls.of_dropout_masks(), "stacked cells with constants"),
    ):
        for owner, name, wrap in points:
            patches.wrap(owner, name, looking_alike(wrap), why=why)

    patches.wrap(layers.Layer, "__call__", looking_alike(_called_without_training), why="`training=False` holds")
    constants, stack = "constants of recurrent layers", "cells that are no layers"
    patches.wrap(layers.RNN, "__init__", recurrent.init_with_any_cell, why=stack)
    patches.wrap(layers.StackedRNNCells, "__init__", recurrent.init_of_stack, why=stack)
    patches.wrap(layers.StackedRNNCells, "state_size", _flat_sizes, why="the sizes of all states, one after the other")
    patches.wrap(layers.RNN, "call", recurrent.call_with_constants, why=constants)
    patches.wrap(layers.RNN, "inner_loop", recurrent.loop_with_constants, why=constants)
    patches.wrap(layers.RNN, "build", recurrent.build_with_constants, why=constants)
    patches.wrap(
        layers.Bidirectional,
        "__init__",
        lambda original: recurrent.init_of_bidirectional(original, _repeats),
        why="what a masked step of Bidirectional gives",
    )
    patches.wrap(layers.Bidirectional, "call", recurrent.call_of_bidirectional, why=constants)
    patches.wrap(layers.Bidirectional, "build", recurrent.build_of_bidirectional, why=constants)
    for kind in (layers.RNN, layers.Bidirectional):
        patches.wrap(kind, "__call__", recurrent.call_with_list, why="states and constants in a list")
        patches.wrap(kind, "get_config", recurrent.config_with_constants, why=constants)
    for name in ("build", "call", "compute_mask"):
        patches.wrap(layers.TimeDistributed, name, getattr(time_distributed, name), why="time is folded into the batch")


def _flat_sizes(original: Any) -> property:
    def state_size(self: Any) -> Any:
        sizes = original.fget(self)
        frame = callers.user_frame(sys._getframe(1))
        if frame is None or callers.era_of(frame) is not Era.KERAS_2_2_4:
            return sizes
        return tuple(size for cell in sizes for size in (cell if isinstance(cell, (list, tuple)) else [cell]))

    return property(state_size)


def _called_without_training(original: Any) -> Any:
    """Let the user's `layer(x, training=False)` on a symbolic tensor hold, whatever the model is told.

    Keras 3 notes the default of `call`, False for most layers, as if it had been given, and does not tell the two
    apart; a number is none of them (`backend.keras3.symbolic_values`).
    """

    def __call__(self: Any, *given: Any, **keywords: Any) -> Any:
        if keywords.get("training") is False and given and patch_points.any_symbolic(given[0]):
            frame = callers.user_frame(sys._getframe(1))
            if frame is not None and callers.era_of(frame) is not Era.TODAY:
                keywords["training"] = 0
        return original(self, *given, **keywords)

    return __call__


def _repeats(layer: Any) -> bool:
    return object_eras.era_of_object(layer) is Era.KERAS_2_2_4  # tf.keras 1.15 gives zeros, as today
