"""Time of `fit` fed by arrays, a generator and a Sequence, against a hand-written MirroredStrategy; and of checkpoints.

    python benchmarks/feeding.py

All ratios are of medians over turns that alternate in one process. The last rows have an upper bound that they are
held against: a Sequence of slow batches with four workers, and a checkpoint against Keras's own save of the same file.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import keras
import ways

import parallel_compat
from parallel_compat import ParallelModelCheckpoint, fit_generator

if TYPE_CHECKING:
    from collections.abc import Callable

COMPILE = {"optimizer": "adam", "loss": "sparse_categorical_crossentropy"}
SLOW = 0.05
WORKERS = 4


class Slow(keras.utils.Sequence):
    """A Sequence that needs `seconds` for each batch.

    Args:
        batches: the batches.
        seconds: what each takes.
    """

    def __init__(self, batches: list[Any], seconds: float = 0.0) -> None:
        super().__init__()
        self._batches = batches
        self._seconds = seconds

    def __len__(self) -> int:
        return len(self._batches)

    def __getitem__(self, index: int) -> Any:
        time.sleep(self._seconds)
        return self._batches[index]


def medians(calls: dict[str, Callable[[], Any]], turns: int) -> dict[str, float]:
    """Seconds of each call, the median over the turns; the calls alternate, and each is warmed up once."""
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for turn in range(turns + 1):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            if turn:
                seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(times) for name, times in seconds.items()}


def feeding(turns: int, steps: int) -> None:
    """Print the rows on arrays, generator, Sequence, and slow batches."""
    x, y = ways.data("mlp", steps)
    size = ways.BATCH_SIZE
    batches = [(x[i : i + size], y[i : i + size]) for i in range(0, len(x), size)]
    by_hand = ways.build("MirroredStrategy", ways.mlp, 2, **COMPILE)
    parallel = ways.build("parallel_compat", ways.mlp, 2, **COMPILE)
    arrays = {"batch_size": size, "verbose": 0, "shuffle": False}
    took = medians(
        {
            "arrays, by hand": lambda: by_hand.fit(x, y, **arrays),
            "arrays": lambda: parallel.fit(x, y, **arrays),
            "generator, by hand": lambda: by_hand.fit(iter_of(batches), steps_per_epoch=steps - 4, verbose=0),
            "generator": lambda: parallel.fit(iter_of(batches), steps_per_epoch=steps - 4, verbose=0),
            "Sequence, by hand": lambda: by_hand.fit(Slow(batches), verbose=0),
            "Sequence": lambda: parallel.fit(Slow(batches), verbose=0),
        },
        turns,
    )
    for name in ("arrays", "generator", "Sequence"):
        print(f"| {name} | {took[name] / took[f'{name}, by hand']:.2f} x a hand-written MirroredStrategy |", flush=True)
    slow = medians({"slow": lambda: fit_generator(parallel, Slow(batches, SLOW), verbose=0, workers=WORKERS)}, 3)[
        "slow"
    ]
    bound = max(SLOW / WORKERS, took["Sequence"] / steps) * steps
    print(
        f"| {SLOW * 1000:.0f} ms a batch, {WORKERS} workers | {slow / bound:.2f} x the bound (at most 1.15) |",
        flush=True,
    )


def iter_of(batches: list[Any]) -> Any:
    """Yield the batches."""
    yield from batches


def checkpoints(turns: int) -> None:
    """Print the rows on checkpoints."""
    parallel = ways.build("parallel_compat", ways.mlp, 2, **COMPILE)
    x, y = ways.data("mlp", 1)
    parallel.fit(x, y, verbose=0)
    template = parallel.template
    single = ways.build("one device", ways.mlp, 1, **COMPILE)
    single.fit(x, y, verbose=0)
    with tempfile.TemporaryDirectory() as folder:
        for suffix, weights in ((".keras", False), (".h5", False), (".weights.h5", True)):
            callback = ParallelModelCheckpoint(template, f"{folder}/ours{suffix}", save_weights_only=weights)
            callback.set_model(parallel)
            path = str(Path(folder) / f"theirs{suffix}")
            save = single.save_weights if weights else single.save
            took = medians(
                {"ours": lambda c=callback: c.on_epoch_end(0, {}), "theirs": lambda s=save, p=path: s(p)}, turns * 5
            )
            print(f"| checkpoint {suffix} | {took['ours'] / took['theirs']:.2f} x Keras's own save (at most 1.5) |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--steps", type=int, default=200)
    arguments = parser.parse_args()
    parallel_compat.simulate_devices(2)
    print("MLP 784-256-10, Adam, batch 128, 2 replicas.\n\n| | |\n|---|---|")
    checkpoints(arguments.turns)
    feeding(arguments.turns, arguments.steps)


if __name__ == "__main__":
    main()
