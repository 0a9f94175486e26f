"""What the methods of models share: arguments translated and noted, data in the forms that Keras takes."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any

import keras
import numpy as np

from parallel_compat.backend import keras3
from parallel_compat.batches import ordered_batches
from parallel_compat.batches.sources import is_generator, is_sequence
from parallel_compat.legacy.call_arguments import translate
from parallel_compat.legacy.numbers import sample_order
from parallel_compat.names.eras import Era
from parallel_compat.run import usage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import FrameType

# Bound here: under `run` an attribute of Keras's modules is found by a function of python.
flatten = keras.tree.flatten


_STEPS = ("steps_per_epoch", "steps", "validation_steps")


def check_steps(arguments: Mapping[str, Any]) -> None:
    """Refuse 0 steps, which Keras 3 takes for as many as there are: without end, of a generator.

    TensorFlow 1.15 and 2.2 ended with an error, and Keras 2.2.4 trained nothing.

    Args:
        arguments: those of `fit`, `evaluate`, `predict` or one of their relatives.

    Raises:
        ValueError: for `steps_per_epoch=0` or `steps=0`, or `validation_steps=0` with what has no length.
    """
    held_out = arguments.get("validation_data")
    for name in _STEPS:
        if name == "validation_steps" and (not is_generator(held_out) or is_sequence(held_out)):
            continue
        steps = arguments.get(name)
        if isinstance(steps, (int, np.integer, float)) and steps == 0:
            raise ValueError(
                f"Expected at least one step. Received: {name}=0, as `samples // batch_size` gives for fewer samples "
                "than a batch has. Write `max(1, samples // batch_size)`, or take a smaller batch."
            )


def in_whole_steps(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return arguments with whole numbers of steps: `samples / batch_size` may be none.

    The eras took steps while there had been fewer than that; Keras 3 asks for an integer.

    Args:
        arguments: those of `fit`, `evaluate` or `predict`.
    """
    fractions = [name for name in _STEPS if isinstance(arguments.get(name), (float, np.floating))]
    return arguments | {name: math.ceil(arguments[name]) for name in fractions}


def is_sparse(x: Any) -> bool:
    if type(x) is np.ndarray:
        return False
    return any(keras3.is_scipy_sparse(leaf) for leaf in flatten(x) if leaf is not None)


def in_batches(model: Any, data: Any, batch_size: int | None) -> Any:
    """Return data of `evaluate`, `predict` or for validation with scipy's sparse matrices cut into batches.

    They become dense, but for a model with a sparse input.
    """
    if not isinstance(data, (tuple, list)) or not is_sparse(data[0]) or not ordered_batches.are_arrays(data):
        return data
    given = tuple(data)
    while given[-1] is None:
        given = given[:-1]
    draw = sample_order.drawn(Era.KERAS_2_2_4, False)
    at_once = int(getattr(model, "steps_per_execution", None) or 1)
    sparse = keras3.has_sparse_inputs(model)
    return ordered_batches.adapter(given, batch_size or 32, draw, at_once, sparse=sparse)


def as_inputs(model: Any, batch: Any) -> Any:
    """Return one batch of inputs with scipy's sparse matrices made dense, but for a model with a sparse input."""
    if not keras3.has_sparse_inputs(model) or not is_sparse(batch):
        return dense(batch)
    return keras.tree.map_structure(
        lambda leaf: keras3.scipy_sparse_to_tensor(leaf) if keras3.is_scipy_sparse(leaf) else leaf, batch
    )


def dense(batch: Any) -> Any:
    """Return one batch with scipy's sparse matrices made dense."""
    if not is_sparse(batch):
        return batch
    floatx = keras.config.floatx()
    return keras.tree.map_structure(
        lambda leaf: leaf.toarray().astype(floatx) if keras3.is_scipy_sparse(leaf) else leaf, batch
    )


def is_parallel(model: Any) -> bool:
    parallel_model = sys.modules.get("parallel_compat.parallel_model")
    return parallel_model is not None and isinstance(model, parallel_model.ParallelModel)


def translated(
    of: str, given: tuple[Any, ...], keywords: dict[str, Any], frame: FrameType
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return translate(of, given, keywords, note_of_method(of, frame))


def note_of_method(of: str, frame: FrameType) -> Callable[[str, str], None]:
    short = of.removeprefix("keras.")
    return lambda old, became: usage.record(f"{short}({old})", became, frame)
