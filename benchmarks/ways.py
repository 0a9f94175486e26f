"""The models that the benchmarks train, and the three ways to train each."""

from __future__ import annotations

import contextlib
import functools
import os
from typing import TYPE_CHECKING, Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import parallel_compat

if TYPE_CHECKING:
    from collections.abc import Callable

BATCH_SIZE = 128


def mlp() -> keras.Model:
    """The MLP 784-256-10."""
    return keras.Sequential(
        [layers.Input((784,)), layers.Dense(256, activation="relu"), layers.Dense(10, activation="softmax")]
    )


def conv() -> keras.Model:
    """A small convolutional network for images of 32 x 32 x 3."""
    return keras.Sequential(
        [
            layers.Input((32, 32, 3)),
            layers.Conv2D(32, 3, padding="same", activation="relu"),
            layers.MaxPooling2D(),
            layers.Conv2D(64, 3, padding="same", activation="relu"),
            layers.MaxPooling2D(),
            layers.Flatten(),
            layers.Dense(64, activation="relu"),
            layers.Dense(10, activation="softmax"),
        ]
    )


MODELS = {"mlp": mlp, "conv": conv}


@functools.cache
def mirrored_strategy(replicas: int) -> tf.distribute.Strategy:
    """The strategy as TensorFlow's guide writes it; one a process, because two on the same devices abort each other."""
    return tf.distribute.MirroredStrategy([f"CPU:{i}" for i in range(replicas)])


def build(way: str, make: Callable[[], keras.Model], replicas: int, **compile_arguments: Any) -> keras.Model:
    """Make and compile a model.

    Args:
        way: "one device", "MirroredStrategy" or "parallel_compat".
        make: makes the model.
        replicas: how many devices, which `simulate_devices` has made.
        **compile_arguments: for `compile`; a callable `optimizer` is called where the model is made.
    """
    scope = mirrored_strategy(replicas).scope() if way == "MirroredStrategy" else contextlib.nullcontext()
    with scope:
        model = make()
        if way == "parallel_compat":
            model = parallel_compat.parallelize(model, gpus=replicas)
        if callable(compile_arguments["optimizer"]):
            compile_arguments["optimizer"] = compile_arguments["optimizer"]()
        model.compile(**compile_arguments)
    return model


def data(model: str, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Random inputs (float32) and class ids (int64) for `steps` full batches."""
    generator = np.random.default_rng(0)
    rows = steps * BATCH_SIZE
    shape = {"mlp": (rows, 784), "conv": (rows, 32, 32, 3)}[model]
    return generator.random(shape, "float32"), generator.integers(0, 10, rows)


def bytes_of_state(model: keras.Model) -> int:
    """Bytes that weights and optimizer state take, all copies on all devices."""
    held = 0
    for variable in {id(v): v for v in [*model.variables, *model.optimizer.variables]}.values():
        value = variable.value
        copies = value.values if isinstance(value, tf.distribute.DistributedValues) else (value,)
        held += sum(int(np.prod(copy.shape)) * copy.dtype.size for copy in copies)
    return held
