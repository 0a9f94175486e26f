"""Bytes that cross devices in one training step, by device: one device, plain MirroredStrategy, and a parallel model.

    python benchmarks/traffic.py

Read off the partitioned graphs, see `partitions.py`; nothing is timed, and logical CPU devices are cut as GPUs are.
Plain MirroredStrategy adds up gradients by collective operations, which are no tensors of the graph: a ring's bytes are
counted for them, as NCCL sends them. A ring's bytes are 2 W (n-1)/n, W those of the weights, and the batch.
"Kept" are weights and the optimizer's state between steps. The first step is the processor time of the first call of
`fit`: tracing, TensorFlow's optimizations and one step.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import os
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from typing import Any

OURS = {"parallel_compat": "one device", "parallel_compat, mirrored": "mirrored"}
WAYS = ("one device", "MirroredStrategy", *OURS)
WORDS = 40
# name -> (title, samples of each replica)
MODELS = {
    "mlp": ("MLP 784-1024-1024-10", 32),
    "resnet50": ("ResNet-50, 32x32 images", 2),
    "lstm": (f"LSTM, Embedding of 50,000 x 128, {WORDS} words", 16),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", default=list(MODELS), choices=MODELS)
    parser.add_argument("--replicas", nargs="+", type=int, default=[2, 4, 8])
    parser.add_argument("--ways", nargs="+", default=list(WAYS), choices=WAYS)
    parser.add_argument("--optimizer", default="sgd")
    parser.add_argument("--tensors", type=int, default=0, help="also print so many of the largest tensors")
    arguments = parser.parse_args()
    print(
        "| model | replicas | way | busiest device | of a ring's | sent by each, MB | kept by each, MB | first step |"
    )
    print("|---|--:|---|--:|--:|---|---|--:|")
    for model in arguments.models:
        for replicas in arguments.replicas:
            for way in arguments.ways:
                n = 1 if way == "one device" else replicas
                if way == "one device" and replicas != arguments.replicas[0]:
                    continue
                with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
                    found = pool.submit(measure, way, model, n, arguments.optimizer).result()
                ring = 2 * found["weights"] * (n - 1) / n + found["batch"]
                devices = [f"CPU:{i}" for i in range(n)]
                sent, kept = (
                    ", ".join(f"{found[what].get(device, 0) / 1e6:.2f}" for device in devices)
                    for what in ("sent", "kept")
                )
                times = f"{found['busiest'] / ring:.2f} x" if n > 1 else ""
                title = MODELS[model][0]
                print(
                    f"| {title} | {n} | {way} | {found['busiest'] / 1e6:.2f} MB | {times} | {sent} | {kept} | "
                    f"{found['seconds']:.0f} s |",
                    flush=True,
                )
                for sender, receiver, size, name in found["tensors"][: arguments.tensors]:
                    print(f"    {sender} -> {receiver} {size / 1e6:.3f} MB {name}")


def measure(way: str, model: str, replicas: int, optimizer: str) -> dict[str, Any]:
    """Count the bytes of one step in this process, which must be a fresh one."""
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"  # it rewrites what was partitioned, for CPUs alone
    import keras
    import tensorflow as tf
    from partitions import traffic_of

    import parallel_compat

    if replicas > 1:
        parallel_compat.simulate_devices(replicas)
    samples = MODELS[model][1] * replicas
    x, y = data(model, samples)
    batch = tf.data.Dataset.from_tensors((x, y))
    loss = "sparse_categorical_crossentropy"
    if way == "MirroredStrategy":
        with tf.distribute.MirroredStrategy([f"CPU:{i}" for i in range(replicas)]).scope():
            trained = build(model)
            trained.compile(optimizer, loss, jit_compile=False)
        weights = trained
    else:
        weights = build(model)
        trained = weights if replicas == 1 else parallel_compat.parallelize(weights, replicas, weights=OURS[way])
        trained.compile(optimizer, loss, jit_compile=False)
    tables = {id(v) for layer in weights.layers if isinstance(layer, keras.layers.Embedding) for v in layer.weights}
    dense = 4 * sum(math.prod(v.shape) for v in weights.trainable_variables if id(v) not in tables)
    begun = time.process_time()
    found = traffic_of(lambda: trained.fit(batch, verbose=0), turns=WORDS, dense=dense)
    seconds = time.process_time() - begun
    return {
        "weights": 4 * weights.count_params(),
        "seconds": seconds,
        "batch": x.nbytes + y.nbytes,
        "sent": dict(found.sent),
        "kept": kept_between_steps([*weights.variables, *trained.optimizer.variables]),
        "busiest": found.busiest,
        "tensors": sorted(found.tensors, key=lambda tensor: -tensor[2]),
    }


def kept_between_steps(variables: list[Any]) -> dict[str, int]:
    """The bytes of variables on each device."""
    kept: Counter[str] = Counter()
    for variable in {id(v): v for v in variables}.values():
        for part in getattr(variable.value, "values", [variable.value]):
            kept[part.device.rpartition("device:")[2]] += math.prod(part.shape) * part.dtype.size
    return dict(kept)


def data(model: str, samples: int) -> tuple[Any, Any]:
    """Inputs and int targets of so many samples."""
    import numpy as np

    y = np.zeros((samples, 1), "int32")
    if model == "mlp":
        return np.ones((samples, 784), "float32"), y
    if model == "resnet50":
        return np.ones((samples, 32, 32, 3), "float32"), y
    return np.arange(samples * WORDS, dtype="int32").reshape(samples, WORDS), y


def build(model: str) -> Any:
    """Make a model of this name."""
    import keras

    layers = keras.layers
    if model == "mlp":
        hidden = [layers.Dense(1024, activation="relu") for _ in range(2)]
        return keras.Sequential([keras.Input((784,)), *hidden, layers.Dense(10, activation="softmax")])
    if model == "resnet50":
        return keras.applications.ResNet50(weights=None, input_shape=(32, 32, 3), classes=1000)
    return keras.Sequential(
        [
            keras.Input((WORDS,), dtype="int32"),
            layers.Embedding(50_000, 128),
            layers.LSTM(128),
            layers.Dense(10, activation="softmax"),
        ]
    )


if __name__ == "__main__":
    main()
