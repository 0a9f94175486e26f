"""What `parallel-compat run` adds to each of the six calls: the same code by plain python and by `run`, in turns.

    python benchmarks/run_overhead.py [--turns N]

The models are of today's Keras in both (`--era today`), so that all that differs is what `run` puts around a call. A
template goes through the same loops in both: by plain python they are called by hand, where Keras's own would answer.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys

CODE = """
import functools, json, sys, time
import keras
import numpy as np
import parallel_compat
from keras.layers import Dense, Input
from parallel_compat.training import in_memory

parallel_compat.simulate_devices(2)
x = np.random.rand(8, 20).astype("float32")
y = np.eye(3, dtype="float32")[np.random.randint(0, 3, 8)]


def mlp():
    return keras.Sequential([Input((20,)), Dense(64, "relu"), Dense(64, "relu"), Dense(3, "softmax")])


names = {"predict": (x,), "predict_on_batch": (x,), "fit": (x, y), "train_on_batch": (x, y), "evaluate": (x, y)}
names["test_on_batch"] = (x, y)
models = {"template": mlp(), "two replicas": parallel_compat.parallelize(mlp(), 2)}
calls = {}
for kind, model in models.items():
    model.compile("adam", "categorical_crossentropy", metrics=["accuracy"])
    for name, data in names.items():
        arguments = dict(zip(("x", "y"), data))
        if "batch" not in name:
            arguments["verbose"] = 0
        call = getattr(model, name)
        if kind == "template" and sys.argv[-1] == "plain":
            call = functools.partial(in_memory.call, name, model, call, arguments)
        else:
            call = functools.partial(call, **arguments)
        calls[kind + ": " + name] = call
took = {name: [] for name in calls}
for turn in range(-2, 9):
    for name, call in calls.items():
        begin = time.perf_counter()
        for _ in range(30):
            call()
        if turn >= 0:
            took[name].append((time.perf_counter() - begin) / 30 * 1000)
print(json.dumps({name: min(times) for name, times in took.items()}))
"""


def measure(*command: str) -> dict[str, float]:
    """Return the milliseconds of each call: the fastest of nine turns, which other work disturbs least."""
    printed = subprocess.run([sys.executable, *command], check=True, capture_output=True, text=True).stdout
    found: dict[str, float] = json.loads(printed.strip().splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=7)
    arguments = parser.parse_args()
    run = ("-m", "parallel_compat", "run", "--quiet", "--era", "today", "-c", CODE)
    turns = [(measure("-c", CODE, "plain"), measure(*run, "run")) for _ in range(arguments.turns)]
    print("| call | python, ms | `run`, ms | ratio |\n|---|--:|--:|--:|")
    for name in turns[0][0]:
        plain, ours = (statistics.median(turn[i][name] for turn in turns) for i in (0, 1))
        print(f"| {name} | {plain:.3f} | {ours:.3f} | {ours / plain:.2f} |")


if __name__ == "__main__":
    main()
