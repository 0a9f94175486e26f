"""Names that left numpy.

Seen in numpy 1.26 to 2.4.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from parallel_compat.originals.mends.register import Register

_NAMES: dict[str, Any] = {
    "bool": bool, "int": int, "float": float, "complex": complex, "object": object, "str": str, "long": int,
    "unicode": str, "string_": np.bytes_, "unicode_": np.str_, "float_": np.float64, "complex_": np.complex128,
    "object0": np.object_, "int0": np.intp, "Inf": np.inf, "Infinity": np.inf, "infty": np.inf, "PINF": np.inf,
    "NINF": -np.inf, "NaN": np.nan, "NAN": np.nan, "cast": {}, "asscalar": lambda a: a.item(),
    "product": np.prod, "cumproduct": np.cumprod, "sometrue": np.any, "alltrue": np.all, "round_": np.round,
    "asfarray": lambda a, dtype=np.float64: np.asarray(a, dtype=dtype if np.issubdtype(dtype, np.inexact) else np.float64),
    "in1d": np.isin, "row_stack": np.vstack,
}  # fmt: skip


def apply(mends: Register) -> None:
    """Add the names."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numpy 1.26 warns when it is asked for a name that it dropped
        mends.add(np, **_NAMES)
