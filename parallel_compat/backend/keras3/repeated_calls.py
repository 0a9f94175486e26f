"""Models that are called on the same tensors again, of which Keras 2.2.4 made nothing anew.

It returned the tensors of the first call, on which the next model was called: `discriminator(generator(noise))`,
said once for each of two models of the same inputs, was one call of both (`Network.call`, 2.2.4). Keras 3 makes others,
of nodes of their own. Read in Keras 3.15.1.
"""

from __future__ import annotations

import operator
from typing import Any

import keras

# On a node: the first of the same calls.
_FIRST = "_parallel_compat_first_of_calls"


def first_call(node: Any) -> Any:
    """Return the node of the first call of a model on the tensors of a node; that of another layer is its own.

    Args:
        node: the node.
    """
    if not isinstance(node.operation, keras.Model):
        return node
    if _FIRST not in vars(node):
        given = _tensors(node)
        for each in node.operation._inbound_nodes:
            if each is node or (
                len(tensors := _tensors(each)) == len(given) and all(map(operator.is_, tensors, given))
            ):
                vars(node)[_FIRST] = each
                break
        else:  # the model has forgotten its calls
            return node
    return vars(node)[_FIRST]


def first_tensor(tensor: Any) -> Any:
    """Return the tensor that stood for one that a model returned, when Keras 2.2.4 was called so.

    Args:
        tensor: a symbolic tensor, or anything else, which is returned as it is.
    """
    operation, index, number = getattr(tensor, "_keras_history", (None, 0, 0))
    if not isinstance(operation, keras.Model):
        return tensor
    return first_call(operation._inbound_nodes[index]).output_tensors[number]


def _tensors(node: Any) -> list[Any]:
    return [first_tensor(tensor) for tensor in node.input_tensors]
