"""Recurrent layers whose cells have states, inputs or outputs of several axes, or nested ones, as tf.keras had them.

There a cell's `state_size` and `output_size` was a whole number, a `tf.TensorShape` for several axes, or lists, tuples
and named tuples of these, and known at last when the cell was built; what went in at a step could be a tuple. Keras 3
has numbers, and lists of numbers for states, alone.

Each function takes what stands in Keras 3's class and returns what shall stand there while legacy names are on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import keras
import tensorflow as tf

from parallel_compat.backend import keras3
from parallel_compat.legacy.utils import has_arg

if TYPE_CHECKING:
    from collections.abc import Callable


def is_nested(size: Any) -> bool:
    """Whether there are several sizes, and not one."""
    return isinstance(size, (list, tuple)) and not isinstance(size, tf.TensorShape)


def axes_of(size: Any) -> tuple[int | None, ...]:
    """Return the lengths of all axes but that of the samples.

    >>> axes_of(3), axes_of(tf.TensorShape([3, 4]))
    ((3,), (3, 4))
    """
    return tuple(tf.TensorShape(size).as_list())


def of_each(make: Callable[[Any], Any], sizes: Any) -> Any:
    """Return what is made of each size, in the structure that they have.

    >>> of_each(axes_of, (2, [tf.TensorShape([3, 4])]))
    ((2,), [(3, 4)])
    """
    if not is_nested(sizes):
        return make(sizes)
    made = [of_each(make, each) for each in sizes]
    return type(sizes)(*made) if hasattr(sizes, "_fields") else type(sizes)(made)


def is_plain(cell: Any) -> bool:
    """Whether Keras 3 can run a cell: numbers alone, and lists of them."""
    if isinstance(cell, keras.layers.StackedRNNCells):
        return all(is_plain(each) for each in cell.cells)
    sizes: Any = getattr(cell, "state_size", 0)
    output = _told_output_size(cell)
    states = sizes if is_nested(sizes) else [sizes]
    return all(isinstance(size, int) for size in states) and (output is None or isinstance(output, int))


def is_shape(given: Any) -> bool:
    """Whether these are the axes of one tensor, and not the shapes of several."""
    return not any(isinstance(each, (list, tuple)) for each in given)


def of_each_shape(make: Callable[[Any], Any], shapes: Any) -> Any:
    """Return what is made of each of the shapes of a nested input, or of the one there is."""
    if is_shape(shapes):
        return make(shapes)
    made = [of_each_shape(make, each) for each in shapes]
    return type(shapes)(*made) if hasattr(shapes, "_fields") else type(shapes)(made)


def first_shape(shapes: Any) -> Any:
    """Return the shape of a nested input's first tensor, which tells the samples and the steps."""
    return shapes if is_shape(shapes) else first_shape(shapes[0])


class _AnyCell:
    """What the constructor of Keras 3 is given for a cell that it refuses."""

    state_size = 0

    def call(self, inputs: Any, states: Any) -> Any:
        raise NotImplementedError


def init(original: Callable[..., None]) -> Callable[..., None]:
    """`RNN(cell)`."""

    def __init__(self: Any, cell: Any, *given: Any, **keywords: Any) -> None:
        if isinstance(cell, (list, tuple)) and not all(map(is_plain, cell)):
            cell = keras.layers.StackedRNNCells(cell)
        is_cell = hasattr(cell, "call") and hasattr(cell, "state_size")
        if not is_cell or is_plain(cell):
            original(self, cell, *given, **keywords)
            return
        original(self, _AnyCell(), *given, **keywords)
        self.cell = cell
        _take_sizes(self)

    return __init__


def _take_sizes(layer: Any) -> None:
    sizes = layer.cell.state_size
    with keras3.untracked():
        layer.state_size = list(sizes) if is_nested(sizes) else [sizes]
    layer.single_state = not is_nested(sizes)


def build(original: Callable[..., None]) -> Callable[..., None]:
    """`RNN.build`: a cell may tell its sizes only now."""

    def build(self: Any, sequences_shape: Any, initial_state_shape: Any = None) -> None:
        if not is_plain(self.cell) or not is_shape(sequences_shape):
            if isinstance(self.cell, keras.layers.Layer) and not self.cell.built:
                self.cell.build(of_each_shape(lambda shape: (shape[0], *shape[2:]), sequences_shape))
                self.cell.built = True
            _take_sizes(self)
        original(self, first_shape(sequences_shape), initial_state_shape)

    return build


def build_of_stack(original: Callable[..., None]) -> Callable[..., None]:
    """`StackedRNNCells.build`: each cell is given the output of the one before, of whatever structure."""

    def build(self: Any, input_shape: Any) -> None:
        if is_plain(self):
            original(self, input_shape)
            return
        samples = first_shape(input_shape)[0]
        for cell in self.cells:
            if isinstance(cell, keras.layers.Layer) and not cell.built:
                cell.build(input_shape)
                cell.built = True
            input_shape = of_each(lambda size: (samples, *axes_of(size)), output_size(cell))

    return build


def output_size(cell: Any) -> Any:
    """Return the size of what a cell gives: that of its first state if it does not tell."""
    size = _told_output_size(cell)
    if size is not None:
        return size
    return cell.state_size[0] if is_nested(cell.state_size) else cell.state_size


def _told_output_size(cell: Any) -> Any:
    try:
        return getattr(cell, "output_size", None)
    except NotImplementedError:  # of `AbstractRNNCell`
        return None


def compute_output_shape(original: Callable[..., Any]) -> Callable[..., Any]:
    """`RNN.compute_output_shape`: that of a tensor, or a tuple of the outputs' and the states'."""

    def compute_output_shape(self: Any, sequences_shape: Any, initial_state_shape: Any = None) -> Any:
        if is_plain(self.cell):
            return original(self, first_shape(sequences_shape), initial_state_shape)
        samples, steps = first_shape(sequences_shape)[:2]
        of_outputs = (samples, steps) if self.return_sequences else (samples,)
        shapes = of_each(lambda size: (*of_outputs, *axes_of(size)), output_size(self.cell))
        if not self.return_state:
            return shapes
        states = of_each(lambda size: (samples, *axes_of(size)), list(self.state_size))
        return (shapes, *states) if is_shape(shapes) else (*shapes, *states)

    return compute_output_shape


def initial_state(original: Callable[..., Any]) -> Callable[..., Any]:
    """`RNN.get_initial_state`."""

    def get_initial_state(self: Any, batch_size: Any) -> Any:
        if _begins_as_today(self.cell):
            return original(self, batch_size)
        states = _initial_state_of_cell(self.cell, batch_size)
        return list(states) if is_nested(states) else [states]

    return get_initial_state


def _begins_as_today(cell: Any) -> bool:
    own = getattr(cell, "get_initial_state", None)
    return is_plain(cell) and (own is None or type(cell).__module__.startswith("keras.") or not has_arg(own, "inputs"))


def _initial_state_of_cell(cell: Any, samples: Any) -> Any:
    dtype = keras.backend.standardize_dtype(getattr(cell, "compute_dtype", None))
    own = getattr(cell, "get_initial_state", None)
    if own is None:
        return of_each(lambda size: keras.ops.zeros((samples, *axes_of(size)), dtype=dtype), cell.state_size)
    return own(inputs=None, batch_size=samples, dtype=dtype) if has_arg(own, "inputs") else own(batch_size=samples)


def initial_state_of_stack(original: Callable[..., Any]) -> Callable[..., Any]:
    """`StackedRNNCells.get_initial_state`."""

    def get_initial_state(self: Any, batch_size: Any = None) -> Any:
        if all(map(_begins_as_today, self.cells)):
            return original(self, batch_size)
        return [_initial_state_of_cell(cell, batch_size) for cell in self.cells]

    return get_initial_state


def call(original: Callable[..., Any]) -> Callable[..., Any]:
    """`RNN.call`."""

    def call(self: Any, sequences: Any, initial_state: Any = None, mask: Any = None, training: bool = False) -> Any:
        if getattr(self.cell, "input_spec", None) is not None:
            self.cell.input_spec = (
                None  # of the layer, in many a cell: `cell.call` was called, which does not look at it
            )
        if is_plain(self.cell) and not is_nested(sequences):
            return original(self, sequences, initial_state=initial_state, mask=mask, training=training)
        first = keras.tree.flatten(sequences)[0]
        if self.unroll and first.shape[1] is None:
            raise ValueError(
                f"Cannot unroll a RNN if the time dimension is undefined. Received: {tuple(first.shape)} in layer "
                f"'{self.name}'. Give `Input` the number of steps."
            )
        if initial_state is None:
            samples = keras.ops.shape(first)[0]
            initial_state = self.states if self.stateful else self.get_initial_state(batch_size=samples)
        states = list(initial_state) if is_nested(initial_state) else [initial_state]
        dtype = getattr(self.cell, "compute_dtype", self.compute_dtype)
        states = keras.tree.map_structure(lambda state: tf.cast(keras.ops.convert_to_tensor(state), dtype), states)
        steps = keras.tree.map_structure(lambda each: each[:, 0], sequences)
        with keras3.dropout_of_steps(self, steps, states):
            last, outputs, states = self.inner_loop(sequences, states, mask, training=training)
        if self.stateful:
            for kept, state in zip(keras.tree.flatten(self.states), keras.tree.flatten(states), strict=True):
                kept.assign(state)
        found = outputs if self.return_sequences else last
        found = keras.tree.map_structure(lambda each: keras.ops.cast(each, self.compute_dtype), found)
        if not self.return_state:
            return found
        return (*found, *states) if is_nested(found) else (found, *states)

    return call
