"""`model.summary()` in the lines of its time, for the terminal and for `print_fn`, which is called with each of them.

Keras 3 draws a table of other characters and calls `print_fn` once with all of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import keras

from parallel_compat.backend.keras3 import layers
from parallel_compat.legacy import compiled_weights, made_weights, nodes, weight_order
from parallel_compat.legacy.utils import count_params
from parallel_compat.names.eras import Era
from parallel_compat.run import object_eras

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_COLUMNS = ("Layer (type)", "Output Shape", "Param #", "Connected to")


def print_summary(
    model: Any,
    line_length: int | None = None,
    positions: Sequence[float] | None = None,
    print_fn: Callable[[str], Any] | None = None,
) -> None:
    """Print what a model is made of, in the lines of the model's era.

    Args:
        model: the model.
        line_length: of the rules between the layers.
        positions: where the columns end, in characters or as parts of a line.
        print_fn: called with each line instead of `print`.
    """
    say = print if print_fn is None else print_fn
    era = object_eras.era_of_object(model)
    if era is Era.TODAY:
        model.summary(line_length=line_length, positions=positions, print_fn=print_fn)
        return
    if not model.built:
        raise made_weights.missing(model)
    for line in _lines(model, era, line_length, positions):
        say(line)


def _lines(model: Any, era: Era, line_length: int | None, positions: Sequence[float] | None) -> Iterator[str]:
    calls = [call for of_depth in _calls_by_depth(model) for call in of_depth]
    connected = not _is_a_chain(model)
    length = line_length or (98 if connected else 65)
    places = list(positions or ((0.33, 0.55, 0.67, 1.0) if connected else (0.45, 0.85, 1.0)))
    ends = [int(length * place) if places[-1] <= 1 else int(place) for place in places]
    if era is not Era.KERAS_2_2_4:
        yield f'Model: "{model.name}"'
    yield "_" * length
    yield _row(_COLUMNS[: 4 if connected else 3], ends)
    yield "=" * length
    parts = weight_order.layers_with_metrics(model, era) if weight_order.metrics_among_layers(model, era) else None
    listed = model.layers if parts is None else parts
    for number, layer in enumerate(listed, start=1):
        is_metric = isinstance(layer, keras.metrics.Metric)
        shape = "multiple" if is_metric else _output_shape(layer, era)
        fields = [f"{layer.name} ({_class_name(layer)})", shape, count_params(_weights(layer, era))]
        if connected:
            first, *others = ([] if is_metric else list(_connections(layer, calls))) or [""]
            yield _row([*fields, first], ends)
            for other in others:
                yield _row(["", "", "", other], ends)
        else:
            yield _row(fields, ends)
        yield ("=" if number == len(listed) else "_") * length
    trainable, frozen = count_params(_trainable(model, era)), count_params(_frozen(model, era))
    yield f"Total params: {trainable + frozen:,}"
    yield f"Trainable params: {trainable:,}"
    yield f"Non-trainable params: {frozen:,}"
    yield "_" * length


def _row(fields: Sequence[Any], ends: Sequence[int]) -> str:
    line = ""
    for field, end in zip(fields, ends, strict=False):
        line = f"{line[:-1]} {field}" if line else str(field)
        line = line[:end].ljust(end)
    return line


def _calls_by_depth(model: Any) -> list[list[Any]]:
    """List the calls of a model's layers; those that compute masks are no layers' calls."""
    own = {id(layer) for layer in model.layers}
    found = [[call for call in calls if id(call.operation) in own] for calls in layers.nodes_by_depth(model)]
    return [calls for calls in found if calls]


def _is_a_chain(model: Any) -> bool:
    """Say whether each layer follows another, so that the order says what is connected."""
    if type(model).__name__ == "Sequential":
        return True
    by_depth = _calls_by_depth(model)
    if any(len(calls) > 1 or len(nodes.input_tensors(calls[0])) > 1 for calls in by_depth):
        return False
    own = {id(calls[0]) for calls in by_depth}
    return all(sum(id(call) in own for call in layers.calls_of(layer)) < 2 for layer in model.layers)


def _connections(layer: Any, calls: list[Any]) -> Iterator[str]:
    """Yield where the inputs of a layer come from: `dense_1[0][0]`, the first output of the layer's first call."""
    relevant = {id(call) for call in calls}
    for call in layers.calls_of(layer):
        if id(call) in relevant:
            for tensor in nodes.input_tensors(call):
                maker, node, number = nodes.place_of(tensor)
                yield f"{maker.name}[{node}][{number}]"


def _class_name(layer: Any) -> str:
    # Keras 2 had one class for functional models and those of subclasses.
    name = type(layer).__name__
    return "Model" if name == "Functional" else name


def _output_shape(layer: Any, era: Era) -> Any:
    """Return what a layer gave in its calls, if it is the same in all of them."""
    found = [[tuple(tensor.shape) for tensor in call.output_tensors] for call in nodes.inbound_nodes(layer)]
    if not found and era.is_standalone:
        found = _of_numbers(layer)
    if not found or any(shapes != found[0] for shapes in found):
        return "multiple"
    of_input = era.is_tf_keras and isinstance(layer, (keras.layers.InputLayer, nodes.InputLayer))
    return found[0] if len(found[0]) > 1 or of_input else found[0][0]


def _of_numbers(layer: Any) -> list[list[tuple[int | None, ...]]]:
    """Return what a layer gave that was called on numbers alone, where Keras 2.2.4 had placeholders for them."""
    shape = (layer.get_build_config() or {}).get("input_shape")
    if not shape:
        return []
    try:
        given = layer.compute_output_shape((None, *shape[1:]))
    except Exception:  # a layer of the user's that says nothing of it
        return []
    return [[given]] if all(size is None or isinstance(size, int) for size in given) else []


def _trainable(model: Any, era: Era) -> Any:
    """Return the weights that train: before TensorFlow 2.2 those that `compile` saw."""
    seen = None if era is Era.TF_KERAS_2_2 else compiled_weights.seen(model)
    return model.trainable_weights if seen is None else seen


def _frozen(model: Any, era: Era) -> Any:
    with_metrics = weight_order.have_metrics(model, era)
    return weight_order.by_kind(model, era)[1] if with_metrics else model.non_trainable_weights


def _weights(layer: Any, era: Era) -> Any:
    """Return the weights of a layer, and what the metrics count with that it holds."""
    is_metric = isinstance(layer, keras.metrics.Metric)
    return weight_order.weights(layer, era) if is_metric or weight_order.have_metrics(layer, era) else layer.weights
