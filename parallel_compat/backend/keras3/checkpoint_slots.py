"""The state of an optimizer in a checkpoint that `tf.keras` wrote, for an optimizer of Keras 3.

`tf.keras` named its step counter `iter`, kept what belongs to a weight as a slot variable of the weight, and had its
numbers (`decay`, `beta_1`) in variables (`optimizer_v2.py`, 2.2). Read in Keras 3.15.1, TensorFlow 2.21
(`checkpoint/restore.py`).
"""

from __future__ import annotations

import functools
import warnings
from typing import TYPE_CHECKING, Any

import tensorflow as tf
from keras.src.backend.tensorflow.optimizer import TFOptimizer

from parallel_compat.backend.keras3 import optimizer_steps
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
    "Nadam": {"m": "_momentums", "v": "_velocities"},
    "Ftrl": {"accumulator": "_accumulators", "linear": "_linears"},
}
_PRODUCT = "momentum_cache"  # of Nadam's momenta
_NAMES = {"iter": "_iterations", "learning_rate": "_learning_rate", _PRODUCT: "_u_product"}


class _Children(dict[str, Any]):
    """The children by name; the names of `tf.keras` find those of today, and those of numbers their variables."""

    def __init__(self, found: dict[str, Any], optimizer: Any) -> None:
        super().__init__(found)
        self._numbers = optimizer_steps.number_variables(optimizer)

    def get(self, name: str, default: Any = None) -> Any:
        return super().get(_NAMES.get(name, name), self._numbers.get(name, default))


def patch_points() -> Iterator[tuple[Any, str, Callable[[Any], Any]]]:
    """Yield where an optimizer says what is saved with it, and is given a slot that was read."""

    def saved(original: Any) -> Any:
        def _trackable_children(self: Any, save_type: str = "checkpoint", **keywords: Any) -> Any:
            found = original(self, save_type, **keywords)
            return _Children(found, self) if save_type == "checkpoint" else found

        return _trackable_children

    yield TFOptimizer, "_trackable_children", saved
    yield TFOptimizer, "_create_or_restore_slot_variable", lambda _: _slot_variable


def _slot_variable(self: Any, slot_variable_position: Any, slot_name: str, variable: Any, **others: Any) -> Any:
    """Return the variable that stands for a slot, to be restored; None where it is restored once there is one."""
    slots = _slots_of(self)
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
        if type(self).__name__ == "Nadam":
            self._handle_deferred_dependencies(_PRODUCT, self._u_product)


def _slots_of(optimizer: Any) -> dict[str, str]:
    """Return the slots that an optimizer takes; Nadam's hang on its schedule of momenta, which Keras 3 changed."""
    name = type(optimizer).__name__
    takes_none = name == "Nadam" and optimizer_steps.step_settings(optimizer) is None
    return {} if takes_none else _SLOTS.get(name, {})


def _found(optimizer: Any, attribute: str, variable: Any) -> Any:
    slots = getattr(optimizer, attribute, None)
    if not slots:
        return None
    try:
        return slots[optimizer._get_variable_index(variable)]
    except KeyError:  # a weight that it does not train
        return None
