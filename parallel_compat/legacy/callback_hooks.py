"""Hooks of callbacks that Keras 2.2.4 did not know: it never called those that the user's classes have.

Its `Callback` had `on_train_begin`, `on_epoch_begin`, `on_batch_begin` and their ends. Keras 2.3 called
`on_train_batch_begin`, `on_test_begin`, `on_predict_begin` and so on as well, and `on_batch_begin` by way of the first.
"""

from __future__ import annotations

import functools
import types
import warnings
from typing import TYPE_CHECKING, Any

from parallel_compat.backend.keras3 import patch_points
from parallel_compat.names.eras import Era
from parallel_compat.run import object_eras
from parallel_compat.warning_category import ParallelCompatWarning

if TYPE_CHECKING:
    from collections.abc import Iterator

    from parallel_compat.backend.keras3.patch_points import Point


class _AsKnown:
    """A callback whose hook is that of Keras's own class: it calls `on_batch_begin`, say, or does nothing."""

    def __init__(self, callback: Any, hook: str, own: Any) -> None:
        vars(self)[hook] = types.MethodType(own, callback)
        self._callback = callback

    def __getattr__(self, name: str) -> Any:
        return getattr(self._callback, name)


def points() -> Iterator[Point]:
    """Yield where the hooks are called that Keras 2.2.4 did not know, with what is done there."""
    yield from patch_points.of_newer_hooks(lambda hook: functools.partial(_calling_known_ones, hook=hook))
    yield from patch_points.of_models_of_callbacks(_bar_first)


def _bar_first(original: Any) -> Any:
    """Print the line of an epoch before what callbacks print at its end, as Keras 2.2.4 did (`fit_loop`)."""

    @functools.wraps(original)
    def set_model(self: Any, model: Any) -> None:
        original(self, model)
        if model is not None and object_eras.era_of_object(model).is_standalone:
            patch_points.put_bar_first(self)

    return set_model


def _calling_known_ones(original: Any, hook: str) -> Any:
    @functools.wraps(original)
    def call(self: Any, *given: Any, **keywords: Any) -> None:
        callbacks = self.callbacks
        if object_eras.era_of_object(getattr(self, "model", None)) is Era.KERAS_2_2_4:
            known = [_as_known(each, hook) for each in callbacks]
            if known != callbacks:
                self.callbacks = known
        try:
            original(self, *given, **keywords)
        finally:
            self.callbacks = callbacks

    return call


def _as_known(callback: Any, hook: str) -> Any:
    kinds = [kind for kind in type(callback).__mro__ if hook in vars(kind)]
    if not kinds or _is_keras_own(kinds[0]):
        return callback
    _tell(kinds[0], hook)
    own = next((vars(kind)[hook] for kind in kinds if _is_keras_own(kind)), _nothing)
    return _AsKnown(callback, hook, own)


def _is_keras_own(kind: type) -> bool:
    return kind.__module__.startswith(("keras.", "parallel_compat."))


def _nothing(*_: Any, **__: Any) -> None:
    pass


@functools.lru_cache(maxsize=256)
def _tell(kind: type, hook: str) -> None:
    old = hook.replace("_train_batch_", "_batch_")
    instead = f"Name it `{old}`, which all versions call" if old != hook else "No hook of Keras 2.2.4 stands for it"
    warnings.warn(
        f"`{kind.__name__}.{hook}` is not called: Keras 2.2.4 did not know it. {instead}; with `--era tf.keras-2.2` or "
        "`--era today` it is called.",
        ParallelCompatWarning,
        stacklevel=4,
    )
