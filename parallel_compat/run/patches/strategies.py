"""What is put on `tf.distribute` strategies that a script makes itself: methods that TensorFlow renamed, and builds."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from parallel_compat.backend.keras3 import optimizers
from parallel_compat.backend.patches import TENSORFLOW
from parallel_compat.run import callers, usage
from parallel_compat.run.patches.wrapping import looking_alike

if TYPE_CHECKING:
    from collections.abc import Callable

    from parallel_compat.backend.patches import Patches


def put_on(patches: Patches) -> None:
    """Put everything on the classes."""
    import tensorflow as tf

    for name, method in (("experimental_run_v2", _run), ("experimental_make_numpy_dataset", _make_numpy_dataset)):
        patches.set(tf.distribute.Strategy, name, method, why="a method until TensorFlow 2.3", read_in=TENSORFLOW)
    for owner, name, wrap in optimizers.of_strategies():
        why = "several strategies in one process reduced each for itself"
        patches.wrap(owner, name, looking_alike(wrap), why=why, read_in=TENSORFLOW)
    for owner, name, wrap in optimizers.of_builds_on_replicas():
        patches.wrap(owner, name, looking_alike(wrap), why="an optimizer is built for all replicas of a strategy")


def _run(self: Any, fn: Callable[..., Any], args: Any = (), kwargs: Any = None) -> Any:
    _record("experimental_run_v2", "run")
    return self.run(fn, args=args, kwargs=kwargs)


def _make_numpy_dataset(self: Any, numpy_input: Any) -> Any:
    import tensorflow as tf

    _record("experimental_make_numpy_dataset", "tf.data.Dataset.from_tensor_slices")
    return tf.data.Dataset.from_tensor_slices(numpy_input)


def _record(old: str, new: str) -> None:
    frame = callers.user_frame(sys._getframe(2))
    if frame is not None:
        usage.record(f"Strategy.{old}", new, frame)
