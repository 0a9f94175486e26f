"""`K.function` and `K.update` on the graph of Keras's symbolic tensors."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from parallel_compat.backend import keras3
from parallel_compat.backend.keras3 import indices
from parallel_compat.backend.keras3.call_context import LearningPhase
from parallel_compat.backend.keras3.symbolic_values import Values, behind, node_of
from parallel_compat.legacy import step_graph
from parallel_compat.legacy.learning_phase import fixed_learning_phase

indices.take_numbers_of_numpy()


def is_placeholder(x: Any) -> bool:
    """Return whether `x` stands for data to come: an input of a model."""
    node = node_of(x) if isinstance(x, keras.KerasTensor) else None
    return isinstance(x, keras.KerasTensor) and (node is None or node.is_input)


# --- updates ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Update:
    """An assignment to come: what `K.update(variable, tensor)` returned. `K.function` and a session carry it out.

    Attributes:
        variable: the variable.
        value: a symbolic tensor, or one of an optimizer's graph.
        method: "assign", "assign_add" or "assign_sub".
    """

    variable: Any
    value: Any
    method: str = "assign"

    def assign(self, value: Any) -> None:
        """Assign the value, once it is computed."""
        getattr(self.variable, self.method)(tf.cast(value, self.variable.dtype))


def update(x: Any, new_x: Any) -> Any:
    """Assign to a variable: at once, or when a function or session runs what this returns for a symbolic tensor."""
    return _update(x, new_x, "assign")


def update_add(x: Any, increment: Any) -> Any:
    """Add to a variable, as `update`."""
    return _update(x, increment, "assign_add")


def update_sub(x: Any, decrement: Any) -> Any:
    """Subtract from a variable, as `update`."""
    return _update(x, decrement, "assign_sub")


def moving_average_update(x: Any, value: Any, momentum: float) -> Any:
    """Move a variable towards a value, as `update`."""
    return update_sub(x, (x - keras.ops.cast(value, x.dtype)) * (1.0 - momentum))


def _update(variable: Any, value: Any, method: str) -> Any:
    if isinstance(value, keras.KerasTensor) or step_graph.is_built():
        return Update(variable, value, method)
    return getattr(variable, method)(value)


# --- functions ----------------------------------------------------------------------------------------------------


def function(inputs: Sequence[Any], outputs: Any, updates: Any = None, **kwargs: Any) -> Function:
    """Return a function from arrays to arrays, computed by what stands between two lists of symbolic tensors.

    >>> import keras, numpy as np
    >>> x = keras.Input((2,)); y = keras.layers.Activation("relu")(x)
    >>> f = function([x], [y])
    >>> f([np.array([[-1.0, 1.0]])])[0].tolist()
    [[0.0, 1.0]]

    Args:
        inputs: inputs or any other tensors of models; `K.learning_phase()` among them takes 0 or 1.
        outputs: tensors computed from them, variables and `K.learning_phase()`; a list, or one of them.
        updates: pairs (variable, new value), and what `K.update` returned.
        **kwargs: went to `tf.Session.run`: `fetches`, further tensors and updates whose values are not returned, and
            `feed_dict`, values by input that are looked up at each call. `name` is not used.

    Returns:
        A function that takes a list of arrays and returns a list of arrays.

    Raises:
        TypeError: for anything else among them, or other arguments of a session.
    """
    if kwargs.keys() - {"name", "fetches", "feed_dict"}:
        raise TypeError(
            f"Expected `inputs`, `outputs`, `updates`, `fetches` and `feed_dict`. Received: {sorted(kwargs)}, which "
            "went to a TensorFlow 1 session; there is none."
        )
    fetches, feed = kwargs.get("fetches") or [], kwargs.get("feed_dict") or {}
    # A tensor among `fetches` changes nothing.
    updates = [*(updates or ()), *(each for each in fetches if isinstance(each, Update))]
    return _FedFunction(inputs, outputs, updates, feed) if feed else Function(inputs, outputs, updates)


class MissingInputError(ValueError):
    """An output is computed from an input that is not among those given."""


class Function:
    """What `K.function` returns, see `function`."""

    def __init__(self, inputs: Sequence[Any], outputs: Any, updates: Any = None) -> None:
        if not isinstance(inputs, (list, tuple)):
            raise TypeError(f"Expected `inputs` to be a list. Received: {type(inputs).__name__}")
        self.inputs = list(inputs)
        self._single = not isinstance(outputs, (list, tuple))
        self.outputs = [outputs] if self._single else list(outputs)
        self._updates = [_as_update(each) for each in updates or ()]
        for x in self.inputs:
            if not isinstance(x, (keras.KerasTensor, LearningPhase, int)):
                raise TypeError(_foreign("inputs", x))
        for x in self.outputs:
            if not isinstance(x, (keras.KerasTensor, keras.Variable, tf.Variable, LearningPhase)):
                raise TypeError(_foreign("outputs", x))
        self._tensors = [x for x in self.inputs if isinstance(x, keras.KerasTensor)]
        computed = [*self.outputs, *keras.tree.flatten([each.value for each in self._updates])]
        self._layers = _layers_between(self._tensors, [x for x in computed if isinstance(x, keras.KerasTensor)])
        self._compiled: dict[Any, Any] = {}
        self._of_fewer: dict[tuple[int, ...], Function] = {}

    def __call__(self, inputs: Any = ()) -> Any:
        """Compute the outputs for a list of arrays, and carry out the updates."""
        if not isinstance(inputs, (list, tuple)):
            raise TypeError(f"Expected a list of arrays. Received: {type(inputs).__name__}")
        # As it was: what is beyond the inputs was left out, and those without a value counted where one was needed.
        pairs = [(x, value) for x, value in zip(self.inputs, inputs, strict=False) if value is not None]
        if len(pairs) < len(self.inputs):
            return self._of([x for x, _ in pairs])([value for _, value in pairs])
        given = [_as_fed(x, value) for x, value in pairs if isinstance(x, keras.KerasTensor)]
        phases = [value for x, value in pairs if isinstance(x, (LearningPhase, int))]  # a number where none was fed
        training = bool(phases[0]) if phases and fixed_learning_phase() is None else False
        specs = tuple(_spec_to_feed(x, value) for x, value in zip(self._tensors, given, strict=True))
        if (training, specs) not in self._compiled:
            self._compiled[training, specs] = self._compile(training, specs)
        results = [as_numpy(result) for result in self._compiled[training, specs](*given)]
        return results[0] if self._single else results

    def _of(self, inputs: list[Any]) -> Function:
        """Return the function of some of the inputs."""
        key = tuple(map(id, inputs))
        if key not in self._of_fewer:
            outputs = self.outputs[0] if self._single else self.outputs
            self._of_fewer[key] = Function(inputs, outputs, self._updates)
        return self._of_fewer[key]

    def _compile(self, training: bool, specs: Sequence[Any]) -> Any:
        # Layers write their random states always, and no moving statistics: no update was requested.
        seeds = [state for layer in self._layers for state in keras3.layers.seed_states(layer)]

        def run(*given: Any) -> list[Any]:
            values = Values(zip(self._tensors, given, strict=True), training)
            if training:
                with keras.StatelessScope() as scope:
                    outputs, steps = self._computed(values, training)
                for state in seeds:
                    written = scope.get_current_value(state)
                    if written is not None:
                        state.assign(written)
            else:
                outputs, steps = self._computed(values, training)
            with tf.control_dependencies(outputs):
                for step in steps:  # outside of the scope, which would swallow what is assigned
                    step()
            return outputs

        return tf.function(run, input_signature=specs, autograph=False)

    def _computed(self, values: Values, training: bool) -> tuple[list[Any], list[Callable[[], Any]]]:
        """Compute the outputs and what the updates assign; return them with the steps that carry these out."""
        outputs = [
            tf.constant(int(training)) if isinstance(each, LearningPhase) else _as_tensor(_value(each, values))
            for each in self.outputs
        ]
        return outputs, [functools.partial(each.assign, _value(each.value, values)) for each in self._updates]


def _as_tensor(value: Any) -> Any:
    return value if isinstance(value, tf.RaggedTensor) else tf.convert_to_tensor(value)


def as_numpy(result: Any) -> Any:
    """Return an array of numpy, or a number of numpy for what has no axes; a ragged tensor as it is."""
    return result if isinstance(result, tf.RaggedTensor) else keras.ops.convert_to_numpy(result)[()]


def _spec_to_feed(x: Any, value: Any) -> Any:
    """Return the spec of a placeholder, with None for each size in which the array differs: Keras 2 checked none."""
    if isinstance(value, tf.RaggedTensor):
        return tf.RaggedTensorSpec(x.shape, x.dtype, value.ragged_rank, value.row_splits.dtype)
    shape, given = tuple(x.shape), tuple(value.shape)
    if len(shape) == len(given):
        shape = tuple(size if size == here else None for size, here in zip(shape, given, strict=True))
    return tf.SparseTensorSpec(shape, x.dtype) if x.sparse else tf.TensorSpec(shape, x.dtype)


class _FedFunction(Function):
    """A function with a `feed_dict`, which may change between calls."""

    def __init__(self, inputs: Sequence[Any], outputs: Any, updates: Any, feed: dict[Any, Any]) -> None:
        super().__init__([*inputs, *feed], outputs, updates)
        self._feed, self._fed = feed, list(feed)

    def __call__(self, inputs: Any = ()) -> Any:
        return super().__call__([*inputs, *(self._feed[each] for each in self._fed)])


def _value(x: Any, values: Values) -> Any:
    return values.of(x) if isinstance(x, (keras.KerasTensor, list)) else keras.ops.convert_to_tensor(x)


def _as_update(update: Any) -> Update:
    if isinstance(update, Update):
        return update
    if isinstance(update, tuple) and len(update) == 2 and hasattr(update[0], "assign"):
        return Update(*update)
    raise TypeError(
        f"Expected `updates` of pairs (variable, new value), or of `K.update(...)`. Received: {type(update).__name__}"
    )


def _layers_between(known: Sequence[Any], tensors: Sequence[Any]) -> list[Any]:
    """Return the layers between symbolic tensors."""
    layers = {}
    for tensor, node in behind(tensors, known):
        if node is not None and node.is_input:
            raise MissingInputError(
                f"Expected each output to be computed from `inputs`. Received: one that needs the tensor "
                f"'{tensor.name}' of shape {tuple(tensor.shape)} as well. Add it to the inputs."
            )
        if node is not None and isinstance(node.operation, keras.layers.Layer):
            layers[id(node.operation)] = node.operation
    return list(layers.values())


def _as_fed(x: Any, value: Any) -> Any:
    if x.sparse:
        return (
            keras3.data_adapters.scipy_sparse_to_tensor(value)
            if keras3.data_adapters.is_scipy_sparse(value)
            else tf.sparse.from_dense(value)
        )
    if isinstance(value, tf.RaggedTensor):
        return tf.cast(value, x.dtype)
    if x.dtype == "string":  # which numpy does not know by that name
        return tf.convert_to_tensor(value, tf.string)
    return tf.convert_to_tensor(np.asarray(value, x.dtype) if not tf.is_tensor(value) else value, x.dtype)


def _foreign(name: str, x: Any) -> str:
    return (
        f"Expected `{name}` of symbolic tensors (`keras.Input`, `layer.input`, `layer.output`)"
        f"{' and variables' if name == 'outputs' else ' and `K.learning_phase()`'}. Received: {type(x).__name__}. "
        "What TensorFlow computes from variables alone is a number already: read it with `K.get_value`, or compute it "
        "in a function with `tf.GradientTape`."
    )
