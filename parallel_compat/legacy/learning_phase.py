"""The learning phase (`K.learning_phase()`): whether layers train or predict, as TensorFlow 1's graph held it."""

from __future__ import annotations

import contextlib
import types
from typing import TYPE_CHECKING, Any

import keras

from parallel_compat.backend import keras3
from parallel_compat.backend.keras3 import call_context, graphs_of_programs, layer_calls
from parallel_compat.backend.keras3 import layers as keras_layers
from parallel_compat.backend.keras3 import symbolic_values as values
from parallel_compat.backend.keras3.call_context import PHASE
from parallel_compat.legacy import closures
from parallel_compat.legacy.numbers import initial_weights, operations_that_draw
from parallel_compat.names.eras import Era
from parallel_compat.run import callers, object_eras

if TYPE_CHECKING:
    from collections.abc import Iterator

_set_phase: int | None = None
_in_graphs = True  # whether it was set by code of a graph's time


def learning_phase() -> Any:
    """Return whether the model trains: 0 or 1 in a layer's call or a step's loss, a stand-in for the flag elsewhere.

    In code of TensorFlow 2.2 it is what was set, or 0, wherever it is asked for, as there.
    """
    return set_or_0() if is_eager() else of_pass()


def is_eager() -> bool:
    """Say whether code of TensorFlow 2.2 asks, to which no graph told the phase: each call was told `training`."""
    in_graph = graphs_of_programs.is_in_one()
    return object_eras.trained_as(callers.era_of_caller()) is Era.TF_KERAS_2_2 and not in_graph


def set_or_0() -> int:
    """Return what `set_learning_phase` fixed, or 0."""
    return _set_phase or 0


def of_pass() -> Any:
    """Return 0 or 1 in a layer's call or a step's loss, a stand-in for the flag elsewhere."""
    phase = call_context.phase_of_call()
    if phase is not None:
        return phase.fixed
    training = call_context.training()
    if _set_phase is not None and (training is None or _in_graphs):
        return _set_phase
    if call_context.is_undecided():  # as in the call of a layer or a model by a loss
        trains = call_context.step_trains()
        training = training if trains is None else trains
    return PHASE if training is None else int(training)


def set_learning_phase(value: int) -> None:
    """Fix the learning phase of the layers that are called on symbolic tensors from here on.

    Layers that a model already has predict, whatever the model does: Keras 2 did not feed the flag any
    more once it was fixed, and its default was 0. In code of TensorFlow 2.2, where `fit` and `predict` said which it
    is, it counts for models that are called on arrays alone.

    Args:
        value: 0 or 1.
    """
    global _set_phase, _in_graphs
    if value not in (0, 1):
        raise ValueError(f"Expected `value` to be 0 or 1. Received: value={value!r}")
    _set_phase, _in_graphs = int(value), object_eras.trained_as(callers.era_of_caller()) is not Era.TF_KERAS_2_2
    if _in_graphs:
        values.fix_training(bool(value))
    else:
        values.set_default_training(bool(value))


@contextlib.contextmanager
def learning_phase_scope(value: int) -> Iterator[None]:
    """Fix the learning phase within a block; after it, it is what it was.

    Args:
        value: 0 or 1.
    """
    before = _set_phase
    set_learning_phase(value)
    try:
        yield
    finally:
        if before is None:
            forget()
        else:
            set_learning_phase(before)


def fixed_learning_phase() -> int | None:
    """Return what `set_learning_phase` fixed, or None."""
    return _set_phase


def never_trains(training: Any) -> bool:
    """Say whether a layer that is called on symbolic tensors computes what it does to predict, whatever the model does.

    Args:
        training: what the layer is called with; False stands for the default of most layers, and 0 for False.
    """
    if training is True or training == 1:
        return False
    return _set_phase == 0 or (type(training) is int and training == 0)


def forget() -> None:
    """Let the learning phase be what each model does (`clear_session`)."""
    global _set_phase
    _set_phase = None
    values.fix_training(None)
    values.set_default_training(None)


@keras.saving.register_keras_serializable(package="parallel_compat")
class InTrainPhase(keras.layers.Layer):  # type: ignore[misc]  # Keras carries no types
    """The first of two tensors while the model trains, the second otherwise: `K.in_train_phase` in a model's graph."""

    def __init__(self, **keywords: Any) -> None:
        super().__init__(autocast=False, **keywords)
        self.supports_masking = True

    def call(self, inputs: Any, training: bool | None = None) -> Any:
        """Choose."""
        return inputs[0] if training else inputs[1]

    def compute_output_spec(self, inputs: Any, training: bool | None = None) -> Any:
        """Return the shape and dtype of what is chosen."""
        return keras.KerasTensor(inputs[1].shape, inputs[1].dtype)

    def compute_mask(self, inputs: Any, previous_mask: Any = None) -> None:
        """There is no mask."""
        return


def choose_symbolically(x: Any, alt: Any, symbolic: keras.KerasTensor) -> Any:
    """Return a tensor of a model's graph that is `x` while the model trains and `alt` otherwise.

    Args:
        x: a symbolic tensor, or a value.
        alt: a symbolic tensor, or a value.
        symbolic: the one of the two whose dtype the other gets.
    """
    both = [each if isinstance(each, keras.KerasTensor) else _constant(each, symbolic) for each in (x, alt)]
    return InTrainPhase()(both)


def _constant(value: Any, like: Any) -> Any:
    return keras.ops.zeros_like(like) + keras.ops.cast(value, like.dtype)


# Layers that compute something else in training, and what must be set for it.
_WITH_NOISE = {
    "Dropout": "rate",
    "SpatialDropout1D": "rate",
    "SpatialDropout2D": "rate",
    "SpatialDropout3D": "rate",
    "GaussianDropout": "rate",
    "AlphaDropout": "rate",
    "GaussianNoise": "stddev",
}


def uses_phase(tensor_or_model: Any) -> bool:
    """Say whether Keras 2.2.4 had noted that what it computes depends on the learning phase.

    That is `_uses_learning_phase` of a symbolic tensor, and `uses_learning_phase` of a model. `K.in_train_phase` and
    layers such as `Dropout` noted it on what they gave, and every layer passed it on from its inputs; operations of
    TensorFlow did not, nor did a model that `TimeDistributed` called.

    Args:
        tensor_or_model: a symbolic tensor, or a functional model.
    """
    if isinstance(tensor_or_model, keras.Model):
        waiting = list(getattr(tensor_or_model, "outputs", None) or ())  # a subclass has none
        if not waiting:
            notes = layer_calls.notes_phase(tensor_or_model)
            return any(map(layer_uses_phase, tensor_or_model.layers)) if notes is None else notes
    else:
        waiting = [tensor_or_model]
    seen = set()
    while waiting:
        tensor = waiting.pop()
        if layer_calls.says_uses_phase(tensor):  # as code of the user's set it
            return True
        node = values.node_of(tensor)
        if node is None or id(node) in seen:
            continue
        seen.add(id(node))
        if not _is_said(node.arguments.kwargs.get("training")) and layer_uses_phase(node.operation, node):
            return True
        waiting += node.input_tensors
    return False


def feeds_phase(model: keras.Model) -> bool:
    """Say whether Keras 2.2.4 fed the learning phase when it trained a model: only where an output was noted to use it.

    Where it did not, layers computed in training what they do to predict: a `BatchNormalization` in the middle of a
    model in `TimeDistributed`, a layer of one's own that goes on after `K.in_train_phase`. Read in Keras 2.2.4's
    `keras/engine/training.py` and `keras/engine/base_layer.py`.

    Args:
        model: a functional model.

    Returns:
        True also for a model none of whose layers can ask for the phase.
    """
    inside = [layer for layer in keras3.all_layers(model) if layer is not model]
    return uses_phase(model) or not any(
        _is_of_ones_own(layer) or layer_uses_phase(layer) for layer in (*inside, *keras3.layers_of_losses(model))
    )


def look_at_output(model: keras.Model, inputs: Any) -> None:
    """Note whether what a model of a class of the user's gives is noted to depend on the phase.

    Args:
        model: a model that is about to train.
        inputs: what it is called on.
    """
    if keras_layers.is_of_graph(model) or layer_calls.notes_phase(model) is not None:
        return
    symbolic = keras.tree.map_structure(lambda x: keras.KerasTensor((None, *x.shape[1:]), x.dtype), inputs)
    if model.built:
        _call_to_see(model, (symbolic,), {})
    else:  # its weights are made on the way, and seeds are drawn, as in the first call in Keras 2.2.4
        with operations_that_draw.being_built() as graph:
            layer_calls.call_abstractly(model, symbolic)
        operations_that_draw.note(model, graph)


def phase_of_step(model: keras.Model, trains: bool) -> bool | None:
    """Return the phase of losses, metrics and regularizers in a step of a model, or None where they had none.

    In a graph it was what was fed; TensorFlow 2.2 computed them in no phase.

    Args:
        model: the model that is trained or evaluated.
        trains: whether it is trained.
    """
    # Here, as the parallel model comes in, and with it what it sets on Keras, where something is trained.
    from parallel_compat.parallelize_model import template_of

    era = object_eras.era_of_object(model)
    if not era.has_graphs:
        return None
    return trains and (not era.is_standalone or uses_phase(template_of(model)))


def layer_uses_phase(layer: Any, node: Any = None) -> bool:
    """Say whether a layer notes on what it gives that it depends on the learning phase.

    Args:
        layer: a layer, or another operation.
        node: its call on symbolic tensors, if it is one of those that is meant.
    """
    if isinstance(layer, keras.Model):
        return uses_phase(layer)
    # A layer of one's own may say so itself.
    return bool(getattr(layer, "uses_learning_phase", False)) or _call_notes_phase(layer, node)


def _call_notes_phase(layer: Any, node: Any = None) -> bool:
    """Say whether `call` alone notes it: that of a model passes nothing on, what its last layers give stands."""
    if isinstance(layer, InTrainPhase):
        return True
    if isinstance(layer, keras.Model):
        nodes = [values.node_of(output) for output in getattr(layer, "outputs", None) or ()]
        return any(_call_notes_phase(each.operation, each) for each in nodes if each is not None)
    if _is_of_ones_own(layer):
        notes = layer_calls.notes_phase(layer)
        if notes is None and _may_ask_for_phase(layer):  # its shapes were known without a call
            if node is not None:
                _call_to_see(layer, node.arguments.args, node.arguments.kwargs)
            notes = layer_calls.notes_phase(layer)
            return True if notes is None else notes
        if notes is not None:
            return notes
    asks = _asks_itself(layer)
    if asks is not None:
        return asks
    if isinstance(layer, keras.layers.TimeDistributed):
        return node is None or _each_step_notes_phase(layer.layer, node.input_tensors[0])
    return _parts_note_phase(layer)


def _parts_note_phase(layer: Any) -> bool:
    if any(getattr(layer, name, None) for name in ("dropout", "recurrent_dropout")):
        return True
    parts = (getattr(layer, name, None) for name in ("layer", "forward_layer", "backward_layer", "cell"))
    return any(layer_uses_phase(part) for part in parts if isinstance(part, keras.layers.Layer))


def _asks_itself(layer: Any) -> bool | None:
    """Say whether `call` of one of Keras's layers chooses by the phase, or None where it is none that ever does."""
    if isinstance(layer, keras.layers.BatchNormalization):
        return True
    noise = next((_WITH_NOISE[kind.__name__] for kind in type(layer).__mro__ if kind.__name__ in _WITH_NOISE), None)
    return None if noise is None else bool(getattr(layer, noise))


def noting(layer: Any, outputs: Any) -> Any:
    """Return what `call` of one of Keras's layers gave, saying that it depends on the phase where it chose by it.

    A layer of the user's may call `call` (`self.layer.call(x)`, `super().call(x)`), and not the layer.

    Args:
        layer: the layer, which was not told whether it trains.
        outputs: what it gave.
    """
    if not call_context.is_undecided() or fixed_learning_phase() is not None:
        return outputs
    asks = _asks_itself(layer)
    chose = _parts_note_phase(layer) if asks is None else asks
    return keras.tree.map_structure(layer_calls.noting_phase, outputs) if chose else outputs


def _is_said(training: Any) -> bool:
    """Say whether code gave `training`; False stands for the default of most layers, and a number for False."""
    return training is True or training is PHASE or (isinstance(training, int) and training is not False)


def _is_of_ones_own(layer: Any) -> bool:
    """Say whether what `call` computes is code of the user's."""
    if isinstance(layer, keras.layers.Lambda):
        return True
    if isinstance(layer, keras.layers.Activation):
        return not _is_of_a_library(getattr(layer.activation, "__module__", None))
    kind = next((each for each in type(layer).__mro__ if "call" in vars(each)), None)
    return kind is not None and not _is_of_a_library(kind.__module__)


def _is_of_a_library(module: str | None) -> bool:
    return (module or "").partition(".")[0] in ("keras", "parallel_compat")


_ASKS = {"learning_phase", "in_train_phase", "in_test_phase", "BatchNormalization", *_WITH_NOISE}


_EMPTY = types.CellType()


def _may_ask_for_phase(layer: Any) -> bool:
    """Say whether a layer of one's own may ask for the phase.

    It does so by a layer that it holds or is derived from, or by a name of its code or of a function that this calls.
    """
    if any(kind.__name__ in _ASKS for kind in type(layer).__mro__):
        return True
    if any(map(layer_uses_phase, keras3.held_layers(layer))):
        return True
    own = [kind for kind in type(layer).__mro__ if not _is_of_a_library(kind.__module__)]
    functions = [each for kind in own for each in vars(kind).values()]
    functions += [getattr(layer, "function", None), getattr(layer, "activation", None)]
    seen = set()
    while functions:
        function = functions.pop()
        code = getattr(function, "__code__", None)
        if code is None or code in seen:
            continue
        seen.add(code)
        names = set(closures.names_in(code))
        if names & _ASKS:
            return True
        functions += [function.__globals__[name] for name in names if name in function.__globals__]
        functions += [cell.cell_contents for cell in function.__closure__ or () if cell != _EMPTY]
    return False


def _each_step_notes_phase(layer: Any, steps: keras.KerasTensor) -> bool:
    """Say whether `TimeDistributed` passed on what a layer notes of each step."""
    if steps.shape[0] is not None:
        return False  # it made a recurrent loop of batches whose size is known
    if _is_of_ones_own(layer) and layer_calls.notes_phase(layer) is None:
        _call_to_see(layer, (keras.KerasTensor((None, *steps.shape[2:]), steps.dtype),), {})
    return _call_notes_phase(layer)


def _call_to_see(layer: Any, args: Any, keywords: dict[str, Any]) -> None:
    """Call a layer on symbolic tensors, so that it and the layers in it keep what they note."""
    with initial_weights.drawing_nothing(), contextlib.suppress(Exception):  # told where the model calls it
        layer_calls.call_abstractly(layer, *args, **keywords)
