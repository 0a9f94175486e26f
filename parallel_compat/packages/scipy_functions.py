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


def romberg(
    function: Callable[..., Any], a: float, b: float, args: Any = (), tol: float = 1.48e-8, rtol: float = 1.48e-8,
    show: bool = False, divmax: int = 10, vec_func: bool = False,
) -> Any:  # fmt: skip
    """Integrate by Romberg's method."""
    args = args if isinstance(args, tuple) else (args,)
    width, points = b - a, 1
    trapezoids = (function(a, *args) + function(b, *args)) / 2
    last = [width * trapezoids]
    for _ in range(divmax):
        points *= 2
        trapezoids += sum(function(a + width * odd / points, *args) for odd in range(1, points, 2))
        row = [width * trapezoids / points]
        for power, before in enumerate(last, 1):
            row.append((4**power * row[-1] - before) / (4**power - 1))
        error, last = abs(row[-1] - last[-1]), row
        if error < tol or error < rtol * abs(row[-1]):
            break
    return last[-1]


def quadrature(
    func: Callable[..., Any], a: float, b: float, args: Any = (), tol: float = 1.49e-8, rtol: float = 1.49e-8,
    maxiter: int = 50, vec_func: bool = True, miniter: int = 1,
) -> Any:  # fmt: skip
    """Integrate by Gauss's method of rising order; return the integral and the last change."""
    from scipy.integrate import fixed_quad

    args = args if isinstance(args, tuple) else (args,)

    def function(x: Any) -> Any:
        return func(x, *args) if vec_func else np.array([func(each, *args) for each in x])

    value = error = np.inf
    for order in range(miniter, max(miniter + 1, maxiter) + 1):
        before, value = value, fixed_quad(function, a, b, n=order)[0]
        error = abs(value - before)
        if error < tol or error < rtol * abs(value):
            break
    return value, error


def morlet(M: int, w: float = 5.0, s: float = 1.0, complete: bool = True) -> Any:
    """Return a complex Morlet wavelet of `M` points."""
    x = np.linspace(-s * 2 * np.pi, s * 2 * np.pi, M)
    wave = np.exp(1j * w * x) - (np.exp(-0.5 * w**2) if complete else 0)
    return wave * np.exp(-0.5 * x**2) * np.pi**-0.25


def sph_harm(m: Any, n: Any, theta: Any, phi: Any) -> Any:
    """Return spherical harmonics; `theta` is the azimuth, and `phi` the polar angle."""
    from scipy.special import sph_harm_y

    return sph_harm_y(n, m, phi, theta)


class interp2d:
    """A spline through values on a grid, or on scattered points.

    Args:
        x: the columns.
        y: the rows.
        z: the values, of shape (rows, columns) on a grid.
        kind: "linear", "cubic" or "quintic".
        copy: not used.
        bounds_error: whether points outside are an error.
        fill_value: the value of points outside; that of the nearest one if it is not given.
    """

    def __init__(
        self, x: Any, y: Any, z: Any, kind: str = "linear", copy: bool = True, bounds_error: bool = False,
        fill_value: Any = None,
    ) -> None:  # fmt: skip
        from scipy.interpolate import RectBivariateSpline, bisplev, bisplrep

        x, y, z = np.ravel(x), np.ravel(y), np.asarray(z)
        degree = {"linear": 1, "cubic": 3, "quintic": 5}[kind]
        if z.size == len(x) * len(y) > len(x):
            columns, rows = np.argsort(x), np.argsort(y)
            z = z.reshape(len(y), len(x)) if z.ndim == 2 else z.reshape(len(x), len(y)).T
            self.values: Any = RectBivariateSpline(x[columns], y[rows], z[rows][:, columns].T, kx=degree, ky=degree)
        else:
            spline = bisplrep(x, y, z.ravel(), kx=degree, ky=degree, s=0)
            self.values = lambda at_x, at_y: np.atleast_2d(bisplev(at_x, at_y, spline))
        self.limits = (x.min(), x.max()), (y.min(), y.max())
        self.bounds_error, self.fill_value = bounds_error, fill_value

    def __call__(self, x: Any, y: Any, dx: int = 0, dy: int = 0, assume_sorted: bool = False) -> Any:
        """Return the values on the grid of `x` and `y`."""
        x, y = (np.sort(np.atleast_1d(each)) for each in (x, y))
        outside = [(each < low) | (each > high) for each, (low, high) in zip((x, y), self.limits, strict=True)]
        if self.bounds_error and (outside[0].any() or outside[1].any()):
            raise ValueError(f"Values out of range; x must be in {self.limits[0]}, y in {self.limits[1]}")
        values = self.values(x, y, dx=dx, dy=dy) if dx or dy else self.values(x, y)
        if self.fill_value is not None:
            values[outside[0], :] = self.fill_value
            values[:, outside[1]] = self.fill_value
        return np.array(values.T[0] if len(y) == 1 else values.T)
