"""The state of an optimizer in a checkpoint that `tf.keras` wrote, for an optimizer of Keras 3.

`tf.keras` named its step counter `iter`, and kept what belongs to a weight as a slot variable of the weight
(`optimizer_v2.py`, 2.2). Read in Keras 3.15.1, TensorFlow 2.21 (`checkpoint/restore.py`).
"""

from __future__ import annotations

import functools
import warnings
from typing import TYPE_CHECKING, Any

import tensorflow as tf
from keras.src.backend.tensorflow.optimizer import TFOptimizer

from parallel_compat.warning_category import ParallelCompatWarning

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# The class -> the slot -> the list of variables that has it today.
_SLOTS = {
    "SGD": {"momentum": "momentums"},
    "Adam": {"m": "_momentums", "v": "_velocities", "vhat": "_velocity_hats"},
    "RMSprop": {"rms": "_velocities", "momentum": "_momentums", "mg": "_average_gradients"},
    "Adagrad": {"accumulator": "_accumulators"},
    "Adadelta": {"accum_grad": "_accumulated_grads", "accum_var": "_accumulated_delta_vars"},
    "Adamax": {"m": "_m", "v": "_u"},
    "Ftrl": {"accumulator": "_accumulators", "linear": "_linears"},
}
_NAMES = {"iter": "_iterations", "learning_rate": "_learning_rate"}


class _Children(dict[str, Any]):
    """The children by name; the names of `tf.keras` find those of today."""

    def get(self, name: str, default: Any = None) -> Any:
        return super().get(_NAMES.get(name, name), default)


def patch_points() -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """Yield where an optimizer says what is saved with it, and is given a slot that was read."""

    def saved(original: Any) -> Any:
        def _trackable_children(self: Any, save_type: str = "checkpoint", **keywords: Any) -> Any:
            found = original(self, save_type, **keywords)
            return _Children(found) if save_type == "checkpoint" else found

        return _trackable_children

    yield TFOptimizer, "_trackable_children", saved
    yield TFOptimizer, "_create_or_restore_slot_variable", lambda _: _slot_variable


def _slot_variable(self: Any, slot_variable_position: Any, slot_name: str, variable: Any, **others: Any) -> Any:
    """Return the variable that stands for a slot, to be restored; None where it is restored once there is one."""
    slots = _SLOTS.get(type(self).__name__, {})
    if slot_name not in slots:
        if not getattr(self, "_parallel_compat_begins_anew", False):
            self._parallel_compat_begins_anew = True
            warnings.warn(
                f"The checkpoint has the state of a {type(self).__name__} of `tf.keras`, of which {slot_name!r} is not "
                "read: the optimizer begins anew.",
                ParallelCompatWarning,
                stacklevel=2,
            )
        return None
    attribute = slots[slot_name]
    if self.built:
        return _found(self, attribute, variable)
    waiting = vars(self).get("_parallel_compat_slots")
    if waiting is None:
        waiting = vars(self)["_parallel_compat_slots"] = []
        vars(self)["build"] = functools.partial(_build, self, self.build)
    waiting.append((attribute, variable, slot_variable_position))
    return None


def _build(self: Any, build: Any, variables: Any) -> None:
    """Build an optimizer, and restore what was read before."""
    build(variables)
    vars(self).pop("build", None)
    with tf.init_scope():
        for attribute, variable, position in vars(self).pop("_parallel_compat_slots", ()):
            slot = _found(self, attribute, variable)
            if slot is not None:
                position.restore(slot)


def _found(optimizer: Any, attribute: str, variable: Any) -> Any:
    slots = getattr(optimizer, attribute, None)
    if not slots:
        return None
    try:
        return slots[optimizer._get_variable_index(variable)]
    except KeyError:  # a weight that it does not train
        return None
