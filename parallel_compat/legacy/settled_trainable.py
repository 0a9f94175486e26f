"""What trains is settled by `compile` for a model of plain Keras 3 as well, where a migrated source asks for it."""

from __future__ import annotations

import contextlib
import functools
from typing import Any

import keras

from parallel_compat.backend import keras3
from parallel_compat.backend.keras3 import in_memory
from parallel_compat.training.trainable_flags import TrainableFlags

# Of a settled model: what `compile` made of what it was given, and what calls a function with the flags of then.
_COMPILED, _AS_COMPILED = "_parallel_compat_settled", "_parallel_compat_as_compiled"


def settle_trainable(model: keras.Model) -> None:
    """Let a compiled model train what is trainable now, whatever is frozen or thawed later, until its next `compile`.

    Keras 3 looks at `trainable` when the first batch comes: a discriminator that is frozen for the sake of the whole of
    a GAN would never train. A parallel model needs no such call.

    >>> import keras
    >>> model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1, kernel_initializer="ones")])
    >>> model.compile("sgd", "mse")
    >>> settle_trainable(model)
    >>> model.trainable = False
    >>> _ = model.train_on_batch(keras.ops.ones((2, 1)), keras.ops.zeros((2, 1)))
    >>> round(float(model.get_weights()[0][0, 0]), 6)
    0.98

    Args:
        model: a model that has been compiled. Nothing is done to one that was not, to a layer, and to a model that has
            been settled since it was compiled.
    """
    if not isinstance(model, keras.Model) or hasattr(model, "template") or not model.compiled:
        return
    if _is_settled(model):
        return
    if model.built:
        in_memory.build_optimizer(model)  # else it would be built for what is trainable at the first batch
    flags = TrainableFlags(model)
    vars(model)[_COMPILED] = keras3.compiled.compiled_parts(model)

    def as_compiled(function: Any, *given: Any, **keywords: Any) -> Any:
        with flags.restored() if _is_settled(model) else contextlib.nullcontext():
            return function(*given, **keywords)

    vars(model)[_AS_COMPILED] = as_compiled
    vars(model)["train_step"] = functools.partial(as_compiled, functools.partial(type(model).train_step, model))


def _is_settled(model: keras.Model) -> bool:
    settled = vars(model).get(_COMPILED)
    if settled is None:
        return False
    return all(one is other for one, other in zip(keras3.compiled.compiled_parts(model), settled, strict=True))
