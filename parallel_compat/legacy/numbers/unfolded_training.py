"""The order of operations in training, which TensorFlow 1's graph optimizer left as it was written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from parallel_compat.backend.keras3 import constant_folding, patch_points
from parallel_compat.run import object_eras

if TYPE_CHECKING:
    from collections.abc import Iterator

    import keras

    from parallel_compat.backend.keras3.patch_points import Point


def points() -> Iterator[Point]:
    """Yield where the function of training is made."""
    yield patch_points.of_new_function_of_training(_unfold)


def _unfold(model: keras.Model) -> None:
    if object_eras.era_of_training(model).has_graphs:
        constant_folding.train_unfolded(model)
