"""`Recurrent`, the base class of custom recurrent layers until Keras 2.2.4: attention decoders, PredNet.

Read in `keras/legacy/layers.py` of Keras 2.2.4; `_time_distributed_dense` in `keras/layers/recurrent.py` of 2.0.8.
"""

from __future__ import annotations

from typing import Any

import keras
import numpy as np

from parallel_compat.legacy import backend
from parallel_compat.legacy.utils import to_list


class Recurrent(keras.layers.Layer):  # type: ignore[misc]
    """The base of a recurrent layer that says in `step` what one step of time computes.

    >>> class Sums(Recurrent):
    ...     units = 3
    ...     states = [None]
    ...     def step(self, inputs, states):
    ...         output = inputs + states[0]
    ...         return output, [output]
    >>> sums = Sums(return_sequences=True)(keras.ops.ones((1, 4, 3)))
    >>> sums[0, :, 0].numpy().tolist()
    [1.0, 2.0, 3.0, 4.0]

    A class of this kind sets `units` and `states` (a list with one element for each state) in its `__init__` or
    `build`, and may override `get_initial_state`, `get_constants` and `preprocess_input`.

    Args:
        return_sequences: whether the output has all steps, and not the last alone.
        return_state: whether the last states follow the output.
        go_backwards: whether the last step comes first.
        stateful: whether a batch begins with the states that the batch before it ended with.
        unroll: whether the steps are written one after the other, and are no loop.
        implementation: kept for layers that read it.
        **keywords: those of `keras.layers.Layer`, and `input_dim` and `input_length`.
    """

    units: int
    states: list[Any]

    def __init__(
        self,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        implementation: int = 0,
        **keywords: Any,
    ) -> None:
        length, dim = keywords.pop("input_length", None), keywords.pop("input_dim", None)
        if dim is not None and "input_shape" not in keywords:
            keywords["input_shape"] = (length, dim)
        super().__init__(**keywords)
        self.return_sequences, self.return_state = return_sequences, return_state
        self.go_backwards, self.stateful, self.unroll = go_backwards, stateful, unroll
        self.implementation = implementation
        self.supports_masking = True
        self.input_spec = [keras.layers.InputSpec(ndim=3)]
        self.state_spec: Any = None
        self.dropout = self.recurrent_dropout = 0

    def step(self, inputs: Any, states: Any) -> Any:
        """Return the output of one step, and the list of states after it.

        Args:
            inputs: what `preprocess_input` gave for the step, of shape (samples, features).
            states: the states, and after them the constants.
        """
        raise NotImplementedError(f"Expected `{type(self).__name__}` to define `step(self, inputs, states)`.")

    def get_constants(self, inputs: Any, training: Any = None) -> list[Any]:
        """Return tensors that each step gets after the states."""
        return []

    def preprocess_input(self, inputs: Any, training: Any = None) -> Any:
        """Return what the steps are given, for all of them at once."""
        return inputs

    def get_initial_state(self, inputs: Any) -> list[Any]:
        """Return zeros of shape (samples, units) for each state."""
        zeros = keras.ops.zeros_like(keras.ops.sum(inputs, axis=(1, 2)))
        zeros = keras.ops.tile(keras.ops.expand_dims(zeros, -1), [1, self.units])
        return [zeros for _ in self.states]

    def __call__(self, inputs: Any, initial_state: Any = None, **keywords: Any) -> Any:
        if initial_state is None and isinstance(inputs, (list, tuple)) and len(inputs) > 1:
            inputs, *initial_state = inputs
        if initial_state is None:
            return super().__call__(inputs, **keywords)
        states, own = to_list(initial_state, allow_tuple=True), self.input_spec
        self.input_spec = [*to_list(own, allow_tuple=True), *to_list(self.state_spec, allow_tuple=True)]
        try:
            return super().__call__([inputs, *states], **keywords)
        finally:
            self.input_spec = own

    def call(self, inputs: Any, mask: Any = None, training: Any = None, initial_state: Any = None) -> Any:
        if isinstance(inputs, (list, tuple)):
            inputs, *initial_state = inputs
        elif initial_state is None:
            initial_state = list(self.states) if self.stateful else self.get_initial_state(inputs)
        if len(initial_state) != len(self.states):
            raise ValueError(
                f"Expected {len(self.states)} initial states, one for each of the layer {self.name!r}. Received: "
                f"{len(initial_state)}"
            )
        steps = inputs.shape[1]
        if self.unroll and steps in (None, 1):
            raise ValueError(
                f"Expected more than one step, and their number known, for `unroll=True` in {self.name!r}. Received: "
                f"an input of shape {tuple(inputs.shape)}. Give the layers before it `input_shape` or `input_length`."
            )
        last, outputs, states = backend.rnn(
            self.step,
            self.preprocess_input(inputs, training=None),
            initial_state,
            go_backwards=self.go_backwards,
            mask=mask[0] if isinstance(mask, (list, tuple)) else mask,
            constants=self.get_constants(inputs, training=None),
            unroll=self.unroll,
            input_length=steps,
        )
        if self.stateful:
            for variable, state in zip(self.states, states, strict=True):
                variable.assign(state)
        output = outputs if self.return_sequences else last
        return [output, *states] if self.return_state else output

    def compute_output_shape(self, input_shape: Any) -> Any:
        if input_shape and isinstance(input_shape[0], (list, tuple)):
            input_shape = input_shape[0]
        steps = (input_shape[1],) if self.return_sequences else ()
        output = (input_shape[0], *steps, self.units)
        return [output, *((input_shape[0], self.units) for _ in self.states)] if self.return_state else output

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        if isinstance(mask, (list, tuple)):
            mask = mask[0]
        mask = mask if self.return_sequences else None
        return [mask, *(None for _ in self.states)] if self.return_state else mask

    def reset_states(self, states: Any = None) -> None:
        """Put the states back to zero, or to given values.

        Args:
            states: an array of shape (batch size, units), or one for each state; zeros if None.

        Raises:
            AttributeError: the layer is not stateful.
            ValueError: the batch size is not known, or a value has another shape.
        """
        if not self.stateful:
            raise AttributeError("Expected a layer with `stateful=True`.")
        spec = to_list(self.input_spec, allow_tuple=True)[0]
        batch = spec.shape[0] if spec.shape else None
        if not batch:
            raise ValueError(
                f"Expected the batch size of the stateful layer {self.name!r} to be known. Give the first layer "
                "`batch_input_shape`, or `Input` its `batch_shape`."
            )
        shape = (batch, self.units)
        if self.states[0] is None:
            self.states = [backend.zeros(shape) for _ in self.states]
        values = [np.zeros(shape)] * len(self.states) if states is None else to_list(states, allow_tuple=True)
        if [np.shape(value) for value in values] != [shape] * len(self.states):
            raise ValueError(
                f"Expected {len(self.states)} states of shape {shape} for {self.name!r}. Received: "
                f"{[np.shape(value) for value in values]}"
            )
        for state, value in zip(self.states, values, strict=True):
            state.assign(value)

    def get_config(self) -> dict[str, Any]:
        own = ("return_sequences", "return_state", "go_backwards", "stateful", "unroll", "implementation")
        return {**super().get_config(), **{name: getattr(self, name) for name in own}}


def _time_distributed_dense(
    x: Any,
    w: Any,
    b: Any = None,
    dropout: float | None = None,
    input_dim: int | None = None,
    output_dim: int | None = None,
    timesteps: int | None = None,
    training: Any = None,
) -> Any:
    """Multiply each step of `x`, of shape (samples, steps, features), by `w`, and add `b`.

    >>> _time_distributed_dense(keras.ops.ones((1, 2, 3)), keras.ops.ones((3, 1)))[0].numpy().tolist()
    [[3.0], [3.0]]

    Args:
        x: a float tensor.
        w: a tensor of shape (features, units).
        b: a tensor of shape (units,), or None.
        dropout: the share of features that is set to zero in all steps of a sample while training, or None.
        input_dim: not used, it is read off `x`.
        output_dim: not used, it is read off `w`.
        timesteps: not used, it is read off `x`.
        training: the learning phase; that of the call if None.
    """
    if dropout is not None and 0.0 < dropout < 1.0:
        kept = backend.dropout(keras.ops.ones_like(x[:, 0]), dropout)
        x = backend.in_train_phase(x * keras.ops.expand_dims(kept, 1), x, training=training)
    product = keras.ops.matmul(x, w)
    return product if b is None else product + b
