"""`parallelize`, its old spelling `multi_gpu_model`, and the way back, `template_of`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from parallel_compat.backend import keras3
from parallel_compat.devices import check_devices, devices_of_gpus
from parallel_compat.parallel_model import ParallelModel
from parallel_compat.training.replicas import check_strategy, strategy_on

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import keras
    import tensorflow as tf


def parallelize(
    model: keras.Model,
    gpus: int | Sequence[int] | None = None,
    *,
    devices: Sequence[str] | None = None,
    strategy: tf.distribute.Strategy | None = None,
    merge: str | Mapping[str, str] = "auto",
    weights: str = "auto",
) -> ParallelModel:
    """Return a parallel model that trains `model` on several devices, each with a part of every batch.

    >>> import keras, numpy as np, parallel_compat
    >>> _ = parallel_compat.simulate_devices(4)
    >>> template = keras.Sequential([keras.Input((8,)), keras.layers.Dense(3)])
    >>> parallel = parallel_compat.parallelize(template, gpus=2)
    >>> parallel.compile("sgd", "mse")
    >>> history = parallel.fit(np.ones((103, 8)), np.ones((103, 3)), batch_size=32, verbose=0)
    >>> parallel_compat.template_of(parallel) is template
    True

    Loss and gradient are those of the global batch, for any batch size, so the results are those of one device.
    `model` is the template: it is never copied, both models use the same variables, and everything that saves
    through the parallel model saves the template. A template that is compiled makes a parallel model that is
    compiled, with the same optimizer and what it has learned.

    Args:
        model: a built Keras model. A parallel model stands for its template.
        gpus: an int >= 2, the first so many GPUs; a list or tuple of GPU ids; None or 0 for all visible GPUs.
            On a machine without GPUs these are the devices of `simulate_devices`.
        devices: instead of `gpus`, the names of two or more devices, such as `["GPU:0", "GPU:2"]`.
        strategy: instead of `gpus`, a `tf.distribute` strategy.
        merge: where losses and metrics are computed. "auto": on the replicas where each sample has a value of its
            own, else once on the global batch; the result is the same. "always": on the global batch. "never":
            on the replicas, also functions of the whole batch, of which the mean over samples is taken: not the
            same numbers. A dict gives the choice by output name; its key "add_loss" says whether losses
            added by layers are a "mean" or a "sum" over samples where that cannot be found out.
        weights: how weights come to the devices in each step; the result is the same. "one device": the device that has
            the variables sends them to every other one, and gets all gradients back. "mirrored": the devices pass
            weights and gradients on to each other, so that none sends more than in a ring. "auto": "mirrored" for three
            or more whole GPUs of this process, else "one device".

    Returns:
        A `ParallelModel`.

    Raises:
        TypeError: if `model` is not a Keras model.
        ValueError: if there are not two devices, the arguments contradict each other, or the model cannot be
            split.
    """
    named = [
        name for name, value in (("gpus", gpus), ("devices", devices), ("strategy", strategy)) if value is not None
    ]
    if len(named) > 1:
        raise ValueError(f"Expected one of `gpus`, `devices` and `strategy`. Received: {', '.join(named)} together.")
    if strategy is not None:
        check_strategy(strategy)
    else:
        strategy = strategy_on(devices_of_gpus(gpus) if devices is None else check_devices(devices))
    template = template_of(model)
    parallel = ParallelModel(template, strategy, merge, weights)
    compiled = next((m for m in (model, template) if getattr(m, "compiled", False)), None)
    if compiled is not None:
        arguments = keras3.compile_arguments(compiled)
        parallel.compile(**{**arguments, "jit_compile": "auto"})
    return parallel


def multi_gpu_model(
    model: keras.Model,
    gpus: int | Sequence[int] | None = None,
    cpu_merge: bool = True,
    cpu_relocation: bool = False,
    **unknown: Any,
) -> ParallelModel:
    """Return a parallel model, with the arguments of `keras.utils.multi_gpu_model` in Keras 2.

    >>> import keras, parallel_compat
    >>> _ = parallel_compat.simulate_devices(4)
    >>> model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(3)])
    >>> parallel_model = parallel_compat.multi_gpu_model(model, gpus=4)
    >>> parallel_model.layers[-2] is model
    True

    Args:
        model: a built Keras model, the template.
        gpus: an int >= 2, a list or tuple of GPU ids, or None or 0 for all visible GPUs.
        cpu_merge: accepted and without effect: TensorFlow places the global batch.
        cpu_relocation: accepted and without effect: the template stays where it was made, and is never
            copied. (The old function cloned it with fresh weights, which then were not shared any more.)

    Returns:
        A `ParallelModel`, as `parallelize` does.

    Raises:
        TypeError: if `model` is not a Keras model, or for an argument that is not one of these.
        ValueError: if there are not two such devices, or the model cannot be split.
    """
    del cpu_merge, cpu_relocation
    if unknown:
        hint = " `gpus` is the number of devices." if {"gpu", "num_gpus", "n_gpus", "ngpus"} & unknown.keys() else ""
        raise TypeError(
            "Expected the arguments `model`, `gpus`, `cpu_merge` and `cpu_relocation`. Received: "
            f"{', '.join(f'{name}={value!r}' for name, value in unknown.items())}.{hint}"
        )
    return parallelize(model, gpus)


def template_of(model: Any) -> Any:
    """Return the template of a parallel model, and any other model unchanged.

    >>> import keras, parallel_compat
    >>> model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(3)])
    >>> parallel_compat.template_of(model) is model
    True

    Args:
        model: anything.

    Returns:
        The template, or `model` itself.
    """
    while isinstance(model, ParallelModel):
        model = model.template
    return model
