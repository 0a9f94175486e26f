"""What Keras knows while a layer is called. Private state, read in Keras 3.15.1 (`keras/src/layers/layer.py`)."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from keras.src.backend.common import global_state


class LearningPhase:
    """What `K.learning_phase()` returns outside of a layer's call: the place of the flag in `K.function`'s inputs."""

    def __repr__(self) -> str:
        return "<the learning phase>"


PHASE = LearningPhase()


def traced_graph() -> Any:
    """Return the graph that a function is traced in, or None where what is computed is computed at once."""
    return None if tf.executing_eagerly() else tf.compat.v1.get_default_graph()


def traced_graphs() -> list[Any]:
    """Return the graph that a function is traced in, and those around it, from the inside out."""
    found, graph = [], traced_graph()
    while graph is not None:
        found.append(graph)
        graph = getattr(graph, "outer_graph", None)
    return found


def training() -> bool | None:
    """Return whether the outermost call in progress trains, or None outside of every layer's call."""
    context = global_state.get_global_attribute("current_call_ctx")
    return None if context is None else bool(context.get_value("training"))
