"""The six calls of a model on eight samples: this package against Keras's own loops, template and parallel model.

    python benchmarks/calls.py [--turns N] [--memory]

All ways take turns in one process, so that whatever else the machine does disturbs all alike; medians over the turns,
and the median of the ratios within each turn. The bare step is a `tf.function` of `train_step` without any loop.
`--memory` makes 10,000 calls and prints the resident memory before and after.
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
from keras import layers

import parallel_compat
from parallel_compat.training import in_memory

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
    """The ways to make a call: ours on a template and on two replicas, and Keras's own loop on a template."""
    made = {}
    for way in ("keras", "template", "parallel"):
        model = mlp()
        if way == "parallel":
            model = parallel_compat.parallelize(model, 2)
        model.compile("adam", "categorical_crossentropy", metrics=["accuracy"])
        of_model = getattr(model, name)
        if way == "template":  # as `run` lets every model do
            made[way] = functools.partial(in_memory.call, name, model, of_model, CALLS[name])
        else:
            made[way] = functools.partial(of_model, **CALLS[name])
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
    parser.add_argument("--memory", action="store_true")
    arguments = parser.parse_args()
    parallel_compat.simulate_devices(2)
    if arguments.memory:
        memory()
        return
    print("| call | Keras, ms | template, ms | x Keras | two replicas, ms | x Keras |\n|---|--:|--:|--:|--:|--:|")
    for name in CALLS:
        made = ways(name)
        for call in made.values():
            seconds(call, 3)
        took = [{way: seconds(call, arguments.calls) for way, call in made.items()} for _ in range(arguments.turns)]
        row = [f"{statistics.median(turn['keras'] for turn in took) * 1000:.2f}"]
        for way in ("template", "parallel"):
            row.append(f"{statistics.median(turn[way] for turn in took) * 1000:.2f}")
            row.append(f"{statistics.median(turn[way] / turn['keras'] for turn in took):.3f}")
        print(f"| `{name}` | {' | '.join(row)} |", flush=True)


def memory() -> None:
    """Print the peak of resident memory after 1,000 and after 10,000 more calls of each kind, in megabytes."""
    print("| call | way | after 1,000 calls, MB | after 10,000 more, MB |\n|---|---|--:|--:|")
    for name in CALLS:
        made = ways(name)
        for way in ("template", "parallel"):
            peaks = []
            for calls in (1_000, 10_000):
                seconds(made[way], calls)
                peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3)
            print(f"| `{name}` | {way} | {peaks[0]:.1f} | {peaks[1]:.1f} |", flush=True)


if __name__ == "__main__":
    main()
