"""Functions of SciPy that are gone, or compute something else today."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def simps(y: Any, x: Any = None, dx: float = 1, axis: int = -1, even: str = "avg") -> Any:
    """Integrate by Simpson's rule; of an even number of points, the mean of what leaves out the first and the last."""
    from scipy.integrate import simpson, trapezoid

    y = np.asarray(y)
    if y.shape[axis] % 2 == 1:
        return simpson(y, x=x, dx=dx, axis=axis)
    y = np.moveaxis(y, axis, -1)
    if x is not None:
        x = np.asarray(x)
        x = np.moveaxis(x, axis, -1) if x.ndim > 1 else x

    def part(of: Callable[..., Any], start: int | None, stop: int | None) -> Any:
        return of(y[..., start:stop], x=None if x is None else x[..., start:stop], dx=dx)

    sums = []
    if even in ("avg", "first"):
        sums.append(part(trapezoid, -2, None) + part(simpson, None, -1))
    if even in ("avg", "last"):
        sums.append(part(trapezoid, None, 2) + part(simpson, 1, None))
    if not sums:
        raise ValueError("Parameter 'even' must be 'avg', 'last', or 'first'.")
    return sum(sums) / len(sums)


def spline(xk: Any, yk: Any, xnew: Any, order: int = 3, kind: str = "smoothest", conds: Any = None) -> Any:
    """Interpolate by a spline."""
    from scipy.interpolate import make_interp_spline

    return make_interp_spline(xk, yk, order)(xnew)


def signaltonoise(a: Any, axis: int | None = 0, ddof: int = 0) -> Any:
    """Return the mean by the standard deviation; 0 where that is 0."""
    a = np.asanyarray(a)
    mean, deviation = a.mean(axis), a.std(axis=axis, ddof=ddof)
    return np.where(deviation == 0, 0, mean / deviation)


def ricker(points: int, a: float) -> Any:
    """Return a Mexican hat wavelet of `points` points and width `a`."""
    squares = (np.arange(points) - (points - 1.0) / 2) ** 2
    return 2 / (np.sqrt(3 * a) * np.pi**0.25) * (1 - squares / a**2) * np.exp(-squares / (2 * a**2))


def cwt(data: Any, wavelet: Callable[..., Any], widths: Any) -> Any:
    """Convolve data with a wavelet of several widths."""
    from scipy.signal import convolve

    return np.array([convolve(data, wavelet(min(10 * width, len(data)), width), mode="same") for width in widths])


def itemfreq(a: Any) -> Any:
    """Return each value and how often it occurs, in two columns."""
    return np.array(np.unique(a, return_counts=True)).T


def binom_test(x: Any, n: int | None = None, p: float = 0.5, alternative: str = "two-sided") -> float:
    """Return the p-value of a binomial test."""
    from scipy.stats import binomtest

    if np.size(x) == 2:
        x, n = x[0], x[0] + x[1]
    return float(binomtest(int(x), n, p, alternative).pvalue)
