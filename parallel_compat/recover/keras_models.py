"""Make living Keras 3 models of what was recovered; this imports Keras, the modules that only read files do not."""

from __future__ import annotations

import copy
import logging
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import keras
import numpy as np

from parallel_compat.backend.keras3.global_state import variables_without_values
from parallel_compat.backend.keras3.h5_files import values_as_written, weights_in_file
from parallel_compat.backend.keras3.layers import layers_that_drop_masks
from parallel_compat.recover import limits, optimizer_state, weight_edits
from parallel_compat.recover.config_json import Entry
from parallel_compat.recover.errors import CheckpointError
from parallel_compat.recover.h5_writer import gather
from parallel_compat.recover.layer_tree import Branch, Leaf, Node, Path
from parallel_compat.recover.layer_weights import Spec
from parallel_compat.recover.reader import Reading
from parallel_compat.recover.rules.layer_names import keras3_name
from parallel_compat.recover.single_model import Template

Array = np.ndarray[Any, Any]


def read_model(
    template: Template,
    reading: Reading,
    custom_objects: Mapping[str, Any],
    *,
    optimizer: bool,
    advance: Callable[[int], object] = lambda count: None,
) -> tuple[Any, list[Array]]:
    """Build the single model with its weights.

    Args:
        reading: the open file; its arrays are consumed.
        advance: called with the number of bytes after each array.

    Returns:
        A `keras.Model` and the optimizer's arrays.
    """
    arrays = []
    for array, pieces in reading.arrays(optimizer=optimizer):
        arrays.append(gather(array, pieces))
        advance(array.nbytes)
    translation, leaves = template.translation, template.leaves
    assert translation is not None
    values = {
        path: weight_edits.apply(
            translation.edits.get(path, ()), leaves[path].class_name, [arrays[position] for position in positions]
        )
        for path, positions in template.indices.items()
    }
    model = make(translation.config, custom_objects, lambda probe: _check(probe, values), template.stored.path)
    for path, mine in values.items():
        for variable, value in zip(weights_in_file(layer_at(model, path)), mine, strict=True):
            variable.assign(value)
    return model, arrays[len(template.stored.weights) :]


def make(
    config: Entry,
    custom_objects: Mapping[str, Any],
    check: Callable[[Any], None],
    where: str,
    trying: Callable[[], AbstractContextManager[Any]] = nullcontext,
    *,
    alone: bool = False,
) -> Any:
    """Build a model in Keras 3, after its shapes alone have shown that there is memory for it.

    Args:
        check: called with the model whose variables have shapes and no values; raises if it must not be made.
        trying: a context in which the model without memory is made.
        alone: whether that is all, and None is returned.
    """
    maker = keras.Sequential if config["class_name"] == "Sequential" else keras.Model
    try:
        with (
            variables_without_values(),
            keras.saving.custom_object_scope(dict(custom_objects)),
            values_as_written(),
            trying(),
        ):
            probe = maker.from_config(stateless(config["config"]), custom_objects=dict(custom_objects))
            check(probe)
        del probe
        if alone:
            return None
        with keras.saving.custom_object_scope(dict(custom_objects)), values_as_written():
            model = maker.from_config(copy.deepcopy(config["config"]), custom_objects=dict(custom_objects))
    except CheckpointError:
        raise
    except Exception as error:  # whatever a config makes Keras raise
        raise CheckpointError(
            f"{where}: Keras cannot build the model from its config ({type(error).__name__}: {str(error)[:500]})."
        ) from error
    return model


def load_as_plain_keras(path: str | os.PathLike[str], custom_objects: Mapping[str, Any], where: str) -> list[str]:
    """Load a file that was written, as its reader will."""
    logger = logging.getLogger("absl")  # Keras tells there that metrics are built by the first batch
    level = logger.level
    try:
        logger.setLevel(logging.ERROR)
        return notes_on_masks(keras.models.load_model(path, custom_objects=dict(custom_objects)))
    except Exception as error:  # whatever a config makes Keras raise
        raise CheckpointError(
            f"{where}: Keras cannot load the model made from it ({type(error).__name__}: {str(error)[:500]}). "
            "Only its weights can be extracted (-o NAME.h5 --weights-only)."
        ) from error
    finally:
        logger.setLevel(level)


def notes_on_masks(model: Any) -> list[str]:
    """Say where the installed Keras drops a mask that old Keras handed on: a model predicts something else there."""
    dropping = ", ".join(layers_that_drop_masks(model))
    return [
        f"Keras {keras.__version__} drops the mask behind these layers, so that padded steps count in the layers after "
        f"them and the predictions differ from the old ones: {dropping}. Load the result with Keras 3.12 to 3.15."
    ] * bool(dropping)


def check_room(model: Any) -> None:
    """Refuse a model that asks for more memory than this machine has."""
    require_room(model.weights)


def require_room(variables: Iterable[Any]) -> None:
    """Refuse variables that take more memory than this machine has."""
    wanted = sum(math.prod(variable.shape) * np.dtype("float32").itemsize for variable in variables)
    if wanted > limits.memory_of_machine():
        raise CheckpointError(
            f"the model's weights take {wanted:,} bytes; this machine has {limits.memory_of_machine():,} of memory."
        )


class Layers:
    """Layers with the attributes of a model that loading weights reads."""

    name = "layers"
    built = True
    _trainable_variables: tuple[Any, ...] = ()
    _non_trainable_variables: tuple[Any, ...] = ()

    def __init__(self, layers: Sequence[Any]) -> None:
        self.layers = list(layers)
        self.weights = [weight for layer in self.layers for weight in weights_in_file(layer)]

    def get_layer(self, name: str) -> Any:
        return next(layer for layer in self.layers if layer.name == name)


def stateless(value: Any) -> Any:
    """Copy a config without the states of its recurrent layers: variables that building would make."""
    if isinstance(value, dict):
        return {key: False if key == "stateful" else stateless(one) for key, one in value.items()}
    return [stateless(one) for one in value] if isinstance(value, list) else value


def layer_at(model: Any, path: Path) -> Any:
    """Return the layer inside a model that a path leads to."""
    for name in path:
        if name in ("layer", "forward_layer", "backward_layer") and hasattr(model, name):
            model = getattr(model, name)
        else:
            model = model.get_layer(keras3_name(name))
    return model


def _check(model: Any, values: dict[Path, list[Array]]) -> None:
    """Raise an error unless a model and a file have the same weights, with the same shapes."""
    expected = 0
    for path, mine in values.items():
        where = "/".join(path)
        variables = weights_in_file(layer_at(model, path))
        if not variables:
            raise CheckpointError(
                f"layer {where!r}: it is built only when the model is called, so its "
                f"{len(mine)} weights cannot be loaded."
            )
        shapes, stored = [tuple(variable.shape) for variable in variables], [value.shape for value in mine]
        if shapes != stored:
            raise CheckpointError(
                f"layer {where!r}: expected weights of the shapes {shapes}, by the model's config. Received: {stored}."
            )
        expected += len(mine)
    if len(weights_in_file(model)) != expected:
        raise CheckpointError(f"the model has {len(weights_in_file(model))} weights, the file {expected} for it.")


def compile_model(model: Any, training_config: dict[str, Any], path: str) -> None:
    """Compile a recovered model as it was."""
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
            f"{path}: the model cannot be compiled with the arguments in its file ({str(error)[:300]})."
        ) from error


def restore_optimizer(
    model: Any, template: Template, optimizer_arrays: list[Array], *, optimizer: Any = None
) -> list[str]:
    """Give an optimizer the state that is in a file.

    Args:
        optimizer: the optimizer; None for that of the model, which is compiled.

    Returns:
        Sentences on what could not be carried over.
    """
    assert template.tree is not None
    assert template.translation is not None
    if not optimizer_arrays:
        return []
    if template.translation.edits:
        return ["The optimizer's state belongs to weights that were converted; training starts with a new state."]
    order = [place for place in template.tree.sections(frozen=True)[0] if place[0].path in template.indices]
    if template.translation.keras1:
        if template.translation.version < (1, 2) and template.translation.backend == "theano":
            return [f"The order of the optimizer's state is not known; {optimizer_state.FRESH}"]
        # Keras 1 sorted the weights that it trained by their names, which had no slashes.
        names = [weight.name.replace("/", "_") for weight in template.stored.weights]
        order.sort(key=lambda place: names[template.indices[place[0].path][place[1]]])
    trained = [weights_in_file(layer_at(model, leaf.path))[index] for leaf, index in order]
    note = optimizer_state.restore(
        model.optimizer if optimizer is None else optimizer, model.trainable_variables, optimizer_arrays, trained
    )
    return [] if note is None else [note]


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
    own = {id(variable) for variable in getattr(layer, "weights", ())}
    specs = tuple(
        Spec(
            variable.name,
            tuple(variable.shape),
            variable.trainable and variable.name not in ("moving_mean", "moving_variance"),
            id(variable) not in own,
        )
        for variable in weights_in_file(layer)
    )
    return Leaf(path, layer.name, type(layer).__name__, {}, specs, getattr(layer, "trainable", True))


def _renamed(node: Node, key: str) -> Node:
    if isinstance(node, Leaf):
        node.key = key
    return node
