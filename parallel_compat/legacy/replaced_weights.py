"""Weights that code replaces by what it computes of them: `self.kernel = self.kernel / norm`, in `call` or `build`.

A graph called a layer once: what took the weight's place served that call, where today each trace calls it anew and
needs the weight again. `tf.keras` also took what an attribute no longer held off the weights (`Layer.__setattr__` and
`__delattr__` in `base_layer.py`), so that it was neither trained nor saved.
"""

from __future__ import annotations

import contextlib
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import keras
import tensorflow as tf

from parallel_compat.backend.keras3 import assigned
from parallel_compat.context_variables import set_within
from parallel_compat.legacy import execution, pending_updates
from parallel_compat.run import object_eras

if TYPE_CHECKING:
    from collections.abc import Iterator

    from parallel_compat.names.eras import Era

_ABSENT = object()

# Of the calls in progress: what layers held before, by the layer and the name of the attribute.
_before: ContextVar[dict[tuple[int, str], tuple[Any, Any]] | None] = ContextVar("before", default=None)


@contextlib.contextmanager
def put_back_after() -> Iterator[None]:
    """Let attributes that hold what was computed of a weight hold the weight again as the block ends."""
    before: dict[tuple[int, str], tuple[Any, Any]] = {}
    try:
        with set_within(_before, before):
            yield
    finally:
        for (_, name), (layer, value) in before.items():
            if value is _ABSENT:
                vars(layer).pop(name, None)
            else:
                vars(layer)[name] = value


def note(layer: Any, name: str, value: Any, era: Era, kept: str) -> None:
    """Note that an attribute of a layer is about to hold something, which may have been computed of its weight.

    Args:
        layer: the layer.
        name: of the attribute.
        value: what it will hold.
        era: of the code that assigns it.
        kept: the attribute that has what is assigned to properties.
    """
    if not (assigned.is_computed(value) or isinstance(value, keras.KerasTensor)):
        return
    weight = getattr(layer, name, None)
    if not isinstance(weight, (keras.Variable, tf.Variable)):
        return
    before = _before.get()
    if before is not None and layer.built and execution.computes_in_graphs(object_eras.era_of_object(layer)):
        for each in (name, f"_{name}", kept):  # a property shows what the second has
            held = vars(layer).get(each, _ABSENT)
            before.setdefault((id(layer), each), (layer, dict(held) if isinstance(held, dict) else held))
    if era.is_tf_keras and not pending_updates.is_traced():
        # Which weights there are is settled as it is called on symbolic tensors.
        assigned.lose_weight(layer, name, weight)
