"""Cells of recurrent layers that tf.keras 2 had and Keras 3 has not."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from parallel_compat.legacy.activations import hard_sigmoid


class AbstractRNNCell(keras.layers.Layer):  # type: ignore[misc]
    """The base class of a cell of one's own: `call`, `state_size` and `output_size` are the subclass's.

    >>> issubclass(AbstractRNNCell, keras.layers.Layer)
    True
    """

    def call(self, inputs: Any, states: Any) -> Any:
        """Make one step: return the output and the new states."""
        raise NotImplementedError("Expected a `call(inputs, states)` of the cell's own.")

    @property
    def state_size(self) -> Any:
        """The size of the state, or of each of them."""
        raise NotImplementedError("Expected a `state_size` of the cell's own.")

    @property
    def output_size(self) -> Any:
        """The size of the output."""
        raise NotImplementedError("Expected an `output_size` of the cell's own.")

    def get_initial_state(self, inputs: Any = None, batch_size: Any = None, dtype: Any = None) -> Any:
        """Return zeros, for the batch of `inputs` or of `batch_size` samples."""
        if inputs is not None:
            batch_size, dtype = keras.ops.shape(inputs)[0], dtype or inputs.dtype
        if batch_size is None:
            raise ValueError("Expected `inputs` or a `batch_size`. Received: neither.")
        dtype = keras.backend.standardize_dtype(dtype or self.compute_dtype)

        def zeros(size: Any) -> Any:
            return keras.ops.zeros((batch_size, *tf.TensorShape(size).as_list()), dtype=dtype)

        sizes = self.state_size
        if isinstance(sizes, (list, tuple)):
            return type(sizes)(zeros(size) for size in sizes)
        return zeros(sizes)


class PeepholeLSTMCell(keras.layers.LSTMCell):  # type: ignore[misc]
    """An LSTM cell whose gates see the carried state as well.

    >>> cell = PeepholeLSTMCell(2)
    >>> cell.build((None, 3))
    >>> len(cell.weights)
    6

    Args:
        units: the size of the output and of both states.
        recurrent_activation: of the gates.
        **keywords: those of `keras.layers.LSTMCell`.
    """

    def __init__(self, units: int, *, recurrent_activation: Any = hard_sigmoid, **keywords: Any) -> None:
        super().__init__(units, recurrent_activation=recurrent_activation, **keywords)

    def build(self, input_shape: Any) -> None:
        """Make the weights."""
        super().build(input_shape)
        for gate in ("input", "forget", "output"):
            name = f"{gate}_gate_peephole_weights"
            weight = self.add_weight(shape=(self.units,), name=name, initializer=self.kernel_initializer)
            setattr(self, name, weight)

    def call(self, inputs: Any, states: Any, training: bool = False) -> Any:
        """Make one step."""
        ops = keras.ops
        hidden, carried = states
        of_gates, hidden_of_gates = [inputs] * 4, [hidden] * 4
        if training and 0.0 < self.dropout < 1.0:
            of_gates = _dropped(inputs, self.get_dropout_mask(inputs))
        if training and 0.0 < self.recurrent_dropout < 1.0:
            hidden_of_gates = _dropped(hidden, self.get_recurrent_dropout_mask(hidden))
        biases = ops.split(self.bias, 4, axis=0) if self.use_bias else [0.0] * 4
        z = [
            ops.matmul(x, kernel) + ops.matmul(h, recurrent) + bias
            for x, kernel, h, recurrent, bias in zip(
                of_gates,
                ops.split(self.kernel, 4, axis=1),
                hidden_of_gates,
                ops.split(self.recurrent_kernel, 4, axis=1),
                biases,
                strict=True,
            )
        ]
        taken = self.recurrent_activation(z[0] + self.input_gate_peephole_weights * carried)
        kept = self.recurrent_activation(z[1] + self.forget_gate_peephole_weights * carried)
        carry = kept * carried + taken * self.activation(z[2])
        shown = self.recurrent_activation(z[3] + self.output_gate_peephole_weights * carry)
        output = shown * self.activation(carry)
        return output, [output, carry]


def _dropped(values: Any, masks: Any) -> list[Any]:
    """Return the values for each gate: with `implementation=1` each has a mask of its own."""
    return [values * mask for mask in (masks if isinstance(masks, list) else [masks] * 4)]
