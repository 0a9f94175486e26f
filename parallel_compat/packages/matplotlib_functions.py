"""Functions that matplotlib had."""

from __future__ import annotations

from typing import Any

import numpy as np


def normpdf(x: Any, mu: float, sigma: float) -> Any:
    """Return the density of a normal distribution."""
    return np.exp(-0.5 * ((np.asarray(x) - mu) / sigma) ** 2) / (np.sqrt(2 * np.pi) * sigma)


def bivariate_normal(
    X: Any, Y: Any, sigmax: float = 1, sigmay: float = 1, mux: float = 0, muy: float = 0, sigmaxy: float = 0
) -> Any:
    """Return the density of a normal distribution of two variables."""
    x, y = X - mux, Y - muy
    rho = sigmaxy / (sigmax * sigmay)
    z = x**2 / sigmax**2 + y**2 / sigmay**2 - 2 * rho * x * y / (sigmax * sigmay)
    return np.exp(-z / (2 * (1 - rho**2))) / (2 * np.pi * sigmax * sigmay * np.sqrt(1 - rho**2))


def hold(b: bool | None = None) -> None:
    """Do nothing: what is drawn stays, as it did by default."""


def ishold() -> bool:
    """Say that what is drawn stays."""
    return True


def register_cmap(name: str | None = None, cmap: Any = None, **options: Any) -> None:
    """Give a colour map a name."""
    import matplotlib

    matplotlib.colormaps.register(cmap, name=name, force=True)


def plot_date(
    x: Any, y: Any, fmt: str = "o", tz: Any = None, xdate: bool = True, ydate: bool = False, **options: Any
) -> Any:
    """Plot dates as points."""
    from matplotlib import pyplot

    axes = pyplot.gca()
    for axis, is_of_dates in ((axes.xaxis, xdate), (axes.yaxis, ydate)):
        if is_of_dates:
            axis.axis_date(tz)
    return axes.plot(x, y, fmt, **options)
