"""How fast a 500 MB file of weights is recovered to .h5, beside copying it; and how much memory that takes.

    python benchmarks/recover_speed.py [MEGABYTES]

Both end on the disk: the copy is flushed (fsync) before its clock stops, as the recovered file is before it gets
its name. Before each turn the disk is let come to rest, and the file of the turn before is gone. The two take
turns, and the medians are compared. The ratio is what counts: it should be no less than a third; memory no more
than 200 MB over the start.
"""

from __future__ import annotations

import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

WRITE = """
import sys, h5py, numpy as np
megabytes = int(sys.argv[2])
rows = megabytes * 1_000_000 // 4 // 4096 // 10
with h5py.File(sys.argv[1], "w") as file:
    names = ["x", "lambda_1", "lambda_2", "template", "out"]
    file.attrs["layer_names"] = [name.encode() for name in names]
    file.attrs["keras_version"], file.attrs["backend"] = b"2.2.4", b"tensorflow"
    for name in names:
        file.create_group(name).attrs["weight_names"] = np.zeros(0)
    file["template"].attrs["weight_names"] = [f"dense_{number}/kernel:0".encode() for number in range(10)]
    for number in range(10):
        data = file["template"].create_dataset(f"dense_{number}/kernel:0", (rows, 4096), "f4")
        for start in range(0, rows, 100):
            data[start : start + 100] = np.random.rand(min(100, rows - start), 4096)
"""


TURNS = 7


def copy(source: Path, target: Path) -> None:
    shutil.copyfile(source, target)
    with open(target, "r+b") as file:
        os.fsync(file.fileno())


def seconds(work: Callable[[Path, Path], object], source: Path, target: Path) -> float:
    if hasattr(os, "sync"):
        os.sync()
    start = time.perf_counter()
    work(source, target)
    passed = time.perf_counter() - start
    target.unlink()
    return passed


def peak(who: int) -> float:
    return resource.getrusage(who).ru_maxrss / 1024


def main() -> None:
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    from parallel_compat.recover import h5_writer
    from parallel_compat.recover.recovering import recover

    del h5_writer
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "weights.h5")
        subprocess.run([sys.executable, "-c", WRITE, str(source), str(megabytes)], check=True)
        before = peak(resource.RUSAGE_SELF)
        copying, recovering = [], []
        for _ in range(TURNS):
            copying.append(seconds(copy, source, Path(folder, "copy.h5")))
            recovering.append(seconds(recover, source, Path(folder, "recovered.h5")))
        size = source.stat().st_size / 1e6
        print(f"file             {size:8.0f} MB")
        for name, times in (("copy", copying), ("recover", recovering)):
            middle, best, worst = statistics.median(times), min(times), max(times)
            print(f"{name:<16} {size / middle:8.0f} MB/s (median of {TURNS} turns; {best:.2f} to {worst:.2f} s)")
        ratio = statistics.median(copying) / statistics.median(recovering)
        print(f"ratio            {ratio:8.2f} (wanted: at least 0.33)")
        grown = peak(resource.RUSAGE_SELF) - before
        print(f"memory           {grown:8.0f} MB over the start (wanted: below 200)")
        print(f"reading process  {peak(resource.RUSAGE_CHILDREN):8.0f} MB at most, all in all")


if __name__ == "__main__":
    main()
