"""Recurrent layers as they were called in Keras 2: states and constants in a list, constants of cells, cells that are
no layers.

Each function takes what stands in Keras 3's class and returns what shall stand there while legacy names are on.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
from typing import TYPE_CHECKING, Any

import keras
import numpy as np
import tensorflow as tf

from parallel_compat.backend import keras3
from parallel_compat.backend.keras3 import call_context
from parallel_compat.backend.keras3.shallow_copies import shallow_copy
from parallel_compat.legacy import cell_structures, execution, op_layers, own_trainable, ragged
from parallel_compat.legacy.cells import AbstractRNNCell
from parallel_compat.legacy.utils import has_arg
from parallel_compat.names.eras import Era
from parallel_compat.run import object_eras

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_COUNT = "_parallel_compat_num_constants"
_WRAPPED = "_parallel_compat_wrapped"  # of a `Bidirectional`
_CONSTANTS = "_parallel_compat_constants"
_SHAPES = "_parallel_compat_shapes_of_constants"
_OF_BOTH = "_parallel_compat_constants_of_both"
_REVERSED = "_parallel_compat_reverse_state_order"


@keras.saving.register_keras_serializable(package="parallel_compat")
class CellLayer(keras.layers.Layer):  # type: ignore[misc]
    """A recurrent cell that is no layer, made one; its variables are not trained, as in Keras 2.

    Args:
        cell: an object with `call(inputs, states)` and `state_size`.
        **keywords: those of `keras.layers.Layer`.
    """

    def __init__(self, cell: Any, **keywords: Any) -> None:
        super().__init__(**keywords)
        object.__setattr__(self, "cell", cell)  # not by `setattr`, which would track what it holds
        keras3.let_take(self, "training", "training" in inspect.signature(cell.call).parameters)
        if not hasattr(cell, "output_size"):
            return
        self.output_size = cell.output_size

    @property
    def state_size(self) -> Any:
        """The sizes of the cell's states."""
        return self.cell.state_size

    def call(self, inputs: Any, states: Any, training: bool | None = None, constants: Any = None) -> Any:
        keywords = {"training": training} if keras3.takes(self, "training") else {}
        if constants is not None:
            keywords["constants"] = constants
        return self.cell.call(inputs, states, **keywords)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "cell": keras.saving.serialize_keras_object(self.cell)}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None) -> Any:
        """Make the layer from what `get_config` returned."""
        cell = keras.saving.deserialize_keras_object(config.pop("cell"), custom_objects=custom_objects)
        return cls(cell, **config)


def init_with_any_cell(original: Callable[..., None]) -> Callable[..., None]:
    """`RNN(cell)`, `StackedRNNCells(cells)` of cells that may be no layers."""

    def __init__(self: Any, cell: Any, *given: Any, **keywords: Any) -> None:
        count = keywords.pop("num_constants", None)
        cell = [_as_layer(each) for each in cell] if isinstance(cell, (list, tuple)) else _as_layer(cell)
        original(self, cell, *given, **keywords)
        if count is not None:
            setattr(self, _COUNT, count)

    return __init__


def init_of_stack(original: Callable[..., None]) -> Callable[..., None]:
    """`StackedRNNCells(cells)`, likewise, with `reverse_state_order`."""

    def __init__(self: Any, cells: Any, *given: Any, **keywords: Any) -> None:
        backwards = keywords.pop("reverse_state_order", False)
        original(self, [_as_layer(each) for each in cells], *given, **keywords)
        if backwards:
            vars(self)[_REVERSED] = True

    return __init__


def _in_order(stack: Any, of_cells: Any) -> Any:
    """Return what there is for each cell from the last to the first, where `reverse_state_order` says so."""
    return list(of_cells)[::-1] if vars(stack).get(_REVERSED) else of_cells


def state_size_of_stack(original: Any) -> property:
    """`StackedRNNCells.state_size`, of the last cell first with `reverse_state_order`."""
    return property(lambda self: _in_order(self, original.fget(self)))


def initial_state_of_stack(original: Callable[..., Any]) -> Callable[..., Any]:
    """`StackedRNNCells.get_initial_state`, likewise."""

    def get_initial_state(self: Any, *given: Any, **keywords: Any) -> Any:
        return _in_order(self, original(self, *given, **keywords))

    return get_initial_state


def flat_shapes(found: Any) -> Any:
    """Return the shapes of an output and of states, which Keras 3 nests for stacked cells, as a list."""
    if not any(isinstance(each, (list, tuple)) for each in found):
        return found
    shapes: list[Any] = []
    for part in found:
        nested = flat_shapes(part)
        shapes += nested if isinstance(nested, list) else [tuple(nested)]
    return shapes


def call_of_stack(original: Callable[..., Any]) -> Callable[..., Any]:
    """`StackedRNNCells.call` with `constants`, for those of its cells that take them."""

    def call(self: Any, inputs: Any, states: Any, training: bool = False, **keywords: Any) -> Any:
        constants = keywords.pop("constants", None)
        states = _in_order(self, states)
        as_today = cell_structures.is_plain(self) and not any(isinstance(cell, AbstractRNNCell) for cell in self.cells)
        if constants is None and as_today:
            outputs, new = original(self, inputs, states, training=training, **keywords)
            return outputs, _in_order(self, new) if len(self.cells) > 1 else new
        new_states = []
        for cell, own in zip(self.cells, states, strict=True):
            given = {**keywords, "training": training} if keras3.takes(cell, "training") else dict(keywords)
            if constants is not None and has_arg(cell.call, "constants"):
                given["constants"] = constants
            is_list = keras.tree.is_nested(own)
            inputs, new = cell(inputs, list(own) if is_list else [own], **given)
            if is_list and not keras.tree.is_nested(new):  # a state by itself
                new = [new]
            elif not is_list and keras.tree.is_nested(new) and len(new) == 1:
                new = new[0]
            new_states.append(new)
        return inputs, _in_order(self, new_states)

    return call


def _as_layer(cell: Any) -> Any:
    if isinstance(cell, keras.layers.Layer) or not (hasattr(cell, "call") and hasattr(cell, "state_size")):
        return cell
    return CellLayer(cell)


def call_with_list(original: Callable[..., Any]) -> Callable[..., Any]:
    """`layer([x, h, c])` and `layer(x, constants=c)`: of a recurrent layer or `Bidirectional`."""

    def __call__(self: Any, sequences: Any, *given: Any, **keywords: Any) -> Any:
        if getattr(sequences, "ragged", False):
            _check_unrolling(self)
        constants = keywords.pop("constants", None)
        if constants is None:
            constants = vars(self).get(_OF_BOTH)
        is_nested = isinstance(sequences, tuple) and _takes_nested(self)
        if isinstance(sequences, (list, tuple)) and not given and not is_nested:
            count = 0 if constants is not None else getattr(self, _COUNT, None) or 0
            sequences, states = sequences[0], list(sequences[1:])
            if count:
                states, constants = states[:-count], states[-count:]
            if states:
                keywords["initial_state"] = states
        if constants is not None:
            constants = list(constants) if isinstance(constants, (list, tuple)) else [constants]
            setattr(self, _COUNT, len(constants))
            vars(self)[_SHAPES] = [tuple(each.shape) for each in constants]
            keywords["constants"] = constants
        state = keywords.get("initial_state")
        of_both = isinstance(self, keras.layers.Bidirectional) and state is not None
        if of_both and (not isinstance(state, (list, tuple)) or len(state) % 2):
            raise ValueError(
                f"Expected `initial_state` of '{self.name}' to be a list, of as many states for the backward as "
                f"for the forward layer. Received: {len(state) if isinstance(state, (list, tuple)) else state!r}"
            )
        if state is not None:
            keywords["initial_state"] = _in_structure(self, state)
            if not of_both and object_eras.era_of_object(self) is not Era.TODAY:
                _check_states(self, keywords["initial_state"])
        results = original(self, sequences, *given, **keywords)
        return _as_list(self, results) if isinstance(results, (list, tuple)) else results

    return __call__


def _as_list(layer: Any, results: Any) -> list[Any]:
    """Return outputs and states in a list: those of stacked cells one after the other, in tf.keras one list a cell."""
    flat: list[Any] = keras.tree.flatten(results)
    if not object_eras.era_of_object(layer).is_tf_keras or not layer.return_state:
        return flat
    directions: list[Any] = [getattr(layer, name, None) for name in ("forward_layer", "backward_layer")]
    cells = [each.cell for each in directions if hasattr(each, "cell")] or [getattr(layer, "cell", None)]
    if not any(isinstance(cell, keras.layers.StackedRNNCells) for cell in cells):
        return flat
    sizes = [
        list(size) if cell_structures.is_nested(size) else size
        for cell in cells
        for size in (cell.state_size if cell_structures.is_nested(cell.state_size) else [cell.state_size])
    ]
    outputs = len(flat) - len(keras.tree.flatten(sizes))
    return [*flat[:outputs], *keras.tree.pack_sequence_as(sizes, flat[outputs:])]


def _takes_nested(layer: Any) -> bool:
    """Whether a tuple is what goes in at each step: tf.keras had the states in a list, and Keras's cells take one."""
    cell = getattr(layer, "cell", None)
    is_own = cell is not None and not type(cell).__module__.startswith("keras.")
    return is_own and object_eras.era_of_object(layer).is_tf_keras


def _check_states(layer: Any, states: Any) -> None:
    """Refuse states of other sizes than the cell's, which Keras 3 may stretch to them."""
    sizes, given = layer.cell.state_size, [tuple(state.shape)[1:] for state in keras.tree.flatten(states)]
    if isinstance(sizes, int) and sizes == -1:  # of ConvLSTM, which Keras 3 says of no cell
        return
    axes = [cell_structures.axes_of(size) for size in keras.tree.flatten(sizes)] if sizes is not None else []
    for own, found in zip(axes, given, strict=False):
        if len(own) == len(found) and any(a != b and None not in (a, b) for a, b in zip(own, found, strict=True)):
            raise ValueError(
                "An `initial_state` was passed that is not compatible with `cell.state_size`. Received `state_spec`="
                f"{[(None, *shape) for shape in given]}; however `cell.state_size` is {sizes}"
            )


def _in_structure(layer: Any, states: Any) -> Any:
    """Give a flat list of the states of stacked cells the structure that Keras 3 wants."""
    cell = getattr(layer, "cell", None)
    if not isinstance(cell, keras.layers.StackedRNNCells) or not isinstance(states, (list, tuple)):
        return list(states) if isinstance(states, (list, tuple)) else states
    flat = keras.tree.flatten(states)
    if len(flat) != len(keras.tree.flatten(cell.state_size)):
        return states
    return keras.tree.pack_sequence_as(cell.state_size, flat)


def call_with_constants(original: Callable[..., Any]) -> Callable[..., Any]:
    """`RNN.call` with `constants`."""

    def call(
        self: Any,
        sequences: Any,
        initial_state: Any = None,
        mask: Any = None,
        training: bool = False,
        constants: Any = None,
    ) -> Any:
        if isinstance(sequences, keras.KerasTensor):  # `layer.call(x)` of a script; `layer(x)` gets here with tensors
            keywords = {"initial_state": initial_state, "mask": mask, "training": training, "constants": constants}
            made = {name: value for name, value in keywords.items() if value is not None}
            results = op_layers.layer_of(functools.partial(call, self), (sequences,), made, None)
            return keras.tree.flatten(results) if isinstance(results, (list, tuple)) else results
        if isinstance(mask, (list, tuple)):  # the same for all that goes in at a step
            mask = mask[0]
        if isinstance(sequences, tf.RaggedTensor):
            keywords = {"initial_state": initial_state, "training": training, "constants": constants}
            return _of_ragged(self, functools.partial(call, self), sequences, keywords)
        if initial_state is not None and self.stateful and object_eras.era_of_object(self) is Era.TF_KERAS_2_2:
            initial_state = _kept_before_given(self.states, initial_state)
        if mask is None and (initial_state is not None or constants is not None):
            # Keras 3 hands a layer no mask that is called with more tensors than one.
            first = keras.tree.flatten(sequences)[0]
            mask = keras3.get_mask(first) if object_eras.era_of_object(self) is not Era.TODAY else None
        vars(self)[_CONSTANTS] = constants
        keeps = self.stateful
        if keeps and not _states_are_updated(self):
            initial_state = list(self.states) if initial_state is None else initial_state
            vars(self)["stateful"] = False
        try:
            return original(self, sequences, initial_state=initial_state, mask=mask, training=training)
        finally:
            vars(self).pop(_CONSTANTS)
            vars(self)["stateful"] = keeps

    return call


def _states_are_updated(layer: Any) -> bool:
    """Say whether a stateful layer goes on from batch to batch where it is called.

    A graph ran the updates of the layers that a model lists, and of the models among these, in each of its steps
    (`Network.state_updates`), and in none of `K.function`. Those of a layer within another one, such as Bidirectional,
    which itself is not stateful, ran in training; and in Keras 2.2.4 those alone that a layer of the script's own
    handed on (`Network.updates`).
    """
    era = object_eras.era_of_object(layer)
    if not era.has_graphs or not execution.computes_in_graphs(era):
        return True
    if not call_context.is_in_step():
        return False
    around = [scope.caller for scope in keras3.scopes_of_layers() if scope.caller is not layer]
    holders = [each for each in around if not isinstance(each, keras.Model)]
    if not holders or not call_context.step_updates():
        return not holders
    wrappers = (keras.layers.Wrapper, keras.layers.Bidirectional)
    if era is Era.KERAS_2_2_4:
        return all(isinstance(each, wrappers) or _hands_on(each.__class__) for each in holders)
    return not any(isinstance(each, keras.layers.Lambda) for each in holders)


@functools.cache
def _hands_on(kind: Any) -> bool:
    """Say whether a class of layers has the updates of others for its own: `self.add_update(self.lstm.updates)`."""
    own = (
        vars(each).values() for each in kind.__mro__ if not each.__module__.startswith(("keras.", "parallel_compat."))
    )
    codes = (member.__code__ for members in own for member in members if hasattr(member, "__code__"))
    return any({"add_update", "updates"} <= set(code.co_names) for code in codes)


def _kept_before_given(kept: Any, given: Any) -> Any:
    """Return the states that a stateful layer of tf.keras 2.2 begins with: those given count while its own are 0."""
    own = [keras.ops.convert_to_tensor(state) for state in keras.tree.flatten(kept)]
    used = keras.ops.any([keras.ops.any(state != 0) for state in own])
    found = [
        keras.ops.where(used, mine, keras.ops.cast(each, mine.dtype))
        for mine, each in zip(own, keras.tree.flatten(given), strict=True)
    ]
    return keras.tree.pack_sequence_as(given, found) if keras.tree.is_nested(given) else found[0]


def _check_unrolling(layer: Any) -> None:
    if getattr(layer, "unroll", False):
        raise ValueError("The input received contains RaggedTensors and does not support unrolling. Disable unrolling.")


def _of_ragged(layer: Any, call: Callable[..., Any], sequences: Any, keywords: dict[str, Any]) -> Any:
    """Return what a recurrent layer gives for a ragged tensor, which tf.keras masked where it is short."""
    _check_unrolling(layer)
    dense, lengths = ragged.to_dense(sequences)
    results = call(dense, mask=tf.sequence_mask(lengths), **keywords)
    if not layer.return_sequences:
        return results
    outputs, *states = results if layer.return_state else [results]
    outputs = ragged.from_dense(True, outputs, lengths)
    return (outputs, *states) if layer.return_state else outputs


def initial_state_of_cell(original: Callable[..., Any]) -> Callable[..., Any]:
    """`cell.get_initial_state(inputs, batch_size, dtype)`, where Keras 3 takes `batch_size` alone."""

    def get_initial_state(self: Any, inputs: Any = None, batch_size: Any = None, dtype: Any = None) -> Any:
        if isinstance(inputs, int):  # of Keras 3
            inputs, batch_size = None, inputs
        if inputs is not None:
            batch_size, dtype = keras.ops.shape(inputs)[0], dtype or inputs.dtype
        states = original(self, batch_size)
        if dtype is None:
            return states
        return keras.tree.map_structure(lambda state: tf.cast(state, dtype), states)

    return get_initial_state


def initial_state_of_tensor(original: Callable[..., Any]) -> Callable[..., Any]:
    """`layer.get_initial_state(x)`: zeros for the samples of a tensor, where Keras 3 wants their number."""

    def get_initial_state(self: Any, inputs: Any = None, **keywords: Any) -> Any:
        inputs = keywords.pop("batch_size", inputs)
        if isinstance(inputs, keras.KerasTensor) and len(inputs.shape) > 0:
            if inputs.shape[0] is not None:
                inputs = inputs.shape[0]
            else:
                zeros = functools.partial(_zeros_for_samples, functools.partial(original, self))
                return keras.tree.flatten(op_layers.layer_of(zeros, (inputs,), {}, None))
        elif keras.ops.is_tensor(inputs) and len(inputs.shape) > 0:
            return _zeros_for_samples(functools.partial(original, self), inputs)
        return original(self, inputs, **keywords)

    return get_initial_state


def _zeros_for_samples(make: Callable[[Any], Any], inputs: Any) -> Any:
    return make(keras.ops.shape(inputs)[0])


def loop_with_constants(original: Callable[..., Any]) -> Callable[..., Any]:
    """`RNN.inner_loop`, which calls the cell."""

    def inner_loop(self: Any, sequences: Any, initial_state: Any, mask: Any, training: bool = False) -> Any:
        constants = vars(self).get(_CONSTANTS)
        is_nested = cell_structures.is_nested(sequences)
        if constants is None and not is_nested:
            result = original(self, sequences, initial_state, mask, training)
            if mask is None or self.unroll or object_eras.era_of_object(self) is not Era.KERAS_2_2_4:
                return result
            return _as_the_state_at_first(self, result, initial_state, mask)
        cell = self.cell
        keywords = {"training": training} if keras3.takes(cell, "training") else {}
        if constants is not None:
            keywords["constants"] = constants

        def step(inputs: Any, states: Any) -> Any:
            output, new = cell(inputs, states, **keywords)
            return output, new if keras.tree.is_nested(new) else [new]

        return keras3.rnn(
            step,
            sequences,
            initial_state if keras.tree.is_nested(initial_state) else [initial_state],
            go_backwards=self.go_backwards,
            mask=mask,
            unroll=self.unroll,
            # The loop ends with the sequences; of nested ones Keras asks for a bound, also where none is known.
            input_length=keras.tree.flatten(sequences)[0].shape[1] or np.iinfo(np.int32).max,
            zero_output_for_mask=self.zero_output_for_mask,
            return_all_outputs=self.return_sequences,
        )

    return inner_loop


def _as_the_state_at_first(layer: Any, result: Any, initial_state: Any, mask: Any) -> Any:
    """Give what Keras 2.2.4 gave at masked steps that no other comes before: the first of the states they began with.

    Today it is zeros, as are these states but for `initial_state` and stateful layers.
    """
    last, outputs, states = result
    first = keras.tree.flatten(initial_state)[0]
    if first.shape[1:] != last.shape[1:]:
        return result
    seen = tf.cast(mask[0] if isinstance(mask, (list, tuple)) else mask, "int32")
    seen = tf.cumsum(tf.reverse(seen, [1]) if layer.go_backwards else seen, axis=1) > 0
    for _ in range(len(last.shape) - 1):
        seen = seen[..., None]
    if layer.return_sequences:
        outputs = tf.where(seen, outputs, tf.cast(first, outputs.dtype)[:, None])
    else:
        outputs = tf.where(seen[:, -1:], outputs, tf.cast(first, outputs.dtype)[:, None])
    return tf.where(seen[:, -1], last, tf.cast(first, last.dtype)), outputs, states


def build_with_constants(original: Callable[..., None]) -> Callable[..., None]:
    """`RNN.build`: the cell is built with the list of the shapes of a step and of the constants."""

    def build(self: Any, sequences_shape: Any, initial_state_shape: Any = None) -> None:
        shapes = vars(self).get(_SHAPES)
        if shapes:
            cells = self.cell.cells if isinstance(self.cell, keras.layers.StackedRNNCells) else [self.cell]
            shape = (sequences_shape[0], *sequences_shape[2:])
            for cell in cells:
                if isinstance(cell, keras.layers.Layer) and not cell.built:
                    # tf.keras built a cell with the shape of a step alone.
                    told = has_arg(cell.call, "constants") and not object_eras.era_of_object(self).is_tf_keras
                    cell.build([shape, *shapes] if told else shape)
                    cell.built = True
                shape = (shape[0], keras.tree.flatten(cell.state_size)[0])
        original(self, sequences_shape, initial_state_shape)

    return build


def config_with_constants(original: Callable[..., Any]) -> Callable[..., Any]:
    """`get_config` of `RNN` and `Bidirectional`."""

    def get_config(self: Any) -> Any:
        count = getattr(self, _COUNT, None)
        config = {**original(self), **({"num_constants": count} if count is not None else {})}
        if isinstance(self, keras.layers.Bidirectional) and object_eras.era_of_object(self).is_standalone:
            config.pop("activity_regularizer", None)  # that of the wrapped layer
        return config

    return get_config


def init_of_bidirectional(original: Callable[..., None], repeats: Callable[[Any], bool]) -> Callable[..., None]:
    """`Bidirectional`.

    Args:
        original: what stands there.
        repeats: whether a masked step gives the output of the step before it, as until TensorFlow 1.15, and not
            zeros.
    """

    def __init__(self: Any, layer: Any, *given: Any, **keywords: Any) -> None:
        count = keywords.pop("num_constants", None)
        era = object_eras.era_of_object(self)
        if era is Era.TF_KERAS_2_2:
            keywords.pop("trainable", None)  # which it passed over
        if getattr(layer, "go_backwards", False) and len(given) < 3 and keywords.get("backward_layer") is None:
            # Keras 2 turned the direction round; Keras 3 has both go backwards, and refuses that.
            config = {**layer.get_config(), "go_backwards": False}
            config["name"] = f"backward_{config['name'].removeprefix('backward_')}"
            keywords["backward_layer"] = type(layer).from_config(config)
        with keras.saving.CustomObjectScope(_classes_of_user(layer)):  # both directions are made of its config
            original(self, layer, *given, **keywords)
        for direction in (self.forward_layer, self.backward_layer):
            if repeats(self) and hasattr(direction, "zero_output_for_mask"):
                direction.zero_output_for_mask = False
            if getattr(direction, "time_major", False):
                direction.use_cudnn = False  # the kernel for both directions has the samples first
        if count is not None:
            setattr(self, _COUNT, count)
        if era.is_standalone:
            own_trainable.tell(self, keywords.get("trainable", True))
            vars(self)[_WRAPPED] = shallow_copy(self.forward_layer)
            vars(self)[_WRAPPED].name = layer.name
        elif era is not Era.TODAY:
            vars(self)[_WRAPPED] = layer

    return __init__


def layer_of_bidirectional(layer: keras.layers.Bidirectional) -> keras.Layer:
    """Return `layer.layer`: what it was given, of which it made both directions.

    What is set there was set on neither of them. Keras 2.2.4's had the cell, and so the weights, of the one forward.
    """
    wrapped: keras.Layer = vars(layer).get(_WRAPPED, layer.forward_layer)
    return wrapped


def _classes_of_user(layer: Any) -> dict[str, Any]:
    """Return the classes by their names that a recurrent layer is made of and Keras does not know."""
    cell = getattr(layer, "cell", None)
    kinds = {type(each) for each in (layer, cell, *getattr(cell, "cells", ()))}
    return {kind.__name__: kind for kind in kinds if not kind.__module__.startswith(("keras.", "parallel_compat."))}


def call_of_bidirectional(original: Callable[..., Any]) -> Callable[..., Any]:
    """`Bidirectional.call` with `constants`, which both directions get."""

    def call(
        self: Any,
        sequences: Any,
        initial_state: Any = None,
        mask: Any = None,
        training: bool | None = None,
        constants: Any = None,
    ) -> Any:
        with _regularized_once(self):
            if constants is None:
                return original(self, sequences, initial_state=initial_state, mask=mask, training=training)
            directions = (self.forward_layer, self.backward_layer)
            for direction in directions:
                vars(direction)[_OF_BOTH] = constants
            try:
                return original(self, sequences, initial_state=initial_state, mask=mask, training=training)
            finally:
                for direction in directions:
                    vars(direction).pop(_OF_BOTH)

    return call


@contextlib.contextmanager
def _regularized_once(layer: keras.layers.Bidirectional) -> Iterator[None]:
    """Let the activity regularizer of a `Bidirectional` of Keras 2.2.4 see what both directions give together.

    Its layers were not called as layers, but computed; `Wrapper.activity_regularizer` was that of the wrapped layer.
    """
    directions = (layer.forward_layer, layer.backward_layer)
    kept = [direction.activity_regularizer for direction in directions]
    if kept[0] is None or not object_eras.era_of_object(layer).is_standalone:
        yield
        return
    layer.activity_regularizer = kept[0]
    for direction in directions:
        direction.activity_regularizer = None
    try:
        yield
    finally:
        for direction, regularizer in zip(directions, kept, strict=True):
            direction.activity_regularizer = regularizer


def build_by_old_name(original: Callable[..., None]) -> Callable[..., None]:
    """`layer.build(input_shape=shape)`: Keras 3's recurrent layers name it after what `call` takes."""

    def build(self: Any, sequences_shape: Any = None, initial_state_shape: Any = None, **old: Any) -> None:
        if sequences_shape is None:
            # Keras notes what a layer was built with as the signature says, and builds a loaded one so.
            sequences_shape = old.get("old", old)["input_shape"]
        original(self, sequences_shape, initial_state_shape)

    return build


def build_of_bidirectional(original: Callable[..., None]) -> Callable[..., None]:
    """`Bidirectional.build`."""

    def build(self: Any, sequences_shape: Any, initial_state_shape: Any = None) -> None:
        for direction in (self.forward_layer, self.backward_layer):
            vars(direction)[_SHAPES] = vars(self).get(_SHAPES)
        original(self, sequences_shape, initial_state_shape)

    return build
