"""Cells of recurrent layers that tf.keras 2 had and Keras 3 has not."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

from parallel_compat.legacy import backend
from parallel_compat.legacy.activations import hard_sigmoid


class AbstractRNNCell(keras.layers.Layer):  # type: ignore[misc]
    """The base class of a custom cell: `call`, `state_size` and `output_size` are the subclass's.

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


class _CellWrapper(AbstractRNNCell):
    """A cell that runs another one, whose weights and states are its own.

    Args:
        cell: the other cell.
        **keywords: those of `keras.layers.Layer`.
    """

    def __init__(self, cell: Any, **keywords: Any) -> None:
        super().__init__(**keywords)
        self.cell = cell

    @property
    def state_size(self) -> Any:
        return self.cell.state_size

    @property
    def output_size(self) -> Any:
        return self.cell.output_size

    def build(self, input_shape: Any) -> None:
        if not self.cell.built:
            self.cell.build(input_shape)
            self.cell.built = True
        self.built = True

    def get_initial_state(self, inputs: Any = None, batch_size: Any = None, dtype: Any = None) -> Any:
        if inputs is not None:
            batch_size = keras.ops.shape(inputs)[0]
        return self.cell.get_initial_state(batch_size=batch_size)

    def call(self, inputs: Any, states: Any, training: bool | None = None) -> Any:
        return self.cell(inputs, states, **({} if training is None else {"training": training}))

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "cell": keras.saving.serialize_keras_object(self.cell)}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None) -> Any:
        config = dict(config)
        for name in ("cell", "residual_fn"):
            if isinstance(config.get(name), dict):
                config[name] = keras.saving.deserialize_keras_object(config[name], custom_objects=custom_objects)
        return cls(**config)


@keras.saving.register_keras_serializable(package="parallel_compat")
class ResidualWrapper(_CellWrapper):
    """`tf.nn.RNNCellResidualWrapper`: adds its input to another cell's output.

    >>> cell = ResidualWrapper(keras.layers.SimpleRNNCell(3))
    >>> keras.layers.RNN(cell)(keras.ops.ones((2, 4, 3))).shape.as_list()
    [2, 3]

    Args:
        cell: the other cell.
        residual_fn: makes the output of `(inputs, outputs)`; their sum if None.
        **keywords: those of `keras.layers.Layer`.
    """

    def __init__(self, cell: Any, residual_fn: Any = None, **keywords: Any) -> None:
        super().__init__(cell, **keywords)
        self.residual_fn = residual_fn

    def call(self, inputs: Any, states: Any, training: bool | None = None) -> Any:
        outputs, states = super().call(inputs, states, training=training)
        if self.residual_fn is not None:
            return self.residual_fn(inputs, outputs), states
        return keras.tree.map_structure(lambda given, made: given + made, inputs, outputs), states

    def get_config(self) -> dict[str, Any]:
        function = self.residual_fn and keras.saving.serialize_keras_object(self.residual_fn)
        return {**super().get_config(), "residual_fn": function}


@keras.saving.register_keras_serializable(package="parallel_compat")
class DeviceWrapper(_CellWrapper):
    """`tf.nn.RNNCellDeviceWrapper`: the other cell, whose steps today run where the layer does.

    Args:
        cell: the other cell.
        device: where it ran.
        **keywords: those of `keras.layers.Layer`.
    """

    def __init__(self, cell: Any, device: str, **keywords: Any) -> None:
        super().__init__(cell, **keywords)
        self.device = device

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "device": self.device}


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
        super().build(input_shape)
        for gate in ("input", "forget", "output"):
            name = f"{gate}_gate_peephole_weights"
            weight = self.add_weight(shape=(self.units,), name=name, initializer=self.kernel_initializer)
            setattr(self, name, weight)

    def call(self, inputs: Any, states: Any, training: bool = False) -> Any:
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


def _generate_dropout_mask(ones: Any, rate: float, training: Any = None, count: int = 1) -> Any:
    """Return a mask of inputs or states that a custom cell keeps for all steps, ones while the model predicts.

    >>> _generate_dropout_mask(keras.ops.ones(2), 0.5, training=False).numpy().tolist()
    [1.0, 1.0]

    Args:
        ones: of the shape of the mask.
        rate: the share that is dropped; the rest is scaled up.
        training: the learning phase; that of the call if None.
        count: how many masks; above 1 they are a list.
    """
    masks = [backend.in_train_phase(lambda: backend.dropout(ones, rate), ones, training=training) for _ in range(count)]
    return masks if count > 1 else masks[0]


def _standardize_args(inputs: Any, initial_state: Any, constants: Any, num_constants: int | None) -> Any:
    """Return inputs, states and constants of a recurrent layer, the last two as lists or None.

    >>> _standardize_args([1, 2, 3], None, None, 1)
    (1, [2], [3])

    Args:
        inputs: the inputs, or a list of them with the states and constants.
        initial_state: a state or a list of them, or None.
        constants: likewise.
        num_constants: how many at the end of the list are constants.
    """
    if isinstance(inputs, list):
        if initial_state is not None or constants is not None:
            raise ValueError(
                "Expected states and constants either in the list of the inputs or as `initial_state` and "
                f"`constants`. Received both: a list of {len(inputs)}, {initial_state!r} and {constants!r}"
            )
        if num_constants is not None:
            end = len(inputs) - num_constants
            inputs, constants = inputs[:end], inputs[end:]
        initial_state = inputs[1:] or None
        inputs = inputs[0]
    return inputs, _listed(initial_state), _listed(constants)


def _listed(given: Any) -> list[Any] | None:
    return list(given) if isinstance(given, (list, tuple)) else None if given is None else [given]
