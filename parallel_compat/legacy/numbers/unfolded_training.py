"""The order of operations in training, which TensorFlow 1's graph optimizer left as it was written."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from parallel_compat.backend.keras3 import constant_folding, patch_points
from parallel_compat.run import object_eras

if TYPE_CHECKING:
    from collections.abc import Iterator

    from parallel_compat.backend.keras3.patch_points import Point


def points() -> Iterator[Point]:
    """Yield where the function of training is made."""
    yield patch_points.of_function_of_training(_unfolded)


def _unfolded(original: Any) -> Any:
    @functools.wraps(original)
    def make(self: Any, force: bool = False) -> Any:
        is_new = self.train_function is None or force
        result = original(self, force)
        if not is_new or not object_eras.era_of_training(self).has_graphs:
            return result
        constant_folding.train_unfolded(self)
        return self.train_function

    return make
