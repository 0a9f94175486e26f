"""What Keras knows while a layer is called. Private state, read in Keras 3.15.1 (`keras/src/layers/layer.py`)."""

from __future__ import annotations

import contextlib
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple

import tensorflow as tf

from parallel_compat.context_variables import set_within

if TYPE_CHECKING:
    from collections.abc import Iterator

    import keras


class LearningPhase:
    """What `K.learning_phase()` returns outside of a layer's call: the place of the flag in `K.function`'s inputs."""

    def __repr__(self) -> str:
        return "<the learning phase>"


PHASE = LearningPhase()


class Phase(NamedTuple):
    """Of the call of a layer in a model's pass, while the learning phase is fixed.

    Attributes:
        trains: whether the model trains.
        fixed: what the layer was called with when the model was made, as an integer.
    """

    trains: bool
    fixed: int


_phase: ContextVar[Phase | None] = ContextVar("phase", default=None)


def phase_of_call() -> Phase | None:
    """Return the phase of the layer's call in progress, or None where none is fixed or no model passes on values."""
    return _phase.get()


def in_phase(phase: Phase | None) -> contextlib.AbstractContextManager[None]:
    """Let this be the phase of the calls within the block."""
    return set_within(_phase, phase)


_layer: ContextVar[keras.Layer | None] = ContextVar("layer", default=None)


def layer_of_users() -> keras.Layer | None:
    """Return the innermost layer of a class of the user's whose call is in progress, or None."""
    return _layer.get()


def in_call_of(layer: keras.Layer) -> contextlib.AbstractContextManager[None]:
    """Let the call of a layer of a class of the user's be in progress within the block."""
    return set_within(_layer, layer)


# The steps in progress, the last one begun at the end. Of the process, as replicas compute their losses in threads of
# their own; and a list, as they begin and end theirs by turns.
_steps: list[_Step] = []


class _Step:
    def __init__(self, trains: bool | None, steps: bool) -> None:
        self.trains, self.steps = trains, steps


@contextlib.contextmanager
def in_step(trains: bool | None, steps: bool = False) -> Iterator[None]:
    """Let the losses within the block be those of a step that trains or does not; None: of one that predicts.

    Args:
        trains: the learning phase of the losses.
        steps: whether the weights are trained, in whatever phase.
    """
    step = _Step(trains, steps)
    _steps.append(step)
    try:
        yield
    finally:
        _steps.remove(step)


def is_in_step() -> bool:
    """Say whether a step of `fit`, `evaluate` or `predict` is in progress, or one of a single batch."""
    return bool(_steps)


def step_trains() -> bool | None:
    """Say whether the step in progress trains, or None where there is none, or one that predicts."""
    return _steps[-1].trains if _steps else None


def step_updates() -> bool:
    """Say whether the step in progress trains the weights, in whatever phase."""
    return bool(_steps) and _steps[-1].steps


def outermost() -> Any:
    """Return what stands for the outermost call in progress, or None outside of every layer's call."""
    from keras.src.backend.common import global_state

    return global_state.get_global_attribute("current_call_ctx")


def outermost_layer() -> keras.Layer | None:
    """Return the layer whose call is the outermost in progress (`CallContext.entry_layer`), or None."""
    return getattr(outermost(), "entry_layer", None)


def traced_graph() -> Any:
    """Return the graph that a function is traced in, or None where what is computed is computed at once."""
    return None if tf.executing_eagerly() else tf.compat.v1.get_default_graph()


def is_undecided() -> bool:
    """Say whether nobody said whether the layers train, as where they are called on symbolic tensors."""
    context = outermost()
    return context is None or context.get_value("training") is None


@contextlib.contextmanager
def undecided(layer: keras.Layer) -> Iterator[None]:
    """Let a layer's `call` be run within the block as if it were called on symbolic tensors, and none called it."""
    from keras.src.backend.common import global_state

    around = outermost()
    global_state.set_global_attribute("current_call_ctx", None)
    layer._get_call_context()
    try:
        yield
    finally:
        layer._clear_losses()
        global_state.set_global_attribute("current_call_ctx", around)


@contextlib.contextmanager
def within(layer: keras.Layer) -> Iterator[None]:
    """Let the layers that are called in the block be called by a layer, whose own call nobody made.

    The outermost one in progress drops the losses that Keras knows as its own from its last call, by their `id`: one
    that has been freed since may be that of a loss which another layer added a moment ago.
    """
    from keras.src.backend.common import global_state
    from keras.src.layers.layer import CallContext

    around = outermost()
    if around is None:
        global_state.set_global_attribute("current_call_ctx", CallContext(entry_layer=layer))
    try:
        yield
    finally:
        global_state.set_global_attribute("current_call_ctx", around)


@contextlib.contextmanager
def for_inner_calls() -> Iterator[None]:
    """Let what the calls within the block are told of training be for the calls inside them alone.

    Keras 3 leaves it with the call around them: after `self.dropout(x, training=True)` the layers behind train, too.
    """
    context = outermost()
    before = None if context is None else context.get_value("training")
    try:
        yield
    finally:
        if context is not None:
            context.set_value("training", before)


@contextlib.contextmanager
def telling(layer: keras.Layer, trains: Any) -> Iterator[None]:
    """Let the calls inside a layer's, which is called in the block, know whether they train; `call` is not told.

    Args:
        layer: the layer.
        trains: whether it trains; None where nobody says.
    """
    from keras.src.backend.common import global_state

    around = outermost()
    with for_inner_calls():
        try:
            if trains is not None:
                layer._get_call_context().set_value("training", trains)
            yield
        finally:
            global_state.set_global_attribute("current_call_ctx", around)


_said: ContextVar[Any] = ContextVar("said", default=None)


def said() -> Any:
    """Return the `training` that code gave a call in progress, or None where none was given, but by what trains."""
    return _said.get()


def saying(trains: Any) -> contextlib.AbstractContextManager[None]:
    """Let code have given this as `training` to the call in the block."""
    return set_within(_said, trains)


def training() -> bool | None:
    """Return whether the outermost call in progress trains, or None outside of every layer's call."""
    phase = phase_of_call()
    if phase is not None:  # its layers get something else as `training`
        return phase.trains
    context = outermost()
    if context is None:
        return None
    return bool(context.get_value("training"))
