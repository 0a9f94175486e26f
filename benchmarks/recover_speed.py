"""How fast a 500 MB file of weights is recovered to .h5, beside copying it; and how much memory that takes.

    python benchmarks/recover_speed.py [MEGABYTES]

Both end on the disk (fsync). The ratio is what counts: it should be no less than a third; memory no more than
200 MB over the start.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

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
        data = np.random.rand(rows, 4096).astype("f4")
        file["template"].create_dataset(f"dense_{number}/kernel:0", data=data)
"""


def copy(source: Path, target: Path) -> float:
    start = time.perf_counter()
    shutil.copyfile(source, target)
    with open(target, "r+b") as file:
        os.fsync(file.fileno())
    return time.perf_counter() - start


def peak(who: int) -> float:
    return resource.getrusage(who).ru_maxrss / 1024


def main() -> None:
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    from parallel_compat.recover import h5_file
    from parallel_compat.recover.recovering import recover

    del h5_file
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "weights.h5")
        subprocess.run([sys.executable, "-c", WRITE, str(source), str(megabytes)], check=True)
        before = peak(resource.RUSAGE_SELF)
        copying, recovering = [], []
        for number in range(3):
            copying.append(copy(source, Path(folder, "copy.h5")))
            start = time.perf_counter()
            recover(source, Path(folder, "recovered.h5"), force=number > 0)
            recovering.append(time.perf_counter() - start)
            os.unlink(Path(folder, "copy.h5"))
        size = source.stat().st_size / 1e6
        print(f"file             {size:8.0f} MB")
        print(f"copy             {size / min(copying):8.0f} MB/s (best of 3)")
        print(f"recover          {size / min(recovering):8.0f} MB/s (best of 3)")
        ratio = min(copying) / min(recovering)
        print(f"ratio            {ratio:8.2f} (wanted: at least 0.33)")
        grown = peak(resource.RUSAGE_SELF) - before
        print(f"memory           {grown:8.0f} MB over the start (wanted: below 200)")


if __name__ == "__main__":
    main()
