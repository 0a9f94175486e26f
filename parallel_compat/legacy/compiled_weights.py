"""Which weights trained when a model was compiled: Keras 2's `model._collected_trainable_weights`."""

from __future__ import annotations

from typing import Any

_TRAINABLE = "_parallel_compat_trainable_at_compile"


def keep(model: Any) -> None:
    """Keep the weights that train at this moment, for `seen` and `collected`."""
    vars(model)[_TRAINABLE] = list(model.trainable_weights)


def seen(model: Any) -> list[Any] | None:
    """Return the weights that trained when a model was compiled, or None if it has not been."""
    compiled: list[Any] | None = vars(model).get(_TRAINABLE)
    return compiled


def collected(model: Any) -> list[Any]:
    """Return the weights that trained when a model was compiled, for programs that ask for the attribute."""
    compiled = seen(model)
    if compiled is None:
        raise AttributeError(f"Expected a model that has been compiled. Received: {model.name!r}, which has not.")
    return list(compiled)
