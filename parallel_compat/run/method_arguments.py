"""What the methods of models share: arguments translated and noted, data in the forms that Keras takes."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import keras
import numpy as np

from parallel_compat.backend import keras3
from parallel_compat.batches import ordered_batches
from parallel_compat.legacy.call_arguments import translate
from parallel_compat.legacy.numbers import sample_order
from parallel_compat.names.eras import Era
from parallel_compat.run import usage

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

# Bound here: under `run` an attribute of Keras's modules is found by a function of python.
flatten = keras.tree.flatten


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
