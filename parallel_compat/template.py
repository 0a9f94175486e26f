"""The template: what a model must be to run on replicas, and what its inputs and outputs are called."""

from __future__ import annotations

import inspect
import itertools
from collections import Counter
from collections.abc import Sequence
from typing import Any

import keras

from parallel_compat.backend import keras3


def check_template(model: Any) -> None:
    """Refuse what cannot be a template."""
    if not isinstance(model, keras.Model):
        raise TypeError(f"Expected `model` to be a Keras model. Received: {model!r} of type {type(model).__name__}.")
    if not model.built or not _has_inputs(model):
        raise ValueError(
            f"Expected a built model, with inputs of known shape. Received: {model.name!r} of type "
            f"{type(model).__name__}, which is not built. Call it on one batch or call "
            "`model.build(input_shape)` first; give a Sequential model an `Input` or `input_shape=`."
        )
    stateful = [layer.name for layer in keras3.layers.all_layers(model) if getattr(layer, "stateful", False)]
    if stateful:
        raise ValueError(
            "Expected layers that keep no state from batch to batch: a replica sees other samples each time. "
            f"Received stateful layers {stateful}. Make them with `stateful=False`."
        )


def check_trained_by_fit(model: keras.Model) -> None:
    """Refuse a template with a training step of its own, which the parallel model would not call."""
    steps = ("train_step", "test_step", "predict_step", "compute_loss", "compute_metrics")
    own = [name for name in steps if getattr(type(model), name) is not getattr(keras.Model, name)]
    if own:
        raise ValueError(
            f"Expected a model that is trained only by `compile` and `fit`. Received: {type(model).__name__}, which "
            f"overrides {own}; a parallel model computes the loss of the global batch and would not call it."
        )


def _has_inputs(model: keras.Model) -> bool:
    try:
        return template_inputs(model) is not None
    except (AttributeError, ValueError):
        return False


def template_inputs(model: keras.Model) -> Any:
    """Return symbolic inputs of a built model, in the structure that the model is called with."""
    if isinstance(model, keras.Sequential):
        return model.inputs[0] if len(model.inputs) == 1 else model.inputs
    if getattr(model, "inputs", None):
        return model.input
    # A subclassed model knows the shapes that it was built with.
    shapes = (model.get_build_config() or {}).get("input_shape")
    if shapes is None:
        raise ValueError(
            f"Expected a model with one first argument of known shape. Received: {model.name!r}, built without one. "
            "Call it on one batch, with all its inputs in the first argument."
        )
    return _symbolic(shapes)


def _symbolic(shapes: Any) -> Any:
    if isinstance(shapes, dict):
        return {name: _symbolic(shape) for name, shape in shapes.items()}
    if shapes and isinstance(shapes[0], (list, tuple, dict)):
        return [_symbolic(shape) for shape in shapes]
    return keras.Input(tuple(shapes[1:]))


def symbolic_call(model: keras.Model) -> tuple[Any, Any]:
    """Call a built model on symbolic inputs.

    Of a subclassed model the dtypes of the inputs are not known: where it cannot be called on floats, integers and
    strings are tried. They serve to find the shapes of the outputs alone.
    """
    # `training` is given only if `call` cannot do without.
    training = inspect.signature(model.call).parameters.get("training")
    needed = training is not None and training.default is inspect.Parameter.empty
    inputs = template_inputs(model)
    if getattr(model, "inputs", None):
        outputs = model(inputs, training=False) if needed else model(inputs)
        # `Model(inputs=[x], outputs=[y])`: Keras 3 returns a list of one here, and the tensor when it computes.
        return _only(inputs), _only(outputs)
    leaves = keras.tree.flatten(inputs)
    first: Exception | None = None
    for dtypes in itertools.product((keras.config.floatx(), "int32", "string"), repeat=min(len(leaves), 4)):
        typed = [keras.Input(leaf.shape[1:], dtype=t) for leaf, t in itertools.zip_longest(leaves, dtypes)]
        inputs = keras.tree.pack_sequence_as(inputs, typed)
        try:
            return inputs, model(inputs, training=False) if needed else model(inputs)
        except Exception as error:  # a user's `call` may raise anything on the wrong dtype
            first = first or error
    assert first is not None
    raise first


def _only(tensors: Any) -> Any:
    return tensors[0] if isinstance(tensors, (list, tuple)) and len(tensors) == 1 else tensors


def output_names_of(model: keras.Model, outputs: Any) -> list[str]:
    """Name a model's outputs as Keras does: after its output layers, or its dict's keys, or `output_1`, ..."""
    if names := keras3.layers.output_names(model):
        return names
    if isinstance(outputs, dict):
        return [str(path[-1]) for path, _ in keras.tree.flatten_with_path(outputs)]
    return [f"output_{i + 1}" for i in range(len(keras.tree.flatten(outputs)))]


def unique_names(names: Sequence[str]) -> list[str]:
    """Tell equal names apart by a number, as `multi_gpu_model` did for siamese networks: `twin_1`, `twin_2`."""
    counts = Counter(names)
    seen: Counter[str] = Counter()
    unique = []
    for name in names:
        seen[name] += 1
        unique.append(f"{name}_{seen[name]}" if counts[name] > 1 else name)
    return unique
