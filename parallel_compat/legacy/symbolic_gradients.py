"""`K.gradients` of tensors of a graph, and of Keras's symbolic tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from parallel_compat.backend.keras3 import layer_calls
from parallel_compat.backend.keras3.symbolic_values import Values, behind

layer_calls.remember_calls()


def gradients(loss: Any, variables: Any) -> list[Any]:
    """Return the gradients of a loss, added up over its elements.

    >>> import keras, numpy as np
    >>> from parallel_compat.legacy import backend as K
    >>> x = keras.Input((2,))
    >>> K.function([x], gradients(K.sum(K.square(x)), x))([np.array([[1.0, 2.0]])])[0].tolist()
    [[2.0, 4.0]]

    Args:
        loss: a symbolic tensor, or a tensor of a graph: in a layer's `call`, in a loss.
        variables: symbolic tensors and weights, or one of them; in a graph its tensors and weights, or symbolic tensors
            of the model of which it computes the loss.

    Returns:
        A list of tensors, None for each one that the loss does not depend on.

    Raises:
        TypeError: the loss is a number already, or one is a symbolic tensor and the other is not.
    """
    listed = list(variables) if isinstance(variables, (list, tuple)) else [variables]
    if isinstance(loss, keras.KerasTensor):
        return _of_symbolic(loss, listed)
    if tf.is_symbolic_tensor(loss):  # a model's own tensor, in the loss of that model
        values = [layer_calls.value_in_graph(each) if isinstance(each, keras.KerasTensor) else None for each in listed]
        listed = [each if value is None else value for each, value in zip(listed, values, strict=True)]
    symbolic = any(isinstance(each, keras.KerasTensor) for each in listed)
    if symbolic or not tf.is_symbolic_tensor(loss):
        received = "a symbolic tensor of Keras in `variables`" if symbolic else "a loss that is computed already"
        raise TypeError(
            f"Expected a symbolic tensor of a model as the loss, or tensors of one graph. Received: {received}. "
            "Compute both under `with tf.GradientTape() as tape:`, and call `tape.gradient(loss, variables)`."
        )
    return list(tf.gradients(loss, [each.value if isinstance(each, keras.Variable) else each for each in listed]))


def _of_symbolic(loss: Any, variables: list[Any]) -> list[Any]:
    tensors = list(behind([loss]))
    inputs = [tensor for tensor, node in tensors if node is None or node.is_input]
    ancestors = {id(tensor) for tensor, _ in tensors}
    used = [not isinstance(each, keras.KerasTensor) or id(each) in ancestors for each in variables]
    results = iter(_Gradients(loss, [each for each, one in zip(variables, used, strict=True) if one], inputs)(inputs))
    return [next(results) if one else None for one in used]


class _Gradients(keras.Operation):  # type: ignore[misc]  # Keras carries no types
    """The gradients of a symbolic tensor, computed from the inputs that are behind it."""

    def __init__(self, loss: Any, variables: Sequence[Any], inputs: Sequence[Any]) -> None:
        super().__init__()
        self._of = loss, tuple(variables), tuple(inputs)

    def call(self, given: Sequence[Any], training: bool | None = None) -> list[Any]:
        loss, variables, inputs = self._of
        weights = [each.value for each in variables if not isinstance(each, keras.KerasTensor)]
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            for each in (*given, *weights):  # before anything is computed from them
                tape.watch(each)
            values = Values(zip(inputs, given, strict=True), training)
            watched = [values.of(each) if isinstance(each, keras.KerasTensor) else each.value for each in variables]
            for each in watched:
                tape.watch(each)
            result = values.of(loss)
        return list(tape.gradient(result, watched, unconnected_gradients=tf.UnconnectedGradients.ZERO))

    def compute_output_spec(self, given: Any, training: bool | None = None) -> list[Any]:
        """A gradient has the shape of its variable."""
        return [keras.KerasTensor(each.shape, keras.backend.standardize_dtype(each.dtype)) for each in self._of[1]]
