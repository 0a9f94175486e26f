"""Several workers on this machine: milliseconds and bytes of a step, ours and plain MultiWorkerMirroredStrategy.

    python benchmarks/workers.py [--workers 2 4] [--steps N]

Plain MultiWorkerMirroredStrategy is that of `tf_keras` (`pip install tf_keras`), because Keras 3's `fit` does not run
under it. Each worker has one device; the global batch has 32 samples a worker. Bytes are those of the loopback device,
so nothing else may use it meanwhile: all that all workers send.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

from parallel_compat.run.worker_processes import free_ports

WAYS = ("tf_keras", "collected", "parallel_compat")
WORKER = """
import json, os, sys, time
way, steps, classes = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="")
import numpy as np
import tensorflow as tf

workers = len(json.loads(os.environ["TF_CONFIG"])["cluster"]["worker"]) if "TF_CONFIG" in os.environ else 1
strategy = tf.distribute.MultiWorkerMirroredStrategy() if workers > 1 else tf.distribute.get_strategy()
if way == "tf_keras":
    import tf_keras as keras
else:
    import keras
x = np.random.default_rng(0).random((32 * workers * steps, 784), "float32")
y = np.random.default_rng(0).integers(0, classes, len(x))

def network():
    layers = keras.layers
    return keras.Sequential(
        [keras.Input((784,)), layers.Dense(512, activation="relu"), layers.Dense(classes, activation="softmax")]
    )

settings = {"optimizer": "sgd", "loss": "sparse_categorical_crossentropy", "metrics": ["accuracy"]}
if way == "tf_keras":
    with strategy.scope():
        model = network()
        model.compile(**settings)
else:
    model = network()
    if workers > 1:
        from parallel_compat import parallelize
        model = parallelize(model, strategy=strategy, merge="always" if way == "collected" else "auto")
    model.compile(**settings)

def sent():
    with open("/proc/net/dev") as file:
        return next(int(line.split()[1]) for line in file if line.strip().startswith("lo:"))

model.fit(x, y, batch_size=32 * workers, verbose=0, shuffle=False)
times, before = [], sent()
for _ in range(5):
    begin = time.perf_counter()
    model.fit(x, y, batch_size=32 * workers, verbose=0, shuffle=False)
    times.append((time.perf_counter() - begin) / steps * 1000)
print(json.dumps([sorted(times)[2], (sent() - before) / 5 / steps]))
"""


def measure(way: str, count: int, steps: int, classes: int) -> tuple[float, float]:
    """Return milliseconds and bytes of a step."""
    addresses = [f"127.0.0.1:{port}" for port in free_ports(count)]
    processes = []
    for index in range(count):
        task = {"cluster": {"worker": addresses}, "task": {"type": "worker", "index": index}}
        environment = {**os.environ, **({"TF_CONFIG": json.dumps(task)} if count > 1 else {})}
        command = [sys.executable, "-c", WORKER, way, str(steps), str(classes)]
        processes.append(
            subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        )
    printed = [process.communicate(timeout=900)[0] for process in processes]
    if any(process.returncode for process in processes):
        sys.exit(f"{way} on {count} workers failed")
    milliseconds, sent = json.loads(printed[0].strip().splitlines()[-1])
    return milliseconds, sent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--steps", type=int, default=50, help="steps of one timed call of `fit`")
    parser.add_argument("--classes", type=int, nargs="+", default=[10, 5000], help="outputs of the MLP 784-512-classes")
    arguments = parser.parse_args()
    if not Path("/proc/net/dev").exists():
        sys.exit("Expected Linux, whose /proc/net/dev counts bytes.")
    print("| outputs | workers | way | step, ms | sent in a step, kB |\n|--:|--:|---|--:|--:|")
    titles = {"tf_keras": "MultiWorkerMirroredStrategy", "collected": '`merge="always"`', "parallel_compat": "ours"}
    for classes in arguments.classes:
        for count in arguments.workers:
            for way in WAYS:
                if count == 1 and way == "collected":
                    continue
                milliseconds, sent = measure(way, count, arguments.steps, classes)
                print(f"| {classes} | {count} | {titles[way]} | {milliseconds:.1f} | {sent / 1000:.0f} |", flush=True)


if __name__ == "__main__":
    main()
