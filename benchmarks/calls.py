"""The six calls of a model on eight samples: a parallel model against Keras's own loops.

    python benchmarks/calls.py [--turns N] [--fit | --memory]

Both ways take turns in one process, so that whatever else the machine does disturbs both alike; medians over the turns,
and the median of the ratios within each turn. `--fit` compares a step of `fit` (an MLP, 100 batches of 128 samples)
with the bare step: a `tf.function` of `train_step` that is called on tensors, without any loop. `--memory` makes
10,000 calls and prints the resident memory before and after.
"""

from __future__ import annotations

import argparse
import functools
import os
import resource
import statistics
import time
from typing import TYPE_CHECKING, Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import keras
import numpy as np
import tensorflow as tf
from keras import layers
from ways import MODELS

import parallel_compat

if TYPE_CHECKING:
    from collections.abc import Callable

X = np.random.default_rng(0).random((8, 20), "float32")
Y = np.eye(3, dtype="float32")[np.random.default_rng(0).integers(0, 3, 8)]
CALLS: dict[str, dict[str, Any]] = {
    "predict": {"x": X, "verbose": 0},
    "predict_on_batch": {"x": X},
    "fit": {"x": X, "y": Y, "verbose": 0},
    "train_on_batch": {"x": X, "y": Y},
    "evaluate": {"x": X, "y": Y, "verbose": 0},
    "test_on_batch": {"x": X, "y": Y},
}


def mlp() -> keras.Model:
    """A small MLP."""
    made = [layers.Input((20,)), layers.Dense(64, "relu"), layers.Dense(64, "relu"), layers.Dense(3, "softmax")]
    return keras.Sequential(made)


def ways(name: str) -> dict[str, Callable[[], Any]]:
    """The ways to make a call: of a parallel model on two replicas, and of its template by Keras's own loop."""
    made: dict[str, Callable[[], Any]] = {}
    for way in ("keras", "parallel"):
        model = mlp()
        if way == "parallel":
            model = parallel_compat.parallelize(model, 2)
        model.compile("adam", "categorical_crossentropy", metrics=["accuracy"])
        made[way] = functools.partial(getattr(model, name), **CALLS[name])
    return made


def seconds(call: Callable[[], Any], calls: int) -> float:
    begin = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - begin) / calls


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=15)
    parser.add_argument("--calls", type=int, default=10, help="calls of each way in a turn")
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--memory", action="store_true")
    arguments = parser.parse_args()
    parallel_compat.simulate_devices(2)
    if arguments.memory:
        memory()
        return
    if arguments.fit:
        fit(arguments.turns)
        return
    print("| call | Keras, ms | two replicas, ms | x Keras |\n|---|--:|--:|--:|")
    for name in CALLS:
        made = ways(name)
        for call in made.values():
            seconds(call, 3)
        took = [{way: seconds(call, arguments.calls) for way, call in made.items()} for _ in range(arguments.turns)]
        row = [f"{statistics.median(turn[way] for turn in took) * 1000:.2f}" for way in made]
        row.append(f"{statistics.median(turn['parallel'] / turn['keras'] for turn in took):.3f}")
        print(f"| `{name}` | {' | '.join(row)} |", flush=True)


def fit(turns: int) -> None:
    """Print the milliseconds of a step in `fit` and of the bare step."""
    x = np.random.default_rng(0).random((12_800, 784), "float32")
    y = np.random.default_rng(0).integers(0, 10, 12_800)
    data = [(tf.constant(x[i : i + 128]), tf.constant(y[i : i + 128])) for i in range(0, len(x), 128)]
    models = []
    for _ in range(2):
        model = parallel_compat.parallelize(MODELS["mlp"](), 2)
        model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
        models.append(model)
    models[1].fit(x[:128], y[:128], verbose=0)  # its variables, which a `tf.function` may not make
    step = tf.function(models[1].train_step, input_signature=[tuple(map(of_any_size, data[0]))])
    took = []
    for _ in range(turns + 1):
        begin = time.perf_counter()
        for batch in data:
            step(batch)
        between = time.perf_counter()
        models[0].fit(x, y, batch_size=128, verbose=0, shuffle=False)
        took.append((between - begin, time.perf_counter() - between))
    bare, whole = (statistics.median(column) / len(data) * 1000 for column in zip(*took[1:], strict=True))
    print("| model | bare step, ms | `fit`, ms | ratio |\n|---|--:|--:|--:|")
    print(f"| two replicas | {bare:.2f} | {whole:.2f} | {whole / bare:.2f} |", flush=True)


def of_any_size(tensor: tf.Tensor) -> tf.TensorSpec:
    return tf.TensorSpec((None, *tensor.shape[1:]), tensor.dtype)


def memory() -> None:
    """Print the peak of resident memory after 1,000 and after 10,000 more calls of each kind, in megabytes."""
    print("| call | after 1,000 calls, MB | after 10,000 more, MB |\n|---|--:|--:|")
    for name in CALLS:
        made = ways(name)
        peaks = []
        for calls in (1_000, 10_000):
            seconds(made["parallel"], calls)
            peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3)
        print(f"| `{name}` | {peaks[0]:.1f} | {peaks[1]:.1f} |", flush=True)


if __name__ == "__main__":
    main()
