"""Functions of `keras.backend` that TensorFlow still has, and computes as Keras 2.2.4 did."""

from __future__ import annotations

from parallel_compat.names import tsv

_ROWS = tsv.rows("backend_functions.tsv", 2)


def _of(kind: str) -> frozenset[str]:
    return frozenset(name for of, names in _ROWS if of == kind for name in names.split())


UNCHANGED, AS_OPERATIONS = _of("unchanged"), _of("operation")
# TensorFlow's own, as it was since Keras 2.3; the one of this package is of before.
SINCE_KERAS_2_3 = "batch_dot"

# Those of `legacy.ctc` that a layer made of a function may name as well.
PROVIDED = frozenset({"ctc_decode"})
