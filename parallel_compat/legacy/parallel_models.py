"""`multi_gpu_model` for code of Keras 2: what it did besides making a parallel model.

Its argument `cpu_relocation` made the model of a clone, and each slice of an input was a `Lambda` layer, which names
of later ones count.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import keras

from parallel_compat import parallelize_model
from parallel_compat.devices import devices_of_gpus
from parallel_compat.legacy.cloning import clone_model
from parallel_compat.names.eras import Era
from parallel_compat.run import callers
from parallel_compat.warning_category import ParallelCompatWarning

if TYPE_CHECKING:
    from collections.abc import Sequence

    from parallel_compat.parallel_model import ParallelModel


def multi_gpu_model(
    model: keras.Model,
    gpus: int | Sequence[int] | None = None,
    cpu_merge: bool = True,
    cpu_relocation: bool = False,
    **unknown: Any,
) -> ParallelModel:
    """Return a parallel model, of a clone with fresh weights where `cpu_relocation` asks for one.

    Args:
        model: a built Keras model.
        gpus: as `parallel_compat.multi_gpu_model` has it.
        cpu_merge: likewise.
        cpu_relocation: whether the template is a clone. The clone of Keras 2.2.4 took draws from `numpy.random`, which
            decide the order of samples in what is trained afterwards.
        **unknown: refused.
    """
    if cpu_relocation and not unknown:
        devices_of_gpus(gpus)  # where they are too few, nothing was cloned
        warnings.warn(
            f"`cpu_relocation=True` makes the parallel model of a clone of '{model.name}' with fresh weights, as in "
            f"Keras 2: '{model.name}' itself is not trained, `parallel_model.layers[-2]` is. Leave the argument out to "
            f"train '{model.name}'.",
            ParallelCompatWarning,
            stacklevel=2,
        )
        model = clone_model(parallelize_model.template_of(model))
    parallel = parallelize_model.multi_gpu_model(model, gpus, cpu_merge, **unknown)
    if callers.era_of_caller() is not Era.TODAY:
        for _ in range(parallel.strategy.num_replicas_in_sync * len(parallel.inputs)):
            keras.backend.get_uid("lambda")
    return parallel
