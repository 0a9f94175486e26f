"""Make living Keras 3 models of what was recovered; Keras is imported when that is called."""

from __future__ import annotations

import copy
import os
from typing import TYPE_CHECKING, Any

from parallel_compat.recover import weight_edits
from parallel_compat.recover.errors import CheckpointError
from parallel_compat.recover.layer_tree import Branch, Leaf
from parallel_compat.recover.layer_weights import Spec
from parallel_compat.recover.optimizer_state import memory
from parallel_compat.recover.rules.layer_names import keras3_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np

    from parallel_compat.recover.layer_tree import Node, Path
    from parallel_compat.recover.single_model import Template

    Array = np.ndarray[Any, Any]


def build(template: Template, arrays: list[Array], custom_objects: Mapping[str, Any]) -> Any:
    """Build the single model in Keras 3 and give it its weights.

    Args:
        template: the single model.
        arrays: all arrays of the file's layers, in the file's order.
        custom_objects: classes and functions by name.

    Returns:
        A `keras.Model`.

    Raises:
        CheckpointError: Keras cannot build it, or it has other weights than the file.
    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    import keras

    assert template.translation is not None
    config = template.translation.config
    values = edited(template, arrays)
    maker = keras.Sequential if config["class_name"] == "Sequential" else keras.Model
    try:
        # First without memory: a config may ask for more than there is, and the shapes tell.
        with (
            keras.StatelessScope(initialize_variables=False),
            keras.saving.custom_object_scope(dict(custom_objects)),
        ):
            probe = maker.from_config(_stateless(config["config"]), custom_objects=dict(custom_objects))
            _check(probe, values)
        del probe
        with keras.saving.custom_object_scope(dict(custom_objects)):
            model = maker.from_config(copy.deepcopy(config["config"]), custom_objects=dict(custom_objects))
    except CheckpointError:
        raise
    except Exception as error:  # whatever a config makes Keras raise
        raise CheckpointError(
            f"{template.stored.path}: Keras cannot build the model from its config "
            f"({type(error).__name__}: {str(error)[:500]})."
        ) from error
    for path, mine in values.items():
        for variable, value in zip(layer_at(model, path).weights, mine, strict=True):
            variable.assign(value)
    return model


def _stateless(value: Any) -> Any:
    """Copy a config without the states of its recurrent layers: variables that building would make."""
    if isinstance(value, dict):
        return {key: False if key == "stateful" else _stateless(one) for key, one in value.items()}
    return [_stateless(one) for one in value] if isinstance(value, list) else value


def edited(template: Template, arrays: list[Array]) -> dict[Path, list[Array]]:
    """Return each layer's weights as Keras 3 needs them."""
    edits = template.translation.edits if template.translation is not None else {}
    leaves = template.leaves
    return {
        path: weight_edits.apply(
            edits.get(path, ()), leaves[path].class_name, [arrays[position] for position in positions]
        )
        for path, positions in template.places.items()
    }


def layer_at(model: Any, path: Path) -> Any:
    """Return the layer inside a model that a path leads to."""
    for name in path:
        if name in ("layer", "forward_layer", "backward_layer") and hasattr(model, name):
            model = getattr(model, name)
        else:
            model = model.get_layer(keras3_name(name))
    return model


def _check(model: Any, values: dict[Path, list[Array]]) -> None:
    """Hold a model's weights against the file's: all there, none too many, the same shapes."""
    expected = 0
    for path, mine in values.items():
        where = "/".join(path)
        variables = layer_at(model, path).weights
        if not variables:
            raise CheckpointError(
                f"layer {where!r}: it is built only when the model is called, so that it "
                f"cannot take its {len(mine)} weights."
            )
        shapes, stored = [tuple(variable.shape) for variable in variables], [value.shape for value in mine]
        if shapes != stored:
            raise CheckpointError(
                f"layer {where!r}: expected weights of the shapes {shapes}, by the model's config. Received: {stored}."
            )
        expected += len(mine)
    if len(model.weights) != expected:
        raise CheckpointError(f"the model has {len(model.weights)} weights, the file {expected} for it.")


def compile_model(
    model: Any, training_config: dict[str, Any], template: Template, optimizer_arrays: list[Array]
) -> list[str]:
    """Compile a recovered model as it was, and give its optimizer the state it had.

    Args:
        model: as `build` made it.
        training_config: as `rules.training.compiled` made it.
        template: the single model.
        optimizer_arrays: the file's arrays for the optimizer.

    Returns:
        Sentences on what could not be carried over.
    """
    import keras

    config = copy.deepcopy(training_config["optimizer_config"])
    if isinstance(config["config"]["learning_rate"], dict):
        schedule = config["config"]["learning_rate"]
        config["config"]["learning_rate"] = getattr(keras.optimizers.schedules, schedule["class_name"])(
            **schedule["config"]
        )
    optimizer = getattr(keras.optimizers, config["class_name"])(**config["config"])
    try:
        model.compile(
            optimizer=optimizer,
            loss=training_config["loss"],
            metrics=training_config["metrics"],
            loss_weights=training_config["loss_weights"],
        )
    except Exception as error:  # outputs and losses that do not belong together
        raise CheckpointError(
            f"{template.stored.path}: the model cannot be compiled as its file says ({str(error)[:300]})."
        ) from error
    assert template.tree is not None
    assert template.translation is not None
    if template.translation.edits:
        return (
            ["The optimizer's state belongs to weights that had to be rewritten; training begins with a fresh one."]
            if optimizer_arrays
            else []
        )
    stored = template.arrays
    shapes = {
        (path, index): stored[position].shape
        for path, positions in template.places.items()
        for index, position in enumerate(positions)
    }
    sorted_memory = memory(config["class_name"], config["config"], optimizer_arrays, template.tree, shapes)
    if isinstance(sorted_memory, str):
        return [sorted_memory]
    steps, by_weight = sorted_memory
    variables = {id(layer_at(model, path).weights[index]): arrays for (path, index), arrays in by_weight.items()}
    optimizer.build(model.trainable_variables)
    if steps is not None:
        optimizer.iterations.assign(steps)
    slots = _slots(optimizer, len(model.trainable_variables))
    if not slots:
        return []
    if by_weight and len(model.trainable_variables) != len(by_weight):
        return ["The model has other trainable weights than its optimizer's state; training begins with a fresh one."]
    for number, variable in enumerate(model.trainable_variables):
        for slot, value in zip(slots, variables.get(id(variable), ()), strict=False):
            slot[number].assign(value)
    return []


def _slots(optimizer: Any, count: int) -> list[list[Any]]:
    """Return an optimizer's memories, kind by kind, each in the order of the trainable variables.

    Its variables begin with the step counter and the learning rate; then come the kinds, which Keras 3 makes for all
    variables together (``[m_0, v_0, m_1, v_1, ...]``, `add_optimizer_variables`) or one after the other.
    """
    kinds: dict[str, list[Any]] = {}
    for variable in optimizer.variables:
        if variable.path.endswith(("/iteration", "/learning_rate")):
            continue
        kinds.setdefault(
            variable.path.rsplit("_", 1)[-1] if "velocity_hat" not in variable.path else "velocity_hat", []
        ).append(variable)
    return [found for found in kinds.values() if len(found) == count]


def tree_of(layer: Any, path: Path = ()) -> Node:
    """Make the tree of a living Keras model."""
    inner = {
        "forward_layer": getattr(layer, "forward_layer", None),
        "backward_layer": getattr(layer, "backward_layer", None),
    }
    if hasattr(layer, "layers") and hasattr(layer, "get_layer"):
        return Branch(path, [tree_of(one, (*path, one.name)) for one in layer.layers])
    pair = [(name, one) for name, one in inner.items() if one is not None]
    if len(pair) == 2:
        return Branch(path, [_renamed(tree_of(one, (*path, name)), f"{layer.name}/{one.name}") for name, one in pair])
    if type(layer).__name__ == "TimeDistributed":
        return Branch(path, [_renamed(tree_of(layer.layer, (*path, "layer")), layer.name)])
    specs = tuple(
        Spec(
            variable.name,
            tuple(variable.shape),
            variable.trainable and variable.name not in ("moving_mean", "moving_variance"),
        )
        for variable in layer.weights
    )
    return Leaf(path, layer.name, type(layer).__name__, {}, specs, layer.trainable)


def _renamed(node: Node, key: str) -> Node:
    if isinstance(node, Leaf):
        node.key = key
    return node
