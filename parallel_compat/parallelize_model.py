"""`parallelize`, its old spelling `multi_gpu_model`, and the way back, `template_of`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from parallel_compat.backend import keras3
from parallel_compat.devices import check_devices, devices_of_gpus
from parallel_compat.parallel_model import ParallelModel
from parallel_compat.training.replicas import check_strategy, strategy_on

if TYPE_CHECKING:
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

    The loss and the gradient are those of the global batch, for any batch size. The results are those of one device.
    `model` becomes the template. It is never copied: both models use the same variables, and saving the parallel model
    saves the template. The parallel model of a compiled template is compiled with the same optimizer and its state.

    Examples:
        >>> import keras, numpy as np, parallel_compat
        >>> _ = parallel_compat.simulate_devices(4)
        >>> template = keras.Sequential([keras.Input((8,)), keras.layers.Dense(3)])
        >>> parallel = parallel_compat.parallelize(template, gpus=2)
        >>> parallel.compile("sgd", "mse")
        >>> history = parallel.fit(np.ones((103, 8)), np.ones((103, 3)), batch_size=32, verbose=0)
        >>> parallel_compat.template_of(parallel) is template
        True

    Args:
        model: a built Keras model. For a parallel model, its template is used.
        gpus: the number of GPUs (an int >= 2), a list or tuple of GPU ids, or None or 0 for all visible GPUs. On a
            machine without GPUs, the devices of `simulate_devices` are counted.
        devices: instead of `gpus`, the names of two or more devices, such as `["GPU:0", "GPU:2"]`.
        strategy: instead of `gpus`, a `tf.distribute` strategy.
        merge: where losses and metrics are computed. "auto": on the replicas if each sample has its own value, else
            once on the global batch; the result is the same. "always": on the global batch. "never": on the replicas; a
            function of the whole batch is then averaged over them, which gives other numbers. A dict gives the choice
            by output name. Its key "add_loss" says whether losses added by layers are a "mean" or a "sum" over
            samples, for layers where this cannot be detected.
        weights: how the weights reach the devices in each step; the result is the same. "one device": one device sends
            them to all others and receives all gradients. "mirrored": the devices pass weights and gradients on to each
            other, so that none sends much more than in a ring. "auto": "mirrored" for three or more physical GPUs of
            this process, else "one device".

    Returns:
        A `ParallelModel`.

    Raises:
        TypeError: if `model` is not a Keras model.
        ValueError: if there are fewer than two devices, the arguments contradict each other, or the model cannot be
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
        arguments = keras3.compiled.compile_arguments(compiled)
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

    Examples:
        >>> import keras, parallel_compat
        >>> _ = parallel_compat.simulate_devices(4)
        >>> model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(3)])
        >>> parallel_model = parallel_compat.multi_gpu_model(model, gpus=4)
        >>> parallel_model.layers[-2] is model
        True

    Args:
        model: a built Keras model, the template.
        gpus: the number of GPUs (an int >= 2), a list or tuple of GPU ids, or None or 0 for all visible GPUs.
        cpu_merge: accepted and ignored. TensorFlow places the global batch.
        cpu_relocation: accepted and ignored. The template is never copied; the old function cloned it with fresh
            weights, so that the model you passed was not trained.

    Returns:
        A `ParallelModel`, as `parallelize` does.

    Raises:
        TypeError: if `model` is not a Keras model, or for an unknown argument.
        ValueError: if there are fewer than two such devices, or the model cannot be split.
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
    """Return the template of a parallel model, and any other object unchanged.

    Examples:
        >>> import keras, parallel_compat
        >>> model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(3)])
        >>> parallel_compat.template_of(model) is model
        True

    Args:
        model: a parallel model, or any other object.

    Returns:
        The template, or `model` itself.
    """
    while isinstance(model, ParallelModel):
        model = model.template
    return model
