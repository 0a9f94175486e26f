"""Names, arguments and printed forms of numpy before version 2.

Seen in numpy 1.26 to 2.4.
"""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from parallel_compat.names.eras import Era
from parallel_compat.names.other_packages import NUMPY
from parallel_compat.originals.mends.register import Register

_IS_NUMPY_2 = bool(np.lib.NumpyVersion(np.__version__) >= "2.0.0")


class _Cast:
    """`np.cast[dtype](values)`."""

    def __getitem__(self, dtype: Any) -> Callable[[Any], Any]:
        return lambda values: np.asarray(values).astype(dtype)


# Those that the table has, and functions and tables without a counterpart.
NAMES: dict[str, Any] = {
    **{old: eval(new, {"numpy": np}) for old, new in NUMPY.items() if old not in ("math", "trapz")},
    "trapz": getattr(np, "trapezoid", None), "cast": _Cast(), "asscalar": lambda a: a.item(), "rank": np.ndim,
    "in1d": lambda a, b, **options: np.isin(np.ravel(a), b, **options), "msort": lambda a: np.sort(a, axis=0),
    "asfarray": lambda a, dtype=np.float64: np.asarray(a, dtype if np.issubdtype(dtype, np.inexact) else np.float64),
    "loads": pickle.loads, "alen": len, "typeDict": np.sctypeDict, "str0": np.str_, "bytes0": np.bytes_,
    "void0": np.void, "longcomplex": np.clongdouble, "clongfloat": np.clongdouble, "disp": print,
    "obj2sctype": lambda a: np.dtype(a).type, "sctype2char": lambda a: np.dtype(a).char, "issubclass_": issubclass,
    "issubsctype": lambda a, b: np.issubdtype(np.dtype(a).type, np.dtype(b).type),
    "find_common_type": lambda arrays, scalars: np.result_type(*arrays, *(np.dtype(s).type(0) for s in scalars)),
    "sctypes": {
        **{kind: [np.dtype(f"{kind}{bits}").type for bits in (8, 16, 32, 64)] for kind in ("int", "uint")},
        "float": [np.float16, np.float32, np.float64, np.longdouble],
        "complex": [np.complex64, np.complex128, np.clongdouble], "others": [bool, object, bytes, str, np.void],
    },
}  # fmt: skip


def apply(mends: Register) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numpy 1.26 warns when it is asked for a name that it dropped
        mends.add(np, **NAMES)
    mends.once(np, mend)
    if mends.era is Era.KERAS_2_2_4:
        mends.edit("keras.utils.conv_utils", "kernel[slices]", "kernel[tuple(slices)]")
        for data in ("imdb", "reuters"):  # the digests of their files are checked
            mends.edit(f"keras.datasets.{data}", "np.load(path)", "np.load(path, allow_pickle=True)")


def mend(mends: Register, numpy: Any) -> None:
    """Let functions take and print what they did; a script may use numpy before Keras, or alone."""
    mends.around(numpy, "array", _makes_arrays, shown=True)
    mends.around(numpy, "asarray", _makes_arrays, shown=True)
    for function in ("asanyarray", "copy", "delete", "save", "savez", "savez_compressed", "shape", "size", "take"):
        mends.around(numpy, function, _takes_rows, shown=True)
    for function in ("choice", "permutation"):
        mends.around(numpy.random, function, _takes_rows, shown=True)
    mends.around(numpy, "fromstring", _reads_bytes, shown=True)
    if _IS_NUMPY_2:
        numpy.set_printoptions(legacy="1.25")  # scalars were printed without their type


def _makes_arrays(make: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Let lists of different lengths be arrays of objects, and `copy=False` a wish."""
    if _IS_NUMPY_2 and options.get("copy") is False:
        options["copy"] = None
    try:
        return make(*args, **options)
    except ValueError as error:
        if "inhomogeneous" not in str(error) or len(args) != 1 or options.get("dtype") is not None:
            raise
        return make(*args, **{**options, "dtype": object})


def _takes_rows(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Let a function take lists of different lengths for an array of objects."""
    try:
        return function(*args, **options)
    except ValueError as error:
        if "inhomogeneous" not in str(error):
            raise

    def array(value: Any) -> Any:
        return np.array(value) if isinstance(value, (list, tuple)) else value

    return function(*map(array, args), **{name: array(value) for name, value in options.items()})


def _reads_bytes(
    read: Callable[..., Any], string: Any, dtype: Any = float, count: int = -1, *, sep: str = "", **options: Any
) -> Any:
    """Let `np.fromstring` read bytes where no separator is passed."""
    if sep == "":
        return np.frombuffer(string, dtype, count).copy()
    return read(string, dtype, count, sep=sep, **options)
