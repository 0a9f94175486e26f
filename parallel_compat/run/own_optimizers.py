"""Optimizers that a user's code writes for Keras 2: `get_updates`, `_resource_apply_dense`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from parallel_compat.names.eras import Era
from parallel_compat.run import callers, object_eras, usage

if TYPE_CHECKING:
    from parallel_compat.backend.patches import Patches


def put_on(patches: Patches, keras: Any) -> None:
    """Put everything on the classes and functions.

    Args:
        patches: where it is undone.
        keras: the module.
    """
    from parallel_compat.backend.keras3 import own_optimizers

    base, why = keras.optimizers.Optimizer, "optimizers of users that are written for Keras 2"
    patches.set(base, "__init_subclass__", classmethod(_of_user), why=why)
    for owner, name, wrap in own_optimizers.patch_points(_adapted):
        patches.wrap(owner, name, wrap, why=why)
    why = "a function that a program put in the place of `optimizer.get_gradients`"
    for owner, name, wrap in own_optimizers.through_functions_of_users(_own_gradients_of, _clip_of):
        patches.wrap(owner, name, wrap, why=why)


def _own_gradients_of(optimizer: Any) -> Any:
    """Return the function of a program of graphs: TensorFlow 2 asked an optimizer for no gradients."""
    own = vars(optimizer).get("get_gradients")
    return own if own is not None and object_eras.trained_as(object_eras.era_of_object(optimizer)).has_graphs else None


def _clip_of(optimizer: Any) -> Any:
    from parallel_compat.legacy.numbers import optimizer_steps

    return optimizer_steps.clip_of(object_eras.era_of_object(optimizer))


def _of_user(kind: type[Any], /, **keywords: Any) -> None:
    import keras

    super(keras.optimizers.Optimizer, kind).__init_subclass__(**keywords)
    frame = callers.user_frame(sys._getframe(1))
    if frame is None or callers.era_of(frame) is Era.TODAY:
        return
    from parallel_compat.backend.keras3 import own_optimizers
    from parallel_compat.legacy.own_updates import FORMULAS

    era = callers.era_of(frame)
    if own_optimizers.rebase(kind, FORMULAS, of_tf_keras=era.is_tf_keras):
        setattr(kind, object_eras.MARK, era)
        usage.record(f"class {kind.__name__}(Optimizer)", "an optimizer written for Keras 2, as it is", frame)


def _adapted(optimizer: Any) -> Any:
    from parallel_compat.backend.keras3 import own_optimizers

    made = _of_tensorflow_1(optimizer)
    if made is not None:
        return made
    if not own_optimizers.is_old(optimizer):
        return optimizer
    from parallel_compat.legacy import graph
    from parallel_compat.legacy.numbers import optimizer_steps
    from parallel_compat.legacy.own_updates import FORMULAS

    era = getattr(type(optimizer), object_eras.MARK, None) or callers.era_of_process()
    return own_optimizers.adapted(optimizer, optimizer_steps.clip_of(era), graph.run_updates, FORMULAS)


def _of_tensorflow_1(optimizer: Any) -> Any:
    """Return the optimizer of Keras that steps as one of `tf.compat.v1.train` does, or None for any other object."""
    from parallel_compat.backend.keras3 import own_optimizers

    arguments = own_optimizers.arguments_of_tensorflow_1(optimizer)
    if arguments is None:
        return None
    from parallel_compat.legacy import optimizers

    name = type(optimizer).__name__
    return getattr(optimizers, name)(**arguments)
