"""The names that were given, and how often: `dense`, `dense_1`. Read in Keras 3.15.1.

Keras 3 counts all that a thread makes until the session is cleared. Each graph of TensorFlow 1 counted its own.
"""

from __future__ import annotations

import contextlib
import weakref
from typing import TYPE_CHECKING

from keras.src.backend.common import global_state

from parallel_compat.backend.keras3 import graphs_of_programs

if TYPE_CHECKING:
    from collections.abc import Iterator

_LAYERS, _SCOPES = "object_name_uids", "parallel_compat_names_in_use"
_COUNTERS = (_LAYERS, _SCOPES)
# Kept where `clear_session` clears (`keras.src.backend.common.global_state`), as the counters are.
_COUNTING, _OF_GRAPHS = "parallel_compat_graph_that_counts", "parallel_compat_names_of_graphs"


class _DefaultGraph:
    """Stands for the graph that all code is in which made none."""


_DEFAULT = _DefaultGraph()


def count_by_graph() -> None:
    """Let the counters be those of the graph that the code is in, if a program made one itself."""
    graph = graphs_of_programs.graph_of_program()
    graph = _DEFAULT if graph is None else graph
    counting = global_state.get_global_attribute(_COUNTING, _DEFAULT)
    if graph is counting:
        return
    kept = global_state.get_global_attribute(_OF_GRAPHS, weakref.WeakKeyDictionary(), set_to_default=True)
    kept[counting] = {name: global_state.get_global_attribute(name) for name in _COUNTERS}
    for name in _COUNTERS:
        global_state.set_global_attribute(name, kept.get(graph, {}).get(name))
    global_state.set_global_attribute(_COUNTING, graph)


def forget_names(inputs_and_scopes: bool = True) -> None:
    """Begin to count anew.

    Args:
        inputs_and_scopes: whether inputs, and the scopes of layers' weights, are counted anew as well.
    """
    count_by_graph()
    layers = global_state.get_global_attribute(_LAYERS)
    if layers is not None:
        inputs = layers.get("input") if not inputs_and_scopes else None
        layers.clear()
        if inputs is not None:
            layers["input"] = inputs
    if inputs_and_scopes:
        names_in_use().clear()


def names_in_use() -> dict[str, int]:
    """Return the names of scopes that were given since the session was cleared, and how often each was asked for."""
    count_by_graph()
    found: dict[str, int] = global_state.get_global_attribute(_SCOPES, {}, set_to_default=True)
    return found


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
