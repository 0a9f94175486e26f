"""Results of SciPy that were arrays."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from parallel_compat.packages import scipy_ndimage
from parallel_compat.packages.notes import note


def _optimize(module: Any) -> None:
    """Let `minimize` return its value in the shape that the function returned, as before SciPy 1.5."""
    import numpy as np

    original = module.minimize

    @functools.wraps(original)
    def minimize(fun: Any, *args: Any, **options: Any) -> Any:
        shapes = []

        def keeping(*given: Any) -> Any:
            value = fun(*given)
            if isinstance(value, np.ndarray) and value.shape:
                shapes.append(value.shape)
            return value

        result = original(keeping, *args, **options)
        if shapes:
            note("scipy.optimize.minimize", "the value in the shape that the function returns")
            result.fun = np.reshape(result.fun, shapes[0])
        return result

    module.minimize = minimize


CHANGES: dict[str, Callable[[Any], None]] = {"scipy.ndimage": scipy_ndimage.change, "scipy.optimize": _optimize}
