"""The names of weights as old code prints and compares them: `dense_1/kernel:0`, where Keras 3 says `kernel`.

They are the names of TensorFlow's variables: the layer's name, where there is one the direction of a Bidirectional,
in TensorFlow 2.2 the cell of a recurrent layer, then the weight, and the number of the operation's output.

The layer's name is that of the scope in which it was first called. Each call in a graph opened one, and a graph gives
no name twice: a layer `last` of a model that is made again, cloned or loaded is called in `last_1`, until the session
is cleared. A layer called twice takes two: `dense` and `dense_1`, and the next layer, `dense_1`, has `dense_1_1`.
"""

from __future__ import annotations

import functools
import re
import threading
from typing import TYPE_CHECKING, Any, NamedTuple

import keras

from parallel_compat.backend import keras3
from parallel_compat.backend.keras3 import patch_points
from parallel_compat.names.eras import Era
from parallel_compat.run import callers, object_eras

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_SCOPES = "_parallel_compat_scopes"
_SCOPE = "_parallel_compat_scope"  # of a layer: that of its first call
# Of a Sequential, whose layers Keras 3 calls again with each that is added.
_CALLED = "_parallel_compat_called_layers"
_CELL = "_parallel_compat_cell_name"
_GIVEN = "_parallel_compat_name_from_folder"
_WITHIN = "_parallel_compat_name_within_layer"
# Where a weight has its name with slashes.
_SLASHED = "_parallel_compat_name_with_slashes"
_UNNAMED = "_parallel_compat_unnamed_weights"
_CELLS = ("lstm_cell", "gru_cell", "simple_rnn_cell")
_calls = threading.local()


class _Scopes(NamedTuple):
    """Where a weight was made: layers from the outermost, and whether each is a cell; which of several cells it is.

    `unnamed` is the number of such weights that the layer made before; None of one that was given a name.
    """

    outermost: Any
    names: tuple[tuple[str, bool], ...]
    cell: int
    depthwise: bool
    unnamed: int | None


def call(original: Callable[..., Any]) -> Callable[..., Any]:
    """`Layer.__call__`, which opens a scope.

    Args:
        original: that of Keras 3.
    """

    @functools.wraps(original)
    def __call__(self: Any, *given: Any, **keywords: Any) -> Any:
        era = object_eras.era_of_object(self)
        # Keras 2.2.4 ran the `call` of a model that is built by its data, in no scope.
        by_data = era.is_standalone and isinstance(self, keras.Model) and not _is_symbolic(given, keywords)
        if era is Era.TODAY or by_data:
            return original(self, *given, **keywords)
        calls = vars(_calls).setdefault("layers", [])
        if not calls:
            _open_scope(self, given, keywords)
        calls.append(self)
        try:
            return original(self, *given, **keywords)
        finally:
            calls.pop()

    return __call__


def _is_symbolic(given: Any, keywords: Any) -> bool:
    return patch_points.any_symbolic([given, *keywords.values()])


def _open_scope(layer: Any, given: Any, keywords: Any) -> None:
    """Name the scope of a call that is in no other layer's."""
    symbolic = _is_symbolic(given, keywords)
    # Before TensorFlow 2 there was one graph for all; a call that makes no weights leaves no trace here.
    if not symbolic and (layer.built or not object_eras.era_of_object(layer).has_graphs):
        return
    for each in keras3.layers_being_built():
        if isinstance(each, keras.Sequential):
            called = vars(each).setdefault(_CALLED, set())
            if id(layer) in called:
                return
            called.add(id(layer))
    scope = _unique(layer.name)
    if _SCOPE not in vars(layer):
        vars(layer)[_SCOPE] = scope
        if isinstance(layer, (keras.layers.Wrapper, keras.layers.Bidirectional, keras.layers.RNN)):
            # From its config, what it holds was built before it, in no scope of it.
            for inner in _held_by(layer):
                _rescope(inner, [layer])


def _unique(name: str) -> str:
    """Return the next name of a scope, as `tf.Graph.unique_name` does."""
    in_use = keras3.names_in_use()
    key = name.lower()
    number = in_use.get(key, 0)
    in_use[key] = number + 1
    if not number:
        return name
    while f"{key}_{number}" in in_use:
        number += 1
    in_use[f"{key}_{number}"] = 1
    return f"{name}_{number}"


def _held_by(layer: Any) -> list[Any]:
    if isinstance(layer, keras.layers.Bidirectional):
        return [layer.forward_layer, layer.backward_layer]
    if isinstance(layer, keras.layers.Wrapper):
        return [layer.layer]
    if isinstance(layer, keras.layers.RNN):
        return [layer.cell]
    return list(layer.cells) if isinstance(layer, keras.layers.StackedRNNCells) else []


def _rescope(layer: Any, outer: list[Any]) -> None:
    for weight in (*keras3.own_weights(layer)[0], *keras3.own_weights(layer)[1]):
        known: _Scopes | None = getattr(weight, _SCOPES, None)
        _note(weight, [*outer, layer], None if known is None else known.unnamed)
    for inner in _held_by(layer):
        _rescope(inner, [*outer, layer])


def remember(weight: Any, layer: Any, *, named: bool = True, name: str | None = None) -> None:
    """Note whose a weight is.

    Args:
        weight: what `add_weight` returned.
        layer: the layer that added it.
        named: whether it was given a name.
        name: the name that it was given, where that may have slashes, which Keras 3's name has not.
    """
    if name is not None and "/" in name:
        setattr(weight, _SLASHED, name)
    layers = keras3.layers_being_built()
    unnamed = None
    if not named:
        unnamed = vars(layer).get(_UNNAMED, 0)
        vars(layer)[_UNNAMED] = unnamed + 1
    _note(weight, layers if layers and layers[-1] is layer else [layer], unnamed)


def remember_made(layer: Any, weights: Iterable[Any]) -> None:
    """Note those of the weights of a layer that it made without `add_weight`.

    Args:
        layer: the layer, which is being built.
        weights: variables of Keras around those that it made.
    """
    for weight in weights:
        if not hasattr(weight, _SCOPES):
            remember(weight, layer, named=not re.fullmatch(r"Variable(_\d+)?", weight.name))


def _note(weight: Any, layers: list[Any], unnamed: int | None = None) -> None:
    names: list[tuple[str, bool]] = []
    number, outer, outermost = 0, None, None
    for each in layers:
        cells = getattr(outer, "cells", None) if isinstance(outer, keras.layers.StackedRNNCells) else None
        is_cell = cells is not None or (outer is not None and each is getattr(outer, "cell", None))
        if cells is not None:
            number = next((at for at, cell in enumerate(cells) if cell is each), 0)
        # TimeDistributed built its layer without a scope, and so did layers of the kind of ConvLSTM2D their cell.
        without = isinstance(outer, keras.layers.TimeDistributed) or (is_cell and not _has_scope(each))
        # A model has a scope where it is called, not where it calls its layers to be made.
        if not without and (not isinstance(each, keras.Model) or each in vars(_calls).get("layers", ())):
            names.append((getattr(each, _CELL, each.name), is_cell))
            outermost = outermost or each
        outer = each
    of_depthwise = isinstance(layers[-1], keras.layers.DepthwiseConv2D)
    setattr(weight, _SCOPES, _Scopes(outermost, tuple(names), number, of_depthwise, unnamed))


def within(weight: Any, scope: str, name: str) -> None:
    """Note that a layer made a weight in a scope of its own, and how it named it there.

    Args:
        weight: what `add_weight` returned.
        scope: the name of the scope.
        name: the weight's name in it.
    """
    setattr(weight, _WITHIN, (scope, name))


def give(weight: Any, name: str) -> None:
    """Let a weight have the name that it was saved with."""
    setattr(weight, _GIVEN, name)


def _has_scope(cell: Any) -> bool:
    return type(cell).__name__ != "ConvLSTMCell"


def count_cell(layer: Any, era: Era) -> None:
    """Number the cell of a recurrent layer as TensorFlow 2.2 did; Keras 3 calls every one `lstm_cell`.

    Args:
        layer: a layer that has just been made.
        era: that of the code which made it.
    """
    if era is Era.TF_KERAS_2_2 and layer.name in _CELLS:
        before = keras.backend.get_uid(f"{layer.name}_of_layer") - 1
        setattr(layer, _CELL, f"{layer.name}_{before}" if before else layer.name)


def number_forward_first(original: Any) -> Any:
    """`Bidirectional.from_config`: TensorFlow 2.2 made the forward layer anew before the backward one.

    Keras 3's config holds the backward layer, which is made before; that of TensorFlow 2.2 held one that was given.
    It also builds the layer that it derives the forward one from, which draws weights that nobody has: in no era.
    """

    def from_config(cls: Any, config: Any, *given: Any, **keywords: Any) -> Any:
        if callers.era_of_caller() is not Era.TODAY:
            config = {name: _not_built(value) for name, value in config.items()}
        layer = original.__func__(cls, config, *given, **keywords)
        cells = [getattr(each, "cell", None) for each in (layer.forward_layer, layer.backward_layer)]
        names = [getattr(cell, _CELL, None) for cell in cells]
        numbers = [_number(name) for name in names if name is not None]
        # One that was given, and not derived from the forward layer, was made before it.
        forward, backward = layer.forward_layer.name, layer.backward_layer.name
        is_derived = forward.removeprefix("forward_") == backward.removeprefix("backward_")
        if is_derived and len(numbers) == 2 and numbers != sorted(numbers):
            for cell, name in zip(cells, reversed(names), strict=True):
                setattr(cell, _CELL, name)
        return layer

    return classmethod(from_config)


def _not_built(value: Any) -> Any:
    """Return a config without what its layer is built of."""
    if not isinstance(value, dict):
        return value
    return {name: each for name, each in value.items() if name != "build_config"}


def _number(name: str) -> int:
    number = name.rpartition("_")[2]
    return int(number) if number.isdigit() else 0


def in_era(weight: Any, name: str, era: Era) -> str:
    """Return a weight's name as an era spelled it.

    Args:
        weight: the weight.
        name: its name in Keras 3.
        era: the era.
    """
    given: str | None = getattr(weight, _GIVEN, None)
    if given is not None:
        return given
    scopes: _Scopes | None = getattr(weight, _SCOPES, None)
    if scopes is None:
        return name if ":" in name else f"{name}:0"
    name = getattr(weight, _SLASHED, name)
    within: tuple[str, str] | None = getattr(weight, _WITHIN, None)
    if within is not None and era is not Era.TF_KERAS_2_2:  # made in no scope but its own
        return "/".join([scopes.names[-1][0], *within]) + ":0"
    if within is not None:
        name = within[1]
    if scopes.depthwise and name == "kernel":
        name = "depthwise_kernel"
    if scopes.unnamed is not None:  # TensorFlow told equal names apart in a graph alone
        name = f"Variable_{scopes.unnamed}" if scopes.unnamed and era is not Era.TF_KERAS_2_2 else "Variable"
    with_cells = era is Era.TF_KERAS_2_2
    if scopes.cell and not with_cells:
        name = f"{name}_{scopes.cell}"  # the cells had one scope, in which TensorFlow told the names apart
    names = [scope for scope, is_cell in scopes.names if with_cells or not is_cell]
    first = getattr(scopes.outermost, _SCOPE, None)
    if names and first is not None:
        names[0] = first
    return "/".join([*names, f"{name}:0"])
