"""The names that were given, and how often: `dense`, `dense_1`. Read in Keras 3.15.1."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from keras.src.backend.common import global_state

if TYPE_CHECKING:
    from collections.abc import Iterator

_COUNTER = "object_name_uids"


@contextlib.contextmanager
def uncounted_names() -> Iterator[None]:
    """Let what is made here, and thrown away, take no names (`keras.src.utils.naming` counts them).

    The counter is afterwards what it was.
    """
    before = dict(global_state.get_global_attribute(_COUNTER) or {})
    try:
        yield
    finally:
        now = global_state.get_global_attribute(_COUNTER)
        if now is not None:
            now.clear()
            now.update(before)
