"""Updates of variables, which Keras 2 collected while a layer was called and ran with each training step."""

from __future__ import annotations

from typing import Any

import keras

from parallel_compat.backend.keras3 import call_context
from parallel_compat.legacy import kept_numbers, pending_updates
from parallel_compat.legacy.graph import Update, is_stateful
from parallel_compat.legacy.numbers.collected_updates import is_updated
from parallel_compat.run import object_eras


def add_update(layer: Any, updates: Any = None, inputs: Any = None) -> None:
    """Run updates with each training step of a layer whose `call` is running (`Layer.add_update`).

    Those of a layer that says `stateful = True` are run in `evaluate` and `predict` too.

    Args:
        layer: the layer; a frozen one that is not stateful is left alone.
        updates: pairs (variable, new value), which tf.keras did not assign, or functions; one or a list. What
            `K.update` returned in a call that trains has been assigned.
        inputs: not used: what an update depends on is what it was computed from.
    """
    numbers = [each for each in keras.tree.flatten(updates) if isinstance(each, (int, float))]
    if numbers and call_context.training() is None:
        kept_numbers.keep_updates(layer, numbers, inputs)
        return
    stateful = is_stateful(layer) and call_context.is_in_step()
    if updates is None or not (stateful or (call_context.training() is not False and is_updated(layer))):
        return
    for each in updates if isinstance(updates, list) else [updates]:
        if isinstance(each, Update):  # nothing but a stateful layer's has waited
            each.assign(each.value)
        elif isinstance(each, tuple) and len(each) == 2:
            if object_eras.era_of_object(layer).is_tf_keras:
                continue  # which made one tensor of both
            pending_updates.assign_after(*each)
        elif pending_updates.ask_for(each):
            continue
        elif callable(each) and not hasattr(each, "shape"):
            each()
