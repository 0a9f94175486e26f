"""The losses and batches of all steps of a model, of two runs that went on by themselves from the same weights."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from parallel_compat.compare.differences import percent, tolerance


@dataclass
class Curve:
    """The losses of one model."""

    old: list[float] = field(default_factory=list)  # of the first run
    new: list[float] = field(default_factory=list)  # of the second
    # Of the first stack once more, with other sums; empty where it was not run.
    again: list[float] = field(default_factory=list)
    # Steps of the second run that were given the first one's batch in place of their own.
    fed: list[int] = field(default_factory=list)
    ordered: bool = False  # whether the second run was given the order in which the first shuffled samples
    other_batch: int | None = None  # the first step whose batch was another one in the end
    masked: list[str] = field(default_factory=list)  # layers whose masks were the same in both

    @property
    def compared(self) -> int:
        """How many steps both made."""
        return min(len(self.old), len(self.new))

    def distance(self, step: int) -> float:
        """Return how far the losses of a step are from each other, as part of the first."""
        return distance(self.old[step], self.new[step])

    def noise(self, step: int) -> float:
        """Return how far two runs of the first stack were from each other, up to a step."""
        pairs = zip(self.old[: step + 1], self.again, strict=False)
        return max((distance(*pair) for pair in pairs), default=0.0)

    @property
    def rounding(self) -> float:
        """How far two runs of the first stack were from each other in all."""
        return self.noise(self.compared - 1) if self.compared else 0.0

    @property
    def differs_from(self) -> int | None:
        """The first step whose losses are further from each other than rounding explains."""
        steps = (step for step in range(self.compared) if not self.distance(step) <= tolerance(self.noise(step)))
        return next(steps, None)

    def at(self, step: int) -> str:
        """Say how far the losses of a step are from each other."""
        told = f"{self.old[step]:.6g} and {self.new[step]:.6g} ({percent(self.distance(step))})"
        return f"{told}; two runs of the original: {percent(self.noise(step))}" if self.again else told

    def notes(self) -> list[str]:
        """Say what was handed over."""
        notes = []
        if self.fed:
            number = "every step" if len(self.fed) >= self.compared else f"{len(self.fed)} of {self.compared} steps"
            notes.append(f"its own batches differ, or a model computed them: the original's were used in {number}")
        elif self.ordered:
            notes.append("fit shuffles in another order: the original's order of samples was handed over")
        if self.masked:
            names = ", ".join(self.masked[:5])
            notes.append(f"random layers ({names}) drew the same masks in both")
        if self.rounding > 0.01:
            notes.append(
                f"two runs of the original differ by {percent(self.rounding)}: smaller differences are not reported"
            )
        return notes


def curve(old: dict[str, Any], new: dict[str, Any], again: dict[str, Any] | None = None) -> Curve:
    """Return the losses and batches of a model in two recordings."""
    fed = list(new.get("fed", []))
    pairs = list(zip(old.get("batches", []), new.get("batches", []), strict=False))
    return Curve(
        _losses(old),
        _losses(new),
        _losses(again) if again else [],
        fed,
        bool(new.get("order_handed_over")),
        _first_other(pairs, fed),
        list(old.get("masked_layers", [])),
    )


def _losses(facts: dict[str, Any]) -> list[float]:
    """Return the loss of each step; of recordings of before, of the first ones."""
    rows = (dict(zip(step["names"], step["logs"], strict=True)) for step in facts["steps"])
    return list(facts.get("losses", [])) or [row["loss"] for row in rows if "loss" in row]


def _first_other(pairs: Sequence[tuple[Any, Any]], fed: list[int]) -> int | None:
    given = set(fed)
    return next((step for step, (a, b) in enumerate(pairs) if a != b and step not in given), None)


def distance(a: float, b: float) -> float:
    """Return how far two losses are from each other, as part of the first."""
    if math.isfinite(a) and math.isfinite(b):
        return abs(a - b) / max(abs(a), 1e-6)
    return 0.0 if str(a) == str(b) else math.inf
