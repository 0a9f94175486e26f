"""How far metrics may be from each other by rounding alone.

Of those that count samples: by the samples whose predictions rounding can flip. Others may be means of terms that
nearly cancel.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from parallel_compat.compare.differences import EPSILON

if TYPE_CHECKING:
    from collections.abc import Iterable

    Array = np.ndarray[Any, Any]

_COUNTS = re.compile(r"acc|precision|recall|auc|top_?k|iou|f1", re.IGNORECASE)
_CANCELLED = 4 * EPSILON  # of terms of 1, between means in two orders of summation
_LOWEST = 0.1  # the part of the samples, those next to a decision, by which their number there is estimated


@dataclass(frozen=True)
class Counts:
    """How many samples lie how near to a decision."""

    # The part of the samples that are nearer to a decision than some distance, divided by it; distances are parts of
    # the largest prediction.
    density: float
    largest: float = 0.0  # the largest prediction

    @classmethod
    def of(cls, outputs: Iterable[Array]) -> Counts:
        """Read it from the outputs of a model: a decision is at 0.5, and between the two largest of a sample."""
        margins: tuple[list[Array], list[Array]] = ([], [])
        whole = 0.0
        for each in outputs:
            if each.dtype.kind == "f" and each.ndim and each.size:
                scale = max(float(np.abs(each).max()), 1e-30)
                whole = max(whole, scale)
                margins[0].append(np.abs(each - 0.5).ravel() / scale)
                if each.shape[-1] > 1:
                    largest = np.sort(each.reshape(-1, each.shape[-1]), axis=-1)
                    margins[1].append((largest[:, -1] - largest[:, -2]) / 2 / scale)
        nearest = [float(np.quantile(np.concatenate(each), _LOWEST)) for each in margins if each]
        return cls(_LOWEST / max(min(nearest), 1e-9) if nearest else 0.0, whole)

    def tolerance(self, name: str, samples: int, distance: float) -> float:
        """Return by how much a metric may differ because of samples that lie next to a decision.

        Args:
            name: of the metric: nothing but rounding for one that does not count samples, and for a loss.
            distance: how far predictions may be from each other, as part of the largest.
        """
        if not samples or name.endswith("loss"):
            return 0.0
        if not self.density or not _COUNTS.search(name):
            return _CANCELLED * min(1.0, self.largest)
        flips = samples * min(1.0, self.density * distance)
        return (flips + 3 * math.sqrt(flips)) / samples  # of a number of rare events: the mean and three deviations
