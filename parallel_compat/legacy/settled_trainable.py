"""What trains is settled by `compile` for a model of plain Keras 3 as well, where a migrated source asks for it."""

from __future__ import annotations

import contextlib
import functools
from typing import TYPE_CHECKING, Any

from parallel_compat.backend import keras3
from parallel_compat.backend.keras3 import in_memory
from parallel_compat.parallel_model import ParallelModel
from parallel_compat.training.trainable_flags import TrainableFlags

if TYPE_CHECKING:
    import keras


def settle_trainable(model: keras.Model) -> None:
    """Let a compiled model train what is trainable now, whatever is frozen or thawed later, until its next `compile`.

    Keras 3 looks at `trainable` when the first batch comes: a discriminator that is frozen for the sake of the whole of
    a GAN would never train. `run` needs no such call, nor does a parallel model.

    >>> import keras
    >>> model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1, kernel_initializer="ones")])
    >>> model.compile("sgd", "mse")
    >>> settle_trainable(model)
    >>> model.trainable = False
    >>> _ = model.train_on_batch(keras.ops.ones((2, 1)), keras.ops.zeros((2, 1)))
    >>> round(float(model.get_weights()[0][0, 0]), 6)
    0.98

    Args:
        model: a model that has just been compiled.
    """
    if isinstance(model, ParallelModel):
        return
    if model.built:
        in_memory.build_optimizer(model)  # else it would be built for what is trainable at the first batch
    flags, compiled = TrainableFlags(model), keras3.compiled_parts(model)
    train_step = functools.partial(type(model).train_step, model)

    def as_compiled(*given: Any, **keywords: Any) -> Any:
        of_this = all(one is other for one, other in zip(keras3.compiled_parts(model), compiled, strict=True))
        with flags.restored() if of_this else contextlib.nullcontext():
            return train_step(*given, **keywords)

    vars(model)["train_step"] = as_compiled
