"""The names that were given, and how often: `dense`, `dense_1`. Read in Keras 3.15.1.

Keras 3 counts all that a thread makes until the session is cleared. Each graph of TensorFlow 1 counted its own.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from keras.src.backend.common import global_state

if TYPE_CHECKING:
    from collections.abc import Iterator

_LAYERS, _SCOPES = "object_name_uids", "parallel_compat_names_in_use"
_COUNTERS = (_LAYERS, _SCOPES)


class _DefaultGraph:
    """Stands for the graph that all code is in which made none."""


_DEFAULT = _DefaultGraph()


@contextlib.contextmanager
def uncounted_names() -> Iterator[None]:
    """Let what is made here, and thrown away, take no names (`keras.src.utils.naming` counts them).

    The counters of layers and cells, and the names of scopes, are afterwards what they were.
    """
    before = {name: dict(global_state.get_global_attribute(name) or {}) for name in _COUNTERS}
    try:
        yield
    finally:
        for name, kept in before.items():
            now = global_state.get_global_attribute(name)
            if now is not None:
                now.clear()
                now.update(kept)
