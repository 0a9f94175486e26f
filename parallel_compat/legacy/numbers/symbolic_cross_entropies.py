"""Cross-entropies of symbolic tensors, as TensorFlow 2.2 computed them: `add_loss(binary_crossentropy(x, model(x)))`.

There `keras.backend` took the logits from behind the sigmoid or softmax that made the output, a tensor from inside of
the layer. `create_keras_history` (`base_layer_utils.py`) then made layers of the operations between the layer's input
and these logits, and constants of the weights that they read, as they were in that line: the layer does not learn from
such a loss, and the loss does not see what else changes its weights.
"""

from __future__ import annotations

from typing import Any

import keras

from parallel_compat.backend.keras3.symbolic_losses import keep_to_itself
from parallel_compat.backend.keras3.symbolic_values import node_of

# The operation behind an output that each cross-entropy looked for.
_ACTIVATIONS = {
    "BinaryCrossentropy": "sigmoid",
    "CategoricalCrossentropy": "softmax",
    "SparseCategoricalCrossentropy": "softmax",
}
_REGULARIZERS = ("kernel_regularizer", "bias_regularizer", "activity_regularizer")


def logits_of(output: Any, cross_entropy: str) -> Any:
    """Return the logits that TensorFlow 2.2 computed a cross-entropy from, as a symbolic tensor, or None.

    Args:
        output: a symbolic tensor, of a functional model that is being put together.
        cross_entropy: the name of Keras 3's operation.
    """
    name = _ACTIVATIONS[cross_entropy]
    before, layer = _layer_behind(output)
    if isinstance(layer, keras.layers.Softmax) and name == "softmax":
        return before
    if getattr(layer, "activation", None) is not getattr(keras.activations, name):
        return None
    if name == "softmax" and len(output.shape) > 2:
        return None  # which was exp(x) / sum(exp(x)) there, and no operation
    if isinstance(layer, keras.layers.Activation):
        return before
    if not isinstance(layer, (keras.layers.Dense, *_CONVOLUTIONS)):
        return None
    return _with_constants(layer)(before)


_CONVOLUTIONS = (
    keras.layers.Conv1D,
    keras.layers.Conv2D,
    keras.layers.Conv3D,
    keras.layers.Conv2DTranspose,
    keras.layers.Conv3DTranspose,
)


def _layer_behind(output: Any) -> tuple[Any, Any]:
    """Return the input of the layer that made an output, and the layer; of a model, those of its last layer."""
    node = node_of(output)
    if node is None or node.is_input or len(node.input_tensors) == 0:
        return None, None
    if type(node.operation).__name__ == "ConvertToTensor":  # which Keras 3's losses begin with
        return _layer_behind(node.input_tensors[0])
    if not isinstance(node.operation, keras.Model):
        return node.input_tensors[0], node.operation
    model = node.operation
    if not getattr(model, "outputs", None):  # of the user's own class
        return None, None
    index = next(i for i, each in enumerate(node.outputs) if each is output)
    before, layer = _layer_behind(model.outputs[index])
    if layer is None:
        return None, None
    part = keep_to_itself(keras.Model(model.inputs, before, name=_new_name(f"{model.name}_before_{layer.name}")))
    return part(list(node.input_tensors) if len(node.input_tensors) > 1 else node.input_tensors[0]), layer


def _new_name(name: str) -> str:
    """Return a name that no other layer has: several cross-entropies of one output may be added."""
    return f"{name}_{keras.backend.get_uid(name)}"


def _with_constants(layer: Any) -> Any:
    """Return a layer that computes what another one gives to its activation, with the weights that it has now."""
    name = _new_name(f"{layer.name}_logits")
    config = {**layer.get_config(), "activation": "linear", "trainable": False, "name": name}
    copy = type(layer).from_config({**config, **{name: None for name in _REGULARIZERS if name in config}})
    copy.build(layer.input.shape)
    copy.set_weights(layer.get_weights())
    return keep_to_itself(copy)
