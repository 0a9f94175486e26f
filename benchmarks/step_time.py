"""Step time and memory of `fit`: one device, a hand-written MirroredStrategy, and a parallel model, in one run.

    python benchmarks/step_time.py

For the times the ways take turns in one process, so that whatever else the machine does disturbs all alike, and
medians over the turns are compared. Memory is measured in a fresh process for each way.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import resource
import statistics
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

WAYS = ("one device", "MirroredStrategy", "parallel_compat")
# name -> (title, steps in one timed call of `fit`)
MODELS = {"mlp": ("MLP 784-256-10", 300), "conv": ("conv net 32x32x3", 15)}
COMPILE = {"optimizer": "adam", "loss": "sparse_categorical_crossentropy", "metrics": ["accuracy"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", default=list(MODELS), choices=MODELS)
    parser.add_argument("--replicas", type=int, default=2)
    parser.add_argument("--turns", type=int, default=15, help="timed calls of `fit` in each way")
    parser.add_argument("--steps", type=int, help="steps of one timed call; by default what suits the model")
    arguments = parser.parse_args()
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

    print(f"Adam, batch 128, {arguments.replicas} replicas on {os.cpu_count()} CPU cores, {arguments.turns} turns.\n")
    print("| model | way | ms per step | time | weights + optimizer | peak memory of the process |")
    print("|---|---|--:|--:|--:|--:|")
    for model in arguments.models:
        title, usual_steps = MODELS[model]
        steps = arguments.steps or usual_steps
        milliseconds, ratios = in_a_process(step_times, model, arguments.replicas, arguments.turns, steps)
        for way in WAYS:
            state, peak = in_a_process(memory, way, model, arguments.replicas)
            print(
                f"| {title} | {way} | {milliseconds[way]:.1f} | {ratios[way]:.2f} x | {state:.2f} MB | {peak:.0f} MB |",
                flush=True,
            )


def in_a_process(function: Callable[..., T], *arguments: Any) -> T:
    """Call `function` in a fresh process: TensorFlow's peak memory must not be in the parent's, which is inherited."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()


def step_times(model: str, replicas: int, turns: int, steps: int) -> tuple[dict[str, float], dict[str, float]]:
    """Time `fit` in each way, in turn.

    Returns:
        For each way the median milliseconds of a step, and that as a multiple of MirroredStrategy's.
    """
    import parallel_compat

    parallel_compat.simulate_devices(replicas)
    import ways

    x, y = ways.data(model, steps)
    models = {way: ways.build(way, ways.MODELS[model], replicas, **COMPILE) for way in WAYS}
    times: dict[str, list[float]] = {way: [] for way in WAYS}
    for turn in range(-2, turns):
        # Each goes first in turn: what one leaves behind falls on all alike.
        for way in WAYS[turn % 3 :] + WAYS[: turn % 3]:
            start = time.perf_counter()
            models[way].fit(x, y, batch_size=ways.BATCH_SIZE, verbose=0)
            if turn >= 0:  # the first two are for warming up
                times[way].append((time.perf_counter() - start) / steps * 1000)
    middle = {way: round(statistics.median(times[way]), 1) for way in WAYS}
    ratios = {
        way: middle[way] / middle["MirroredStrategy"]  # of what is printed, so that the table can be checked
        for way in WAYS
    }
    return middle, ratios


def memory(way: str, model: str, replicas: int) -> tuple[float, float]:
    """Train a little in this process.

    Returns:
        What weights and optimizer state take, and the peak of the process's resident memory, in megabytes.
    """
    import parallel_compat

    parallel_compat.simulate_devices(replicas)
    import ways

    x, y = ways.data(model, 10)
    built = ways.build(way, ways.MODELS[model], replicas, **COMPILE)
    built.fit(x, y, batch_size=ways.BATCH_SIZE, epochs=3, verbose=0)
    unit = 1e6 if sys.platform == "darwin" else 1e3  # ru_maxrss: bytes on macOS, kilobytes on Linux
    return ways.bytes_of_state(built) / 1e6, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


if __name__ == "__main__":
    main()
