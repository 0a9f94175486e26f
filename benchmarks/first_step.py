"""Seconds to the first step, and memory: plain MirroredStrategy and a parallel model, on logical CPU devices.

    python benchmarks/first_step.py [--models resnet50] [--replicas 2 4 8] [--rounds N] [--profile FOLDER]

Each is measured in a fresh process, one after the other, and all again in each round; the medians are printed.
"Trace": processor seconds until TensorFlow has the graph of a training step. "Processor": of all of the first call of
`fit`, with TensorFlow's optimizations of the graph and one step. "Of plain": the ratio of these to plain
MirroredStrategy's, which other work on the machine changes less than the seconds that pass, "first step". "Peak": the
most memory that the process had (`ru_maxrss`), less what it had before the model was made; all devices are in that
one process. "Kept": the bytes of weights and optimizer's state on each device between steps. Images have 32 x 32
pixels: the graph is as large as that of other images, and quickly run.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import os
import pstats
import resource
import statistics
import subprocess
import sys
import threading
import time
from typing import Any

from traffic import MODELS, OURS, build, data, kept_between_steps

WAYS = ("one device", "MirroredStrategy", *OURS)
LIMIT = 1200  # seconds for one process


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", default=["resnet50"], choices=MODELS)
    parser.add_argument("--replicas", nargs="+", type=int, default=[2, 4, 8])
    parser.add_argument("--ways", nargs="+", default=list(WAYS), choices=WAYS)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--optimizer", default="adam")
    parser.add_argument("--profile", default="", help="a folder for a cProfile file of each first step")
    parser.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        way, model, replicas = arguments.measure
        print(json.dumps(measure(way, model, int(replicas), arguments.optimizer, arguments.profile)))
        return
    print("| model | n | way | trace, s | first step, s | processor, s | of plain | peak, MB | kept by each, MB |")
    print("|---|--:|---|--:|--:|--:|--:|--:|---|", flush=True)
    for model in arguments.models:
        for replicas in arguments.replicas:
            for row in rows(model, replicas, arguments):
                print(row, flush=True)


def rows(model: str, replicas: int, arguments: argparse.Namespace) -> list[str]:
    """Measure all ways in turns, and return the lines of the table."""
    found: dict[str, list[dict[str, Any]]] = {}
    for _ in range(arguments.rounds):
        for way in arguments.ways:
            if way == "one device" and replicas != arguments.replicas[0]:
                continue
            n = 1 if way == "one device" else replicas
            command = [sys.executable, __file__, "--optimizer", arguments.optimizer]
            command += ["--profile", arguments.profile, "--measure", way, model, str(n)]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=LIMIT, check=True)
            found.setdefault(way, []).append(json.loads(done.stdout.strip().splitlines()[-1]))
    lines = []
    plain = found.get("MirroredStrategy", [])
    for way, measured in found.items():
        n = 1 if way == "one device" else replicas
        ratios = [m["processor"] / p["processor"] for m, p in zip(measured, plain, strict=False)] if n > 1 else []
        ratio = f"{statistics.median(ratios):.2f} x" if ratios else ""
        kept = ", ".join(f"{measured[0]['kept'].get(f'CPU:{i}', 0) / 1e6:.1f}" for i in range(n))
        trace, first, processor = (
            f"{statistics.median(each[name] for each in measured):.1f}" for name in ("trace", "first", "processor")
        )
        peak = statistics.median(each["peak"] for each in measured) / 1e6
        lines.append(
            f"| {MODELS[model][0]} | {n} | {way} | {trace} | {first} | {processor} | {ratio} | {peak:.0f} | {kept} |"
        )
    return lines


def measure(way: str, model: str, replicas: int, optimizer: str, profile: str) -> dict[str, Any]:
    """Train one step in this process, which must be a fresh one."""
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    import tensorflow as tf

    import parallel_compat

    if replicas > 1:
        parallel_compat.simulate_devices(replicas)
    x, y = data(model, MODELS[model][1] * replicas)
    batch = tf.data.Dataset.from_tensors((x, y))
    before = resident()
    loss = "sparse_categorical_crossentropy"
    if way == "MirroredStrategy":
        with tf.distribute.MirroredStrategy([f"CPU:{i}" for i in range(replicas)]).scope():
            trained = weights = build(model)
            trained.compile(optimizer, loss, jit_compile=False)
    else:
        weights = build(model)
        trained = weights if replicas == 1 else parallel_compat.parallelize(weights, replicas, weights=OURS[way])
        trained.compile(optimizer, loss, jit_compile=False)
    seconds = times_of_tracing()
    profilers = profile_threads() if profile else []
    begun, used = time.perf_counter(), time.process_time()
    trained.fit(batch, verbose=0)
    first, processor = time.perf_counter() - begun, time.process_time() - used
    if profile:
        threading.setprofile(None)
        profilers[0].disable()
        stats = pstats.Stats(*profilers)
        stats.dump_stats(os.path.join(profile, f"{way} {model} {replicas}.prof".replace(" ", "_").replace(",", "")))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {
        "trace": sum(seconds),
        "first": first,
        "processor": processor,
        "peak": peak - before,
        "kept": kept_between_steps([*weights.variables, *trained.optimizer.variables]),
    }


def times_of_tracing() -> list[float]:
    """Return a list that grows by the processor seconds that each outermost function takes until its graph is made."""
    from tensorflow.python.eager.polymorphic_function import tracing_compilation

    seconds: list[float] = []
    trace_function = tracing_compilation.trace_function
    inside = False

    def timed(*given: Any, **keywords: Any) -> Any:
        nonlocal inside
        if inside:
            return trace_function(*given, **keywords)
        inside, begun = True, time.process_time()
        try:
            return trace_function(*given, **keywords)
        finally:
            inside = False
            seconds.append(time.process_time() - begun)

    tracing_compilation.trace_function = timed
    return seconds


def profile_threads() -> list[cProfile.Profile]:
    """Profile this thread and those that it starts, the replicas'; return the profilers, this thread's first."""
    profilers = [cProfile.Profile()]

    def begin(*_: Any) -> None:
        profilers.append(cProfile.Profile())
        profilers[-1].enable()

    threading.setprofile(begin)
    profilers[0].enable()
    return profilers


def resident() -> int:
    """The bytes of memory that this process has now."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


if __name__ == "__main__":
    main()
