"""How closely two numbers are held against each other, and what is said of those that differ."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    Array = np.ndarray[Any, Any]

# Of the largest value of an array. Sums of some thousand products in float32, in another order, differ by some 1e-6;
# the least of the known differences between versions of Keras that is no rounding is 1e-4.
TOLERANCE = 2e-5
# Gradients smaller than this part of the largest are the rounding of larger ones that cancel (a bias before
# BatchNormalization); Adam makes a whole step of them.
NOISE = 1e-5
# What is within this many times the distance of two runs of one stack is rounding.
TIMES = 10
EPSILON = float(np.finfo(np.float32).eps)


@dataclass(frozen=True)
class Finding:
    """Something that differs, or could not be compared."""

    # Data, layer, output, loss, gradient, step, state, metric; curve, evaluate, predict, history; weights; or not
    # compared.
    kind: str
    what: str  # which one: the input's number, the layer's or metric's name
    # The largest difference, as part of the largest value; None where there is none to compute.
    difference: float | None
    text: str  # a sentence
    class_name: str = ""  # of the layer or optimizer, or the loss's or metric's name, for the reason


def relative_difference(old: Array, new: Array) -> float:
    """Return the largest difference of two arrays, as part of the largest value."""
    a, b = old.astype("float64"), new.astype("float64")
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    if bool(same.all()):
        return 0.0
    with np.errstate(invalid="ignore"):
        error = float(np.where(same, 0.0, np.abs(a - b)).max(initial=0.0))
    largest = float(np.abs(a[np.isfinite(a)]).max(initial=0.0))
    return error / max(largest, 1e-30) if math.isfinite(error) else math.inf


def tolerance(noise: float, least: float = TOLERANCE) -> float:
    """Return what two numbers may differ by, as part of the largest value.

    Args:
        noise: how far two runs of one stack are from each other.
    """
    return max(least, TIMES * noise)


def percent(difference: float) -> str:
    """Say a relative difference in percent."""
    if not math.isfinite(difference):
        return "one is not a number"
    return f"{100 * difference:,.0f} %" if difference >= 0.1 else f"{100 * difference:.2g} %"


def part(difference: float) -> str:
    """Say a relative difference as people read it, and a small one in the rounding of float32, too."""
    if not math.isfinite(difference):
        return "values that are not numbers"
    told = f"{percent(difference)} of the largest value"
    return told if difference >= 0.001 else f"{told} ({difference / EPSILON:,.0f} ulp)"


def ulp(differences: Sequence[float]) -> float:
    """Return the largest of some relative differences in the rounding of float32."""
    return max(differences, default=0.0) / EPSILON
